"""The store: acts are done, and things are read, over whichever engine keeps the mail."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar

from postoffice.acts.act import Act
from postoffice.acts.upkeep.duty import HoldDuty
from postoffice.core.errors import Closed
from postoffice.store.depot.depot import Depot
from postoffice.store.depot.usual import depot_of
from postoffice.store.engine import Committed, Engine
from postoffice.store.reads.agents import AgentReads
from postoffice.store.reads.attachments import AttachmentReads
from postoffice.store.reads.bulk import BulkReads
from postoffice.store.reads.connections import ConnectionReads
from postoffice.store.reads.endless import EndlessReads
from postoffice.store.reads.for_you import ForYouReads
from postoffice.store.reads.hooks import HookReads
from postoffice.store.reads.ledger import LedgerReads
from postoffice.store.reads.lists import ListReads
from postoffice.store.reads.log import LogReads
from postoffice.store.reads.mail import MailReads
from postoffice.store.reads.notes import NoteReads
from postoffice.store.reads.overview import Overview
from postoffice.store.reads.questions import QuestionReads
from postoffice.store.reads.recurring import RecurringReads
from postoffice.store.reads.reservations import ReservationReads
from postoffice.store.reads.roles import RoleReads
from postoffice.store.reads.search import SearchReads
from postoffice.store.reads.sessions import SessionReads
from postoffice.store.reads.talks import TalkReads
from postoffice.store.reads.tasks import TaskReads
from postoffice.store.reads.webhooks import WebhookReads
from postoffice.store.reads.windows import WindowReads
from postoffice.store.sweeps import Sweeps

R = TypeVar("R")


class Store:
    """One act, one transaction, one thing wholly true afterwards. Names may be spelled in any case."""

    def __init__(self, engine: Engine, depot: Depot | None = None) -> None:
        """`depot`: where bytes of attachments are kept; without one, in a folder of the engine's, or in its database."""
        self.engine = engine
        self.depot = depot or depot_of(engine)
        self.agents = AgentReads(engine)
        self.connections = ConnectionReads(engine)
        self.mail = MailReads(engine)
        self.lists = ListReads(engine)
        self.sessions = SessionReads(engine, self.lists)
        self.tasks = TaskReads(engine)
        self.questions = QuestionReads(engine)
        self.for_you = ForYouReads(engine)
        self.endless = EndlessReads(engine)
        self.notes = NoteReads(engine)
        self.log = LogReads(engine)
        self.ledger = LedgerReads(engine)
        self.windows = WindowReads(engine)
        self.webhooks = WebhookReads(engine)
        self.hooks = HookReads(engine)
        self.reservations = ReservationReads(engine)
        self.roles = RoleReads(engine)
        self.recurring = RecurringReads(engine)
        self.bulk = BulkReads(engine)
        self.attachments = AttachmentReads(engine)
        self.overview = Overview(engine)
        self.talks = TalkReads(engine)
        self.sweeps = Sweeps(engine, self.do, self.depot)
        self.search = SearchReads(engine, self.sweeps)

    async def open(self, committed: Committed) -> None:
        """Begin. `committed` is called after each commit, with the agents who have mail or news."""
        await self.engine.open(committed)

    async def close(self) -> None:
        """End, once what was asked for is done."""
        await self.engine.close()

    async def ping(self) -> None:
        """Raise unless the engine answers."""
        await self.engine.fetch("oldest_program")

    async def do(self, act: Act[R]) -> R:
        """Have the act done; the answer comes when that is on disk."""
        future = self._begin(act)
        try:
            return await future
        except asyncio.CancelledError:
            # Cancelled after the answer came and before the caller got it: nobody will read it.
            if not future.cancelled() and future.exception() is None:
                self._undo(act, future.result())
            raise

    async def do_each(self, acts: Sequence[Act[R]]) -> list[R | BaseException]:
        """Have several acts done, each by itself."""
        return await asyncio.gather(*[self._begin(act) for act in acts], return_exceptions=True)

    async def hold(self, duty: str, holder: str, lasts: timedelta) -> bool:
        """Take or keep a duty for a while. If one process owns the mail, it has every duty."""
        return not self.engine.shared or await self.do(HoldDuty(duty, holder, lasts))

    def _begin(self, act: Act[R]) -> "asyncio.Future[R]":
        if self.engine.closing:
            raise Closed
        return self._put(act)

    def _put(self, act: Act[R]) -> "asyncio.Future[R]":
        future: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self.engine.put(act, partial(self._answer, act, future))
        return future

    def _answer(self, act: Act[R], future: "asyncio.Future[R]", outcome: "R | BaseException") -> None:
        """Give an act's outcome to whoever asked for it, if they are still there."""
        if future.cancelled():
            self._undo(act, outcome)
        elif isinstance(outcome, BaseException):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)

    def _undo(self, act: Act[Any], outcome: object) -> None:
        """The caller left before it was answered: undo what it must not have without knowing."""
        back = None if isinstance(outcome, BaseException) else act.undo(outcome)
        if back is not None:
            # Nobody waits for this. Should it fail, leases run out by themselves.
            self._put(back).add_done_callback(lambda future: future.cancelled() or future.exception())
