"""Verbs that look over an office: who is there, what is said, and how mail flows."""

from datetime import datetime

from postoffice.core.agent import Caller
from postoffice.core.errors import OwnerOnly
from postoffice.core.names import check_name, folded
from postoffice.core.talk import Aside, Custom, Talk, Waiting
from postoffice.core.traffic import Deed, Span, Traffic
from postoffice.core.views import Glance, Page, Seat, Totals
from postoffice.office.checks import Checks
from postoffice.office.reachability import Reachability
from postoffice.store.store import Store


class Overview:
    """None of it settles or takes anything, or counts as a sign of the agent's life."""

    def __init__(self, store: Store, checks: Checks, reachability: Reachability) -> None:
        self._store = store
        self._checks = checks
        self._reachability = reachability

    async def roster(self, owner: Caller, cursor: str | None = None, limit: int | None = None) -> Page[Seat]:
        """Every agent with its mailbox in numbers, for the owner."""
        self._checks.owner_only(owner, "see everyone's numbers")
        page = await self._store.overview.roster(self._checks.cursor(cursor), self._checks.page(limit))
        await self._reachability.look()
        return Page(tuple(self._reachability.shown(seat, seat.tasks, owner) for seat in page.items), page.cursor)

    async def glances(self, owner: Caller, cursor: str | None = None, limit: int | None = None) -> Page[Glance]:
        """Everyone's letters, newest first, for the owner."""
        self._checks.owner_only(owner, "look over everyone's mail")
        return await self._store.overview.glances(cursor, self._checks.page(limit))

    async def talks(self, owner: Caller, cursor: str | None = None, limit: int | None = None, *, waiting_only: bool = False) -> Page[Talk]:
        """Everyone's conversations, by what was said last in each, for the owner."""
        self._checks.owner_only(owner, "look over everyone's mail")
        return await self._store.talks.page(cursor, self._checks.page(limit), waiting_only=waiting_only)

    async def between(
        self, caller: Caller, one: str, other: str, subject: str | None = None, limit: int | None = None
    ) -> tuple[Aside, ...]:
        """What two agents said to each other last, of all their conversations or of one, for either of them or the owner."""
        mine = folded(caller.name) in (folded(check_name(one)), folded(check_name(other)))
        if not (caller.owner or mine):
            raise OwnerOnly(what="read what others say to each other")
        return await self._store.talks.between(one, other, subject, None if caller.owner else caller.name, self._checks.page(limit))

    async def customs(self, owner: Caller) -> tuple[Custom, ...]:
        """How long mail waits for each agent as a rule, for the owner."""
        self._checks.owner_only(owner, "see everyone's numbers")
        return await self._store.talks.customs()

    async def who_waits(self, owner: Caller, limit: int | None = None) -> tuple[Waiting, ...]:
        """Who waits on whom, the longest wait first, for the owner."""
        self._checks.owner_only(owner, "see everyone's numbers")
        return await self._store.talks.waits(self._checks.page(limit))

    async def traffic(self, caller: Caller, span: Span) -> Traffic:
        """How mail flowed: the agent's own, the owner's view of everyone's."""
        return await self._store.overview.traffic(None if caller.owner else caller.name, span)

    async def deeds(self, caller: Caller, begun: datetime) -> tuple[Deed, ...]:
        """Each delivery since then as it went: the agent's own, for the owner everyone's."""
        return await self._store.talks.deeds(None if caller.owner else caller.name, begun)

    async def totals(self) -> Totals:
        """The whole office in numbers."""
        return await self._store.overview.totals()
