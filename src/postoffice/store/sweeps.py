"""What the upkeep does, a batch at a time: look for what is due, then do the act on it."""

from collections.abc import Awaitable
from datetime import timedelta
from typing import Protocol, TypeVar

from postoffice.acts.act import Act
from postoffice.acts.attachments.sweeping import DropBlobs, DropHoldings, DropUploads, ForgetRubbish
from postoffice.acts.mail.expiry import ExpireRequests
from postoffice.acts.people.pausing import ResumeMail
from postoffice.acts.people.windows import EndLost
from postoffice.acts.questions.closing import EndQuestion
from postoffice.acts.questions.go_on import AskGoOn
from postoffice.acts.tasks.reports import ReportGone, ReportOverdue, ReportUnblocked
from postoffice.acts.upkeep.forgetting import Forget, ForgetEvents, Purge, PurgeUnreached
from postoffice.acts.upkeep.indexing import IndexSearch
from postoffice.acts.work.reserving import EndReservations, TellFree, in_the_way
from postoffice.core.clock import micros
from postoffice.store.depot.depot import Depot
from postoffice.store.engine import Engine
from postoffice.store.reads.attachments import AttachmentReads
from postoffice.store.reads.endless import EndlessReads
from postoffice.store.reads.pages import SKEW, first_id
from postoffice.store.reads.questions import QuestionReads
from postoffice.store.reads.reservations import ReservationReads

R = TypeVar("R")
_INDEXED_AT_ONCE = 1000
_GONE_AFTER = timedelta(minutes=5)
"""An assignee without a window that is silent for longer than this is not just restarting its client."""


class Do(Protocol):
    """How a store has an act done."""

    def __call__(self, act: Act[R], /) -> Awaitable[R]: ...


class Sweeps:
    """Each says how much it did; 0 when nothing is left."""

    def __init__(self, engine: Engine, do: Do, depot: Depot) -> None:
        self._engine = engine
        self._do = do
        self._depot = depot
        self._attachments = AttachmentReads(engine)
        self._questions = QuestionReads(engine)
        self._endless = EndlessReads(engine)
        self._reservations = ReservationReads(engine)

    async def expire_requests(self, limit: int = 100) -> int:
        """End the requests that nobody answered in time."""
        ids = tuple(id for (id,) in await self._engine.fetch("expired_requests", limit=limit))
        return await self._do(ExpireRequests(ids)) if ids else 0

    async def report_overdue(self, limit: int = 100) -> int:
        """Tell of the tasks whose deadline has passed."""
        ids = tuple(id for (id,) in await self._engine.fetch("overdue_tasks", limit=limit))
        return await self._do(ReportOverdue(ids)) if ids else 0

    async def report_unblocked(self, limit: int = 100) -> int:
        """Tell of the tasks that wait for nothing any more."""
        ids = tuple(id for (id,) in await self._engine.fetch("unblocked_tasks", limit=limit))
        return await self._do(ReportUnblocked(ids)) if ids else 0

    async def report_gone(self, limit: int = 100) -> int:
        """Tell of the tasks whose assignee has closed its window and is silent since."""
        ids = tuple(id for (id,) in await self._engine.fetch("gone_tasks", silent=micros(_GONE_AFTER), limit=limit))
        return await self._do(ReportGone(ids)) if ids else 0

    async def end_lost_windows(self, limit: int = 100) -> int:
        """Close the windows that were not renewed."""
        ids = tuple(id for (id,) in await self._engine.fetch("lost_windows", limit=limit))
        return await self._do(EndLost(ids)) if ids else 0

    async def end_pauses(self, limit: int = 100) -> int:
        """End the pauses whose time has come."""
        names = [agent for (agent,) in await self._engine.fetch("ended_pauses", limit=limit)]
        return len([await self._do(ResumeMail(agent, over=True)) for agent in names])

    async def end_questions(self, limit: int = 100) -> int:
        """End the questions that nobody answered in time."""
        overdue = await self._questions.overdue(limit)
        return len([await self._do(EndQuestion(question)) for question in overdue])

    async def end_reservations(self, limit: int = 100) -> int:
        """End the reservations whose time has come or whose window has ended, and tell those who wait for the files."""
        ended = await self._reservations.ended(limit)
        if ended:
            await self._do(EndReservations(ended))
        return len(ended) + await self.tell_free()

    async def tell_free(self) -> int:
        """Tell those who asked for it that nothing stands in their way any more."""
        bids = await self._reservations.bids()
        rows = await self._reservations.rows() if bids else []
        free = [bid for bid in bids if not in_the_way(bid, rows)]
        return await self._do(TellFree(free)) if free else 0

    async def ask_go_on(self) -> int:
        """Ask the owner about sessions whose agents write to each other without end."""
        asked = 0
        while (talk := await self._endless.unasked()) is not None:
            await self._do(AskGoOn(talk))
            asked += 1
        return asked

    async def purge(self, older_than: timedelta, limit: int = 200) -> int:
        """Forget messages that everybody is done with."""
        ((now,),) = await self._engine.fetch("now")
        age, skew = micros(older_than), micros(SKEW)
        purgeable = await self._engine.fetch(
            "purgeable", age=age, young=first_id(now - age + skew), ahead=first_id(now + skew), limit=limit
        )
        mail = tuple((id, mailbox) for id, mailbox in purgeable if mailbox is not None)
        unreached = tuple(id for id, mailbox in purgeable if mailbox is None)
        purged = await self._do(Purge(mail, older_than)) if mail else 0
        return purged + (await self._do(PurgeUnreached(unreached)) if unreached else 0)

    async def drop_attachments(self, limit: int = 100) -> int:
        """Drop uploads that nobody goes on with, and bytes that no letter carries any more."""
        life = self._engine.limits.upload_life
        old, held = await self._attachments.old_uploads(limit), await self._attachments.unneeded_holdings(limit)
        dropped = (await self._do(DropUploads(old, life)) if old else 0) + (await self._do(DropHoldings(held)) if held else 0)
        unneeded = await self._attachments.unneeded_blobs(limit)
        dropped += await self._do(DropBlobs(unneeded)) if unneeded else 0
        return dropped + await self.delete_rubbish(limit)

    async def delete_rubbish(self, limit: int = 100) -> int:
        """Delete bytes that nobody needs. What is deleted and not forgotten, because this broke off, is deleted again."""
        rubbish = await self._attachments.rubbish(limit)
        for upload in rubbish:
            await self._depot.delete(upload)
        return await self._do(ForgetRubbish(rubbish)) if rubbish else 0

    async def forget_events(self, older_than: timedelta, limit: int = 1000) -> int:
        """Forget old news."""
        events = tuple((mailbox, number) for mailbox, number in await self._engine.fetch("old_events", age=micros(older_than), limit=limit))
        return await self._do(ForgetEvents(events)) if events else 0

    async def forget(self, limit: int = 1000) -> int:
        """Forget old records of ids, and logins and counters that have ended."""
        old = await self._engine.fetch("old_dedupe", age=micros(self._engine.limits.dedupe_for), limit=limit)
        return await self._do(Forget(tuple((sender, addressee, id, at) for sender, addressee, id, at in old)))

    async def index_all(self) -> None:
        """Bring the search index up to date."""
        while await self._do(IndexSearch(_INDEXED_AT_ONCE)) == _INDEXED_AT_ONCE:
            pass
