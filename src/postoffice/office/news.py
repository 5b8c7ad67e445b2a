"""Verbs that tell what happened, and what happens as it does."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import msgspec

from postoffice.core.agent import Caller
from postoffice.core.errors import BadCursor, Invalid
from postoffice.core.event import Event, beyond
from postoffice.core.limits import Limits, bounded
from postoffice.core.names import folded
from postoffice.office.bells import Bells
from postoffice.office.checks import Checks
from postoffice.office.identity import Again
from postoffice.office.places import Places
from postoffice.office.presences import Presences
from postoffice.office.rota import Rota
from postoffice.office.tallies import Tallies
from postoffice.store.store import Store
from postoffice.wake.protocol import EVERYBODY

_NOW = timedelta(0)
_LAST_NUMBER = 2**62
_EVENTS_IN_A_PULSE = 200  # a pulse tells so many events; if there are more, it only says so
_SECOND_LOOK_SECONDS = 0.05  # seconds until the next look after a hint whose cause could not be seen yet
_CURSOR_DIGITS = 18


class Pulse(msgspec.Struct, frozen=True):
    """What happened since the last pulse: events, too many events to tell, or mail that only changed hands."""

    cursor: str
    events: tuple[Event, ...] = ()
    missed: bool = False
    moved: bool = False

    @property
    def quiet(self) -> bool:
        """Whether nothing happened."""
        return not (self.events or self.missed or self.moved)


class News:
    """Each agent's log has its own numbers. The log of everyone, which the owner reads, has cursors."""

    def __init__(
        self,
        store: Store,
        checks: Checks,
        limits: Limits,
        rota: Rota,
        bells: Bells,
        presences: Presences,
        places: Places,
        tallies: Tallies,
        tick: float,
    ) -> None:
        self._store = store
        self._checks = checks
        self._limits = limits
        self._rota = rota
        self._bells = bells
        self._presences = presences
        self._places = places
        self._tallies = tallies
        self._tick = tick

    async def news(
        self,
        caller: Caller,
        after: int = 0,
        limit: int | None = None,
        *,
        of: str | None = None,
        within: timedelta = _NOW,
        again: Again | None = None,
    ) -> list[Event]:
        """The agent's log after a number, or a role's; waits for something to happen if nothing has. A number the log has not come to is refused."""
        patience = bounded("wait", within, _NOW, _NOW, self._limits.wait_most)
        if not patience:
            return await self.follow(caller, after, limit, of=of, within=patience, again=again)
        with self._places.taken(caller.name):
            return await self.follow(caller, after, limit, of=of, within=patience, again=again)

    async def follow(
        self, caller: Caller, after: int, limit: int | None = None, *, of: str | None = None, within: timedelta, again: Again | None = None
    ) -> list[Event]:
        """The same for a socket that stays open: its door chooses how long it waits between two looks, and no caller does."""
        most = self._checks.page(limit)
        if not 0 <= after < _LAST_NUMBER:
            raise BadCursor(cursor=after)
        until = asyncio.get_running_loop().time() + within.total_seconds()
        name = caller.name if of is None else await self._rota.may_see(caller, of)
        with self._bells.waiting(folded(name), after) as bell:
            while True:
                bell.still()
                events = await self._store.log.of(name, after, most)
                if not events and after and after > await self._latest(name):
                    raise BadCursor(cursor=after)  # at each look: a backup may take the log's place while somebody waits
                left = until - asyncio.get_running_loop().time()
                if events or left <= 0 or self._bells.closed:
                    return events
                if (
                    not await bell.rings(min(left, self._presences.sign_after)) and left <= self._presences.sign_after
                ) or self._bells.closed:
                    return events
                if again is not None:
                    await again()
                if of is not None:
                    await self._rota.may_see(caller, of)  # it may have left the role meanwhile
                self._presences.touch(caller.name)

    async def all_news(self, owner: Caller, after: str = "0", limit: int | None = None) -> list[Event]:
        """Everyone's log, for the owner, after a cursor it gave. One the log has not come to is refused."""
        self._checks.owner_only(owner, "read everyone's news")
        return await self._log(after, self._checks.page(limit))

    async def _log(self, after: str, most: int) -> list[Event]:
        """Everyone's log after a cursor. One from beyond it is refused at each look: a backup may take the log's place meanwhile."""
        events = await self._store.log.page(self._checks.ref(after, "cursor"), most)
        if not events and beyond(after, await self._store.log.last()):
            raise BadCursor(cursor=after)
        return events

    async def latest(self, caller: Caller) -> int:
        """The number of the last thing that happened to the agent: news after it is new."""
        return await self._latest(caller.name)

    async def _latest(self, name: str) -> int:
        looked = await self._store.mail.look([name])
        return looked.get(folded(name), (0, 0))[1]

    # As it happens

    async def place(self, caller: Caller) -> str:
        """Where the log stands now: what happens after it is news."""
        if caller.owner:
            return await self._store.log.last()
        return str(await self.latest(caller))

    async def watch(self, caller: Caller, after: str | None) -> AsyncIterator[Pulse]:
        """What happens after a place in the log, a pulse a tick, sooner with news; until the office closes.

        The owner watches everyone. A place that is not one (of another office) is answered with the present one,
        and with the word that something was missed.
        """
        cursor, stood = after or await self.place(caller), None
        soon = False
        with (
            self._places.taken(caller.name),
            self._tallies.watchers,
            self._bells.waiting(EVERYBODY if caller.owner else folded(caller.name)) as bell,
        ):
            while not self._bells.closed:
                hinted = bell.still()
                pulse = await self._pulse(caller, cursor)
                stands = await self._stands(caller)
                # A hint that neither the log nor the counts explain, even a moment later, told of mail that was given back, or of a card.
                unexplained = soon and not (pulse.events or pulse.missed)
                pulse = msgspec.structs.replace(pulse, moved=unexplained or stood not in (None, stands))
                cursor, stood = pulse.cursor, stands
                if not caller.owner:
                    bell.after = int(cursor)  # it waits for news: what lies there untaken is none
                yield pulse
                # A hint may come before its cause can be seen: then look again soon.
                soon = hinted and pulse.quiet
                if pulse.quiet:
                    await bell.rings(_SECOND_LOOK_SECONDS if soon else self._tick)

    async def _pulse(self, caller: Caller, cursor: str) -> Pulse:
        try:
            events = await self._events(caller, cursor)
        except Invalid:  # what nobody could have given out is no place either
            return Pulse(await self.place(caller), missed=True)
        if len(events) > _EVENTS_IN_A_PULSE:
            return Pulse(await self.place(caller), missed=True)
        return Pulse(events[-1].cursor if events else cursor, tuple(events))

    async def _events(self, caller: Caller, cursor: str) -> list[Event]:
        if caller.owner:
            return await self._log(cursor, _EVENTS_IN_A_PULSE + 1)
        if not cursor.isdecimal() or not cursor.isascii() or len(cursor) > _CURSOR_DIGITS:
            raise BadCursor(cursor=cursor)
        events = await self._store.log.of(caller.name, int(cursor), _EVENTS_IN_A_PULSE + 1)
        if not events and beyond(cursor, await self.place(caller)):
            raise BadCursor(cursor=cursor)
        return events

    async def _stands(self, caller: Caller) -> tuple[int, ...]:
        """What leases and returns change, of which the log says nothing."""
        if caller.owner:
            totals = await self._store.overview.totals()
            return totals.agents, totals.held, totals.pending, totals.leased, totals.dead
        counts = await self._store.mail.counts(caller.name)
        return counts.held, counts.pending, counts.leased, counts.dead
