"""Whether an agent can take mail now, as far as this process knows."""

from collections.abc import Collection
from contextlib import suppress
from datetime import timedelta
from typing import TypeVar

import msgspec

from postoffice.core.agent import Agent, Caller, is_person, presence
from postoffice.core.clock import Clock, moment
from postoffice.core.errors import MailError
from postoffice.core.names import folded
from postoffice.core.reach import Known, Reach, Signs, reach_of
from postoffice.core.role import reach_of_role
from postoffice.core.views import Seat
from postoffice.office.bells import Bells
from postoffice.office.board import Board
from postoffice.office.presences import Presences
from postoffice.office.rota import Rota
from postoffice.store.store import Store

Shown = TypeVar("Shown", Agent, Seat)


class Reachability:
    """It combines what the store says with open windows, waiting calls, and signs of life that are not written down yet."""

    def __init__(
        self, store: Store, rota: Rota, board: Board, bells: Bells, presences: Presences, clock: Clock, silence: timedelta, *, certain: bool
    ) -> None:
        self._store = store
        self._rota = rota
        self._board = board
        self._bells = bells
        self._presences = presences
        self._clock = clock
        self._silence = silence
        self._certain = certain

    def of(self, caller: Caller | None, name: str, known: Known) -> Reach:
        """What reaches an agent, by the board as it was read last."""
        agent = folded(name)
        newer = self._presences.silent_for(name)
        signs = Signs(
            came=known.came or newer is not None,
            silent_for=newer if newer is not None else known.silent_for,
            waits=self._bells.mail_awaited(agent),
            waits_for_some=self._bells.mail_awaited(agent, narrow=True),
            at_work=known.at_work,
            pause=known.pause,
            person=known.person,
            certain=self._certain,
        )
        whole = caller is not None and caller.owner
        return reach_of(self._board.of(name), signs, self._silence, moment(self._clock.now()), whole=whole)

    async def of_role(self, name: str, staff: Collection[str] | None = None) -> Reach:
        """Whether anybody in a role can take its mail."""
        if staff is None:
            await self._rota.look()
            staff = self._rota.staff(name)
        signs = await self._store.roles.signs(staff) if staff else {}
        return reach_of_role(name, [self.of(None, agent, known) for agent, known in signs.items()])

    async def look(self) -> None:
        """Read the board again, if any window has changed."""
        await self._board.look()

    async def try_to_look(self) -> None:
        """The same, for an answer that is given even if the windows cannot be read."""
        if not self._board.current:
            with suppress(MailError):
                await self._board.look()

    def shown(self, shown: Shown, tasks: int, caller: Caller | None = None) -> Shown:
        """An agent with what reaches it, and with the signs of life that are not written down yet."""
        silent = None if shown.last_seen is None else moment(self._clock.now()) - shown.last_seen
        known = Known(
            came=shown.acted, silent_for=silent, at_work=shown.leased > 0, pause=shown.paused, person=is_person(shown.name, shown.card)
        )
        shown = msgspec.structs.replace(shown, reach=self.of(caller, shown.name, known))
        silent_for = self._presences.silent_for(shown.name)
        if silent_for is None:
            return shown
        seen = moment(self._clock.now()) - silent_for  # by our clock: the store's may be another, and what it wrote may be newer
        return msgspec.structs.replace(
            shown,
            presence=presence(silent_for, tasks, self._silence),
            last_seen=seen if shown.last_seen is None else max(seen, shown.last_seen),
        )
