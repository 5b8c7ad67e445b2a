"""What both engines are: a store whose acts are committed in groups and whose reads are named queries."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, TypeVar

from postoffice.acts.act import Act
from postoffice.acts.ledger.foreign import Meet, Opened
from postoffice.acts.ledger.sightings import KeepAccount, KeepNetwork, Materialise, PutPost, SettlePost, SignPost
from postoffice.acts.ledger.topics import WatchTopic
from postoffice.acts.mail.dead import Discard, Release, Requeue
from postoffice.acts.mail.expiry import ExpireRequests, ReportOverdue, ReturnDue
from postoffice.acts.mail.send import Send
from postoffice.acts.mail.session import ReadSession, check_reader
from postoffice.acts.mail.take_and_settle import Collected, TakeAndSettle
from postoffice.acts.people.agents import AddKey, Appear, Register, RevokeKeys, Seen, UpdateCard
from postoffice.acts.people.connections import Approve, Conclude, Request
from postoffice.acts.people.logins import EndVisit, MakeLink, UseLink
from postoffice.acts.rows import ThreadRow
from postoffice.acts.tasks.move import MoveTask
from postoffice.acts.upkeep.forgetting import Forget, ForgetEvents, HoldRole, IndexSearch, Purge, PurgeUnreached
from postoffice.core.agent import Card, Key
from postoffice.core.clock import Clock, is_id, micros
from postoffice.core.connection import Connection, Handshake, Status
from postoffice.core.delivery import GiveBack, Settled, Settlement, Wish
from postoffice.core.errors import Closed, MailError, NotParticipant
from postoffice.core.ledger import Account, Opening, Post, Sighting
from postoffice.core.limits import Limits
from postoffice.core.message import Accepted, Draft
from postoffice.core.names import folded
from postoffice.core.session import Thread
from postoffice.core.tally import Tally
from postoffice.core.task import Task, TaskState
from postoffice.store.ledger_reads import LedgerReads
from postoffice.store.overview import SKEW, Overviews, first_id

R = TypeVar("R")


class GroupedStore(Overviews, LedgerReads):
    """A Store, but for how a group is committed and a query is run: those are the engine's."""

    def __init__(self, clock: Clock, limits: Limits) -> None:
        self.clock = clock
        self.limits = limits
        self.commits = Tally()
        """How long groups took from their first read to the disk's word."""
        self._closing = True  # until it is open

    def put(self, act: Act[R]) -> "asyncio.Future[R]":
        """Have the act done with whatever else is waiting; the answer comes when that is on disk."""
        raise NotImplementedError

    def submit(self, act: Act[R]) -> "asyncio.Future[R]":
        """The same, for those outside: nothing is begun once the store is closing."""
        if self._closing:
            raise Closed
        return self.put(act)

    def answer(self, act: Act[R], future: "asyncio.Future[R]", outcome: "R | BaseException") -> None:
        """Give an act's outcome to whoever asked for it, if they are still there."""
        if future.cancelled():
            self._undo(act, outcome)
        elif isinstance(outcome, BaseException):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)

    def _undo(self, act: Act[Any], outcome: object) -> None:
        """A taker that went away before it could be told never had the mail."""
        if (
            isinstance(act, TakeAndSettle)
            and isinstance(outcome, Collected)
            and act.wish is not None
            and not act.wish.pop
            and outcome.leased
        ):
            back = tuple(GiveBack(leased.message.id, leased.token) for leased in outcome.leased)
            # Nobody waits for this; should it fail, the leases run out by themselves.
            self.put(TakeAndSettle(act.mailbox, back)).add_done_callback(lambda future: future.cancelled() or future.exception())

    # Agents and keys

    async def register(self, name: str, card: Card, hash: str, prefix: str, *, owner: bool, address: str | None = None) -> tuple[str, str]:
        return await self.submit(Register(name, card, hash, prefix, owner=owner, address=address))

    async def appear(self, name: str) -> str:
        return await self.submit(Appear(name))

    async def update_card(self, name: str, changes: dict[str, object]) -> Card:
        return await self.submit(UpdateCard(name, changes))

    async def seen(self, ages: dict[str, timedelta | None]) -> None:
        await self.submit(Seen(ages))

    async def add_key(self, name: str, hash: str, prefix: str, overlap: timedelta | None, by: str | None = None) -> Key:
        return await self.submit(AddKey(name, hash, prefix, overlap, by))

    async def revoke_keys(self, name: str, prefix: str | None, by: str | None = None) -> tuple[Key, ...]:
        return await self.submit(RevokeKeys(name, prefix, by))

    # Consent

    async def request_connection(self, requester: str, target: str, note: str | None, *, rated: bool = False) -> Connection:
        return await self.submit(Request(requester, target, note, rated=rated))

    async def approve_connection(self, approver: str, code: str, handshake: Handshake, *, owner: bool) -> Connection:
        answer = await self.submit(Approve(approver, code, handshake, owner=owner))
        if isinstance(answer, MailError):
            raise answer
        return answer

    async def conclude_connection(self, caller: str, id: str, status: Status, *, owner: bool) -> Connection:
        return await self.submit(Conclude(caller, id, status, owner=owner))

    # The ledger

    async def keep_account(self, account: Account, profile: str | None) -> None:
        await self.submit(KeepAccount(account, profile))

    async def keep_network(self, network: str) -> None:
        await self.submit(KeepNetwork(network))

    async def watch_topic(self, topic_id: str, kind: str, agent: str | None, about: str) -> None:
        await self.submit(WatchTopic(topic_id, kind, agent, about))

    async def put_post(self, topic_id: str, body: str, memo: str, payer: str | None, id: str | None = None) -> str:
        return await self.submit(PutPost(topic_id, body, memo, payer, id))

    async def sign_post(self, id: str, signed: str | None, instead_of: str | None = None) -> str | None:
        return await self.submit(SignPost(id, signed, instead_of))

    async def meet(self, account_id: str, inbound_topic_id: str, asked_by: str | None = None) -> None:
        await self.submit(Meet(account_id, inbound_topic_id, asked_by))

    async def opened(self, post_id: str, opening: Opening, topic_id: str) -> None:
        await self.submit(Opened(post_id, opening, topic_id))

    async def settle_post(self, post: Post, *, error: str | None = None, retry_in: timedelta | None = None) -> None:
        await self.submit(SettlePost(post, error=error, retry_in=retry_in))

    async def materialise(self, topic_id: str, through: int, seen: tuple[Sighting, ...], *, strangers: bool) -> int:
        return await self.submit(Materialise(topic_id, through, seen, strangers=strangers))

    # Mail

    async def send(self, sender: str, draft: Draft, *, verified: bool, strangers: bool) -> Accepted:
        return await self.submit(Send(sender, draft, verified=verified, strangers=strangers))

    async def send_many(
        self, sender: str, drafts: Sequence[Draft], *, verified: bool, strangers: bool, doer: str | None = None
    ) -> Sequence[Accepted | BaseException]:
        acts = [self.submit(Send(sender, draft, verified=verified, strangers=strangers, doer=doer)) for draft in drafts]
        return await asyncio.gather(*acts, return_exceptions=True)

    async def turn(self, mailbox: str, settlements: tuple[Settlement, ...], wish: Wish | None) -> Collected:
        act = TakeAndSettle(mailbox, settlements, wish)
        future = self.submit(act)
        try:
            return await future
        except asyncio.CancelledError:
            # Cancelled between the answer and the asker: the future holds mail that nobody will read.
            if not future.cancelled() and future.exception() is None:
                self._undo(act, future.result())
            raise

    async def requeue(self, mailbox: str, ref: str) -> Settled:
        return await self.submit(Requeue(mailbox, ref))

    async def discard(self, mailbox: str, ref: str) -> Settled:
        return await self.submit(Discard(mailbox, ref))

    async def release(self, mailbox: str, message_id: str, refusal: str | None = None) -> Settled:
        return await self.submit(Release(mailbox, message_id, refusal))

    async def read_session(self, reader: str, session_id: str, before: str | None, limit: int) -> Thread:
        if not is_id(session_id):
            raise NotParticipant(name=reader, session=session_id)
        if before is not None:  # which tells that there is such a session
            rows = await self.fetch("session", id=session_id)
            check_reader(ThreadRow(*rows[0]) if rows else None, session_id, folded(reader))
        return await self.submit(ReadSession(reader, session_id, await self._number(session_id, before), limit))

    # Tasks

    async def move_task(self, caller: str, ref: str, wanted: TaskState, report: Draft, *, verified: bool) -> Task:
        return await self.submit(MoveTask(caller, ref, wanted, report, verified=verified))

    # The page

    async def make_link(self, name: str, key: str | None, hash: str, lasts: timedelta) -> None:
        await self.submit(MakeLink(name, key, hash, lasts))

    async def use_link(self, link: str, visit: str, lasts: timedelta) -> str:
        return await self.submit(UseLink(link, visit, lasts))

    async def end_visit(self, hash: str) -> None:
        await self.submit(EndVisit(hash))

    # Upkeep

    async def hold_role(self, role: str, holder: str, lasts: timedelta) -> bool:
        return await self.submit(HoldRole(role, holder, lasts)) == 1

    async def return_due(self, limit: int = 500) -> int:
        return await self.submit(ReturnDue(limit))

    async def expire_requests(self, limit: int = 100) -> int:
        ids = tuple(id for (id,) in await self.fetch("expired_requests", limit=limit))
        return await self.submit(ExpireRequests(ids)) if ids else 0

    async def report_overdue(self, limit: int = 100) -> int:
        ids = tuple(id for (id,) in await self.fetch("overdue_tasks", limit=limit))
        return await self.submit(ReportOverdue(ids)) if ids else 0

    async def index_search(self, limit: int = 200) -> int:
        return await self.submit(IndexSearch(limit))

    async def purge(self, older_than: timedelta, limit: int = 200) -> int:
        ((now,),) = await self.fetch("now")
        age, skew = micros(older_than), micros(SKEW)
        found = await self.fetch("purgeable", age=age, young=first_id(now - age + skew), ahead=first_id(now + skew), limit=limit)
        mail = tuple((id, mailbox) for id, mailbox in found if mailbox is not None)
        unreached = tuple(id for id, mailbox in found if mailbox is None)
        purged = await self.submit(Purge(mail, older_than)) if mail else 0
        return purged + (await self.submit(PurgeUnreached(unreached)) if unreached else 0)

    async def forget_events(self, older_than: timedelta, limit: int = 1000) -> int:
        events = tuple((mailbox, number) for mailbox, number in await self.fetch("old_events", age=micros(older_than), limit=limit))
        return await self.submit(ForgetEvents(events)) if events else 0

    async def forget(self, limit: int = 1000) -> int:
        old = await self.fetch("old_dedupe", age=micros(self.limits.dedupe_for), limit=limit)
        return await self.submit(Forget(tuple((sender, addressee, id, at) for sender, addressee, id, at in old)))
