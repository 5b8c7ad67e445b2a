"""What the office does by itself: look, sweep, index, flush heartbeats, forget."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial

from postoffice.acts.mail.expiry import ReturnDue
from postoffice.acts.upkeep.indexing import IndexSearch
from postoffice.core.clock import steady
from postoffice.core.errors import MailError
from postoffice.core.role import ROLES
from postoffice.core.window import WINDOWS
from postoffice.office.bells import Bells
from postoffice.office.board import Board
from postoffice.office.presences import Presences
from postoffice.office.rota import Rota
from postoffice.office.rules import OfficeRules
from postoffice.store.store import Store
from postoffice.wake.protocol import Wake

_log = logging.getLogger(__name__)
_FLUSH_TICKS = 5
_PURGE_TICKS = 60
_PURGE_NANOSECONDS = 1_000_000_000  # nanoseconds, of each tick
_WAITERS_LOOKED_FOR = 1000
_DUTY_LASTS = timedelta(seconds=15)


class Upkeep:
    """One task that ticks."""

    def __init__(
        self, store: Store, wake: Wake, bells: Bells, board: Board, rota: Rota, presences: Presences, rules: OfficeRules, me: str
    ) -> None:
        self._store = store
        self._wake = wake
        self._bells = bells
        self._board = board
        self._rota = rota
        self._presences = presences
        self._rules = rules
        self._me = me
        self._ticks = 0
        self._more_to_purge = False
        self._more_to_forget = False
        self._more_to_drop = False
        self.held = False
        """Whether sweeping is this process's business now."""

    async def run(self) -> None:
        """Tick until cancelled. After a tick that fails comes the next one; failures alike in a row are logged once."""
        failing: type[Exception] | None = None
        while True:
            await asyncio.sleep(self._rules.tick)
            try:
                await self.tick()
            except Exception as error:  # noqa: BLE001 - a bug in one tick must not end all ticks
                self.held = False
                if type(error) is not failing:
                    _tell(error)
                failing = type(error)
            else:
                if failing is not None:
                    _log.info("upkeep goes on")
                failing = None

    async def tick(self) -> None:
        """Do what is due now."""
        self._ticks += 1
        if not self._wake.healthy:
            self._board.hear(frozenset((WINDOWS,)))  # what no hint tells
            self._rota.hear(frozenset((ROLES,)))
        if names := self._due_for_a_look(self._bells.names()):
            gone = dict.fromkeys(names, (0, 0))  # with the mail that a backup replaced
            self._bells.compare(gone | await self._store.mail.look(names))
        if self._ticks % _FLUSH_TICKS == 0:
            await self._presences.flush(self._store)
            await self._store.engine.measure()
        self.held = await self._store.hold("upkeep", self._me, _DUTY_LASTS)
        if self.held:
            await self.sweep()

    def _due_for_a_look(self, names: list[str]) -> list[str]:
        """Everybody who waits; if they are thousands and hints are carried, some of them each tick, in turn."""
        if len(names) <= _WAITERS_LOOKED_FOR or not self._wake.healthy:
            return names
        begin = self._ticks * _WAITERS_LOOKED_FOR % len(names)
        return (names + names)[begin : begin + _WAITERS_LOOKED_FOR]

    async def sweep(self) -> None:
        """What only one process has to do."""
        store, limits = self._store, self._rules.limits
        await store.do(ReturnDue())
        await store.sweeps.end_lost_windows()
        await store.sweeps.end_reservations()
        await store.sweeps.expire_requests()
        await store.sweeps.report_overdue()
        await store.sweeps.report_unblocked()
        await store.sweeps.report_gone()
        await store.sweeps.end_questions()
        await store.sweeps.end_pauses()
        await store.sweeps.ask_go_on()
        await store.sweeps.delete_rubbish()
        seldom = self._ticks % _PURGE_TICKS == 0
        if limits.retention is not None and (seldom or self._more_to_purge):
            self._more_to_purge = await _for_a_while(partial(self._purge, limits.retention))
        if seldom or self._more_to_forget:
            self._more_to_forget = await _for_a_while(store.sweeps.forget)
        if seldom or self._more_to_drop:
            self._more_to_drop = await _for_a_while(store.sweeps.drop_attachments)
        if seldom:
            await store.engine.adopt_log()  # a backup may have taken the mail's place while it was served
        await store.do(IndexSearch())  # last: it reads what people wrote, and trouble with that must not hold up the rest

    async def _purge(self, older_than: timedelta) -> int:
        purged = await self._store.sweeps.purge(older_than)
        indexed = await self._store.do(IndexSearch())  # before the news is forgotten: nothing could be indexed from it afterwards
        return purged + indexed + await self._store.sweeps.forget_events(older_than)


async def _for_a_while(some: Callable[[], Awaitable[int]]) -> bool:
    """Do some of it again and again for a while, and say whether there may be more. Years of mail take long, and expired leases cannot wait."""
    until = steady() + _PURGE_NANOSECONDS
    while await some():
        if steady() >= until:
            return True
    return False


def _tell(error: Exception) -> None:
    if isinstance(error, MailError):
        _log.warning("upkeep: %s", error)
    else:
        _log.error("upkeep failed; it goes on with the next tick", exc_info=error)
