"""Verbs that deal with many letters at once, a group at a time."""

from datetime import datetime, timedelta

from postoffice.acts.mail.dead import Discard, ExpireNow, OneLetter, Requeue
from postoffice.core.agent import Caller
from postoffice.core.bulk import BulkAct, BulkDone, Counted, Which
from postoffice.core.delivery import Settled
from postoffice.core.errors import Invalid, MailError, OwnerOnly
from postoffice.core.limits import LONGEST, bounded
from postoffice.office.checks import Checks
from postoffice.store.store import Store

GROUP = 200
_LARGEST_GROUP = 1000
_ACTS: dict[BulkAct, type[OneLetter[Settled]]] = {BulkAct.REQUEUE: Requeue, BulkAct.DISCARD: Discard, BulkAct.EXPIRE: ExpireNow}


class Bulk:
    """For the owner: counted first, then done in groups. What was done fits no longer, so that whoever stopped half-way begins again."""

    def __init__(self, store: Store, checks: Checks) -> None:
        self._store = store
        self._checks = checks

    async def count(self, caller: Caller, act: BulkAct, which: Which) -> Counted:
        """How many it would be done to now. Nothing is done."""
        self._check(caller, which)
        before = await self._store.bulk.now()
        return Counted(await self._store.bulk.count(act, which, before), before)

    async def do(
        self,
        caller: Caller,
        act: BulkAct,
        which: Which,
        before: datetime | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> BulkDone:
        """Do it to the next group, of those there were before that moment; each by itself, so that none harms another."""
        self._check(caller, which)
        if before is not None and before.tzinfo is None:
            raise Invalid(what="before", why="it needs a time zone")
        until = before or await self._store.bulk.now()
        most = bounded("limit", limit, GROUP, 1, _LARGEST_GROUP)
        found = await self._store.bulk.page(act, which, until, self._checks.cursor(cursor) or None, most)
        outcomes = await self._store.do_each([_ACTS[act](mailbox, id) for id, mailbox in found])
        for outcome in outcomes:
            if isinstance(outcome, BaseException) and not isinstance(outcome, MailError):
                raise outcome
        done = sum(isinstance(outcome, Settled) for outcome in outcomes)
        left = await self._store.bulk.count(act, which, until)
        return BulkDone(done, len(outcomes) - done, left, ".".join(found[-1]) if len(found) == most else None)

    def _check(self, caller: Caller, which: Which) -> None:
        if not caller.owner:
            raise OwnerOnly(what="requeue, discard or expire many letters at once")
        for name in ("agent", "sender", "type", "reason"):
            self._checks.ref(getattr(which, name) or "", name)
        bounded("older_than", which.older_than, timedelta(0), timedelta(0), LONGEST)
