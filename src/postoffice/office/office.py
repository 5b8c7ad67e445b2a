"""PostOffice: the verbs."""

import asyncio
import difflib
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Self

import msgspec

from postoffice.core.agent import Agent, Caller, Card, Key, check_card, key_hash, key_prefix, new_key, presence
from postoffice.core.clock import Clock, micros
from postoffice.core.connection import Connection, Status, as_target_sees, read_code
from postoffice.core.delivery import Ack, Extend, GiveBack, Leased, Nack, Settled, Settlement, Wish
from postoffice.core.errors import (
    AmbiguousId,
    BadCursor,
    BadMessage,
    Forbidden,
    Invalid,
    NoSuchAgent,
    NoSuchCode,
    NoSuchMessage,
    NoSuchTask,
    OwnerOnly,
    TooLarge,
    ToOneself,
)
from postoffice.core.event import Event
from postoffice.core.limits import bounded
from postoffice.core.message import TASK_UPDATE, Accepted, Draft, Message, check_draft
from postoffice.core.names import OWNER, check_free, check_name, folded
from postoffice.core.session import Thread
from postoffice.core.task import Task, TaskState
from postoffice.core.text import check_text
from postoffice.core.views import DeadLetter, Entity, Found, MailboxCounts, Page, Proof, Totals
from postoffice.office.bells import Bells
from postoffice.office.house import Auth, House
from postoffice.office.identity import Identities
from postoffice.office.upkeep import Presences, Upkeep
from postoffice.store.acts.turn import Turned
from postoffice.store.protocol import Store
from postoffice.wake.protocol import Wake

_NOW = timedelta(0)
_YEAR = timedelta(days=365)
_LAST_NUMBER = 2**62


class PostOffice:
    """One office over one store. `async with` opens and closes it."""

    def __init__(self, store: Store, wake: Wake, house: House | None = None) -> None:
        self.house = house or House()
        self.store = store
        self.wake = wake
        self._limits = self.house.limits
        self._bells = Bells()
        self._presences = Presences()
        self._identities = Identities(store, self.house.auth)
        self.upkeep = Upkeep(store, self._bells, self._presences, self.house, Clock().new_id())
        self._closing = False

    async def __aenter__(self) -> Self:
        await self.store.open(self.wake.hint)
        await self.wake.open(self._hear)
        self._upkeep = asyncio.create_task(self.upkeep.run())
        return self

    async def __aexit__(self, *_: object) -> None:
        """Waiters are sent home empty-handed before the store closes; what they had asked for waits."""
        self._closing = True
        self._bells.ring_all()
        self._upkeep.cancel()
        await asyncio.gather(self._upkeep, return_exceptions=True)
        await asyncio.gather(self._presences.flush(self.store), return_exceptions=True)
        await self.store.close()
        await self.wake.close()

    def _hear(self, agents: frozenset[str]) -> None:
        self._identities.forget(agents)
        self._bells.ring(agents)

    # Who is who

    async def identify(self, *, key: str | None = None, name: str | None = None) -> Caller:
        """Who is calling, by key or, on an open server, by name. Any call is a sign of life."""
        caller = await self._identities.identify(key, name)
        self._presences.touch(caller.name)
        return caller

    def owner(self) -> Caller:
        """The owner, for a door that knows it has the owner before it."""
        return Caller(OWNER, verified=True, owner=True)

    async def register(
        self, name: str, card: Card | None = None, *, by: Caller | None = None, address: str | None = None
    ) -> tuple[str, str, str]:
        """Take a name. Gives the agent's id, its name, and its key, which is never shown again."""
        key = new_key()
        hash = key_hash(key)
        assert hash is not None
        checked = check_card(card or Card())
        owner = by is not None and by.owner
        id, known = await self.store.register(check_free(name), checked, hash, key_prefix(key), owner=owner, address=address)
        return id, known, key

    async def agent(self, name: str) -> Agent:
        """One agent as the directory shows it."""
        agent = await self.store.agent(check_name(name))
        if agent is None:
            raise await self._unknown(name)
        return self._with_presence(agent)

    async def agents(self, cursor: str | None = None, limit: int | None = None) -> Page[Agent]:
        """The directory."""
        page = await self.store.agents(self._ref(cursor or "", "cursor"), self._page(limit))
        return Page(tuple(map(self._with_presence, page.items)), page.cursor)

    async def update_card(self, caller: Caller, changes: dict[str, Any], *, of: str | None = None) -> Card:
        """Change what an agent says of itself; what is not given stays."""
        known = {field.name: field for field in msgspec.structs.fields(Card)}
        if unknown := changes.keys() - known:
            raise Invalid(what="card", why=f"it has no {min(unknown)!r}")
        try:
            checked = check_card(msgspec.convert(changes, Card))
        except msgspec.ValidationError as error:
            raise Invalid(what="card", why=str(error)) from None
        return await self.store.update_card(self._whose(caller, of), {field: getattr(checked, field) for field in changes})

    def heartbeat(self, caller: Caller) -> None:
        """Show that the agent is there."""
        self._presences.touch(caller.name)

    async def leave(self, caller: Caller) -> None:
        """Say that the agent is going: it is offline until its next call."""
        self._presences.leave(caller.name)
        await self._presences.flush(self.store)

    # Keys

    async def rotate_key(self, caller: Caller, *, of: str | None = None, overlap: timedelta | None = None) -> tuple[str, Key]:
        """A new key; the older ones end when the overlap is over."""
        name = self._key_holder(caller, of)
        span = bounded("overlap", overlap, self._limits.key_overlap, _NOW, _YEAR)
        return await self._issue(name, span)

    async def add_key(self, caller: Caller, *, of: str | None = None) -> tuple[str, Key]:
        """One key more; the others stay. Giving a keyless name its first key is the owner's to do."""
        return await self._issue(self._key_holder(caller, of), None)

    def _key_holder(self, caller: Caller, of: str | None) -> str:
        """Whoever merely says a name cannot lock it."""
        name = self._whose(caller, of)
        if not caller.owner and not caller.verified:
            raise OwnerOnly(what=f"give {name} its first key")
        return name

    async def _issue(self, name: str, overlap: timedelta | None) -> tuple[str, Key]:
        raw = new_key()
        hash = key_hash(raw)
        assert hash is not None
        return raw, await self.store.add_key(name, hash, key_prefix(raw), overlap)

    async def revoke_keys(self, caller: Caller, prefix: str | None = None, *, of: str | None = None) -> tuple[Key, ...]:
        """Take back the keys that begin so, or all."""
        return await self.store.revoke_keys(self._whose(caller, of), prefix)

    async def keys(self, caller: Caller, *, of: str | None = None) -> tuple[Key, ...]:
        """An agent's keys, each by its beginning only."""
        return await self.store.keys(self._whose(caller, of))

    # Consent

    async def request_connection(self, caller: Caller, target: str, note: str | None = None) -> Connection:
        """Ask another agent for a connection. The code in the answer goes from person to person."""
        if folded(check_name(target)) == folded(caller.name):
            raise ToOneself(name=caller.name)
        if note is not None:
            self._ref(note, "note", self._limits.note_chars)
        try:
            return await self.store.request_connection(caller.name, target, note)
        except NoSuchAgent:
            raise await self._unknown(target) from None

    async def approve_connection(self, caller: Caller, code: str) -> Connection:
        """Give consent by the code that was passed on."""
        read = read_code(code)
        if read is None:
            raise NoSuchCode
        return await self.store.approve_connection(caller.name, read, self.house.handshake, owner=caller.owner)

    async def approve_for(self, owner: Caller, id: str) -> Connection:
        """The owner gives consent without a code."""
        if not owner.owner:
            raise OwnerOnly(what="approve a request without its code")
        return await self.store.conclude_connection(owner.name, id, Status.ACTIVE, owner=True)

    async def reject_connection(self, caller: Caller, id: str) -> Connection:
        """Refuse a request, or take one's own back."""
        return self._shown(caller, await self.store.conclude_connection(caller.name, id, Status.REJECTED, owner=caller.owner))

    async def end_connection(self, caller: Caller, id: str) -> Connection:
        """End a connection; either side may."""
        return self._shown(caller, await self.store.conclude_connection(caller.name, id, Status.ENDED, owner=caller.owner))

    async def connections(
        self, caller: Caller, status: Status | None = None, cursor: str | None = None, limit: int | None = None, *, everyone: bool = False
    ) -> Page[Connection]:
        """The caller's requests and connections, newest first; the owner sees everyone's."""
        name = None if self._everyone(caller, wanted=everyone) else caller.name
        page = await self.store.connections(name, status, cursor, self._page(limit))
        return Page(tuple(self._shown(caller, item) for item in page.items), page.cursor)

    def _shown(self, caller: Caller, connection: Connection) -> Connection:
        if caller.owner or folded(connection.target) != folded(caller.name):
            return connection
        return as_target_sees(connection, self.house.handshake)

    # Sending

    async def send(self, caller: Caller, draft: Draft) -> Accepted:
        """Accept a message: to an agent, to many, to ALL, as a note, or forwarded. Durable when it returns."""
        checked = check_draft(draft, self._limits)
        if checked.type == TASK_UPDATE:
            raise BadMessage(field="type", why="a task is moved by updating it, not by a message")
        try:
            return await self.store.send(caller.name, checked, verified=caller.verified, strangers=self.house.auth is Auth.OPEN)
        except NoSuchAgent as error:
            raise await self._unknown(str(error.facts["name"])) from None

    async def send_many(self, caller: Caller, drafts: Sequence[Draft]) -> list[Accepted | BaseException]:
        """Accept several messages; each is accepted or refused by itself."""
        self._batch(drafts)
        return await asyncio.gather(*(self.send(caller, draft) for draft in drafts), return_exceptions=True)

    async def note(
        self, caller: Caller, entity_id: str, entity_type: str, note: str, notify: Sequence[str] = (), *, client_id: str | None = None
    ) -> Accepted:
        """Keep a note with an entity, and send it to whoever should know."""
        draft = Draft(
            to=tuple(notify), type=f"{entity_type}.note", content=note, ref_id=entity_id, ref_type=entity_type, client_id=client_id
        )
        return await self.send(caller, draft)

    # Taking and settling

    async def receive(
        self,
        caller: Caller,
        limit: int | None = None,
        *,
        visible_for: timedelta | None = None,
        settle: Sequence[Settlement] = (),
        tokenless: bool = False,
        one_per_session: bool = False,
        session_id: str | None = None,
        correlation_id: str | None = None,
    ) -> Turned:
        """Settle what was handled, and lease what waits."""
        wish = Wish(
            limit=bounded("limit", limit, self._limits.receive, 1, self._limits.batch),
            visible_for=self._visible(visible_for),
            tokenless=tokenless,
            one_per_session=one_per_session,
            session_id=session_id,
            correlation_id=None if correlation_id is None else self._ref(correlation_id, "correlation_id"),
        )
        return await self.store.turn(caller.name, self._settlements(settle), wish)

    async def wait(self, caller: Caller, limit: int | None = None, *, within: timedelta | None = None, **wish: Any) -> Turned:
        """Like receive, but wait for mail. A waiter that goes away leaves no lease behind."""
        patience = bounded("wait", within, self._limits.wait, _NOW, self._limits.wait_most)
        until = asyncio.get_running_loop().time() + patience.total_seconds()
        settled: tuple[Any, ...] = ()
        with self._bells.waiting(folded(caller.name)) as bell:
            while True:
                bell.still()
                turned = await self.receive(caller, limit, **wish)
                settled = settled or turned.settled
                wish.pop("settle", None)
                left = until - asyncio.get_running_loop().time()
                if turned.leased or left <= 0 or not await bell.rings(left) or self._closing:
                    return Turned(settled, turned.leased)

    async def pop(self, caller: Caller, limit: int = 1) -> tuple[Leased, ...]:
        """Take and settle in one act: at most once, by contract."""
        most = bounded("limit", limit, 1, 1, self._limits.batch)
        turned = await self.store.turn(caller.name, (), Wish(limit=most, visible_for=None, tokenless=True, pop=True))
        return turned.leased

    async def settle(self, caller: Caller, settlements: Sequence[Settlement]) -> tuple[Settled | Exception, ...]:
        """Ack, nack, extend or give back, each answered by itself."""
        return (await self.store.turn(caller.name, self._settlements(settlements), None)).settled

    async def ack(self, caller: Caller, ref: str, token: str | None = None) -> Settled:
        """Done with it."""
        return await self._settle_one(caller, Ack(ref, token))

    async def nack(
        self, caller: Caller, ref: str, token: str | None = None, *, delay: timedelta = _NOW, reason: str | None = None
    ) -> Settled:
        """Not done with it: give it back."""
        return await self._settle_one(caller, Nack(ref, token, delay, reason))

    async def extend(self, caller: Caller, ref: str, visible_for: timedelta | None = None, token: str | None = None) -> Settled:
        """Still at it: keep the lease longer."""
        return await self._settle_one(caller, Extend(ref, self._visible(visible_for), token))

    async def give_back(self, caller: Caller, leased: Sequence[Leased]) -> None:
        """Undo leases whose taker could not be told of them: no attempt was made."""
        await self.settle(caller, [GiveBack(item.message.id, item.token) for item in leased])

    async def _settle_one(self, caller: Caller, settlement: Settlement) -> Settled:
        (outcome,) = await self.settle(caller, [settlement])
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    # Reading

    async def inbox(
        self,
        caller: Caller,
        cursor: str | None = None,
        limit: int | None = None,
        *,
        unread_only: bool = False,
        lines: int = 3,
        of: str | None = None,
    ) -> Page[Thread]:
        """The agent's sessions, newest first, with what was said last. Settles nothing."""
        shown = bounded("lines", lines, 3, 0, self._limits.page)
        return await self.store.inbox(self._whose(caller, of), cursor, self._page(limit), unread_only=unread_only, lines=shown)

    async def history(
        self, caller: Caller, session_id: str, *, before: str | None = None, limit: int | None = None, peek: bool = False
    ) -> Thread:
        """A session's messages, newest first. What it shows is settled, tasks excepted, unless only peeking."""
        most = bounded("limit", limit, self._limits.page, 1, self._limits.page_most)
        if peek or caller.owner:
            return await self.store.peek_session(None if caller.owner else caller.name, session_id, before, most)
        return await self.store.read_session(caller.name, session_id, before, most)

    async def waiting(self, caller: Caller, cursor: str | None = None, limit: int | None = None, *, of: str | None = None) -> Page[Message]:
        """What waits, in the order it would be given out. Takes nothing."""
        return await self.store.waiting(self._whose(caller, of), cursor, self._page(limit))

    async def status(self, caller: Caller, ref: str) -> Proof:
        """Where a message stands, for whoever sent it, got it, or runs the server."""
        proofs = await self.store.proofs(self._ref(ref), None if caller.owner else caller.name)
        if not proofs:
            raise NoSuchMessage(name=caller.name, ref=ref)
        if len(proofs) > 1:
            raise AmbiguousId(ref=ref, name=caller.name)
        (proof,) = proofs
        me = folded(caller.name)
        if caller.owner or proof.message is None or folded(proof.message.sender) == me:
            return proof
        own = tuple(standing for standing in proof.standings if folded(standing.recipient) == me)
        return msgspec.structs.replace(proof, standings=own)

    async def search(
        self,
        caller: Caller,
        query: str,
        *,
        sender: str | None = None,
        recipient: str | None = None,
        session_id: str | None = None,
        type: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        cursor: str | None = None,
        limit: int | None = None,
        everyone: bool = False,
    ) -> Page[Found]:
        """Messages the caller sent or got that hold all these words, newest first."""
        self._ref(query, "query")
        if type is not None:
            self._ref(type, "type")
        filters = {
            "sender": None if sender is None else folded(check_name(sender)),
            "recipient": None if recipient is None else folded(check_name(recipient)),
            "session": session_id,
            "type": type,
            "since": _instant("since", since),
            "until": _instant("until", until),
        }
        reader = None if self._everyone(caller, wanted=everyone) else caller.name
        return await self.store.search(reader, query, filters, cursor, self._page(limit))

    async def notes(self, entity_id: str, cursor: str | None = None, limit: int | None = None) -> Page[Message]:
        """The notes kept with an entity, newest first."""
        return await self.store.notes(self._ref(entity_id), cursor, self._page(limit))

    async def entities(self, cursor: str | None = None, limit: int | None = None) -> Page[Entity]:
        """What notes are about."""
        return await self.store.entities(self._ref(cursor or "", "cursor"), self._page(limit))

    # Dead letters

    async def dead_letters(
        self, caller: Caller, cursor: str | None = None, limit: int | None = None, *, of: str | None = None, everyone: bool = False
    ) -> Page[DeadLetter]:
        """What could not be delivered, and why."""
        name = None if self._everyone(caller, wanted=everyone) else self._whose(caller, of)
        return await self.store.dead_letters(name, cursor, self._page(limit))

    async def requeue(self, caller: Caller, ref: str, *, of: str | None = None) -> Settled:
        """Give a dead letter another life, with all its tries."""
        return await self.store.requeue(self._whose(caller, of), self._ref(ref))

    async def discard(self, caller: Caller, ref: str, *, of: str | None = None) -> Settled:
        """Be done with a dead letter."""
        return await self.store.discard(self._whose(caller, of), self._ref(ref))

    # Tasks

    async def update_task(self, caller: Caller, ref: str, state: TaskState, report: Draft | None = None) -> Task:
        """Move a task, as its assignee; the requester gets a task_update with the task's callback."""
        given = report or Draft(to=caller.name, content="")
        checked = check_draft(msgspec.structs.replace(given, type=TASK_UPDATE, task=None), self._limits)
        return await self.store.move_task(caller.name, self._ref(ref), state, checked, verified=caller.verified)

    async def tasks(
        self,
        caller: Caller,
        *,
        assignee: str | None = None,
        requester: str | None = None,
        state: TaskState | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> Page[Task]:
        """Tasks asked of the caller or by it; those asked of it unless told otherwise. The owner sees any."""
        me = folded(caller.name)
        for name in (assignee, requester):
            if name is not None:
                check_name(name)
        if not caller.owner:
            if assignee is None and requester is None:
                assignee = caller.name
            if me not in (folded(assignee or ""), folded(requester or "")):
                raise Forbidden(name=caller.name, why="it sees only tasks asked of it or by it")
        return await self.store.tasks(assignee=assignee, requester=requester, state=state, before=cursor, limit=self._page(limit))

    async def task(self, caller: Caller, ref: str) -> Task:
        """One task, for either side of it."""
        me = folded(caller.name)
        found = await self.store.tasks_named(self._ref(ref))
        mine = [task for task in found if caller.owner or me in (folded(task.requester), folded(task.assignee))]
        if not mine:
            raise NoSuchTask(task=ref, name=caller.name)
        if len(mine) > 1:
            raise AmbiguousId(ref=ref, name=caller.name)
        return mine[0]

    # News and numbers

    async def news(self, caller: Caller, after: int = 0, limit: int | None = None, *, within: timedelta = _NOW) -> list[Event]:
        """The agent's log after a number; waits for something to happen if nothing has."""
        most = self._page(limit)
        if not 0 <= after < _LAST_NUMBER:
            raise BadCursor(cursor=after)
        until = asyncio.get_running_loop().time() + bounded("wait", within, _NOW, _NOW, self._limits.wait_most).total_seconds()
        with self._bells.waiting(folded(caller.name), after) as bell:
            while True:
                bell.still()
                events = await self.store.events(caller.name, after, most)
                left = until - asyncio.get_running_loop().time()
                if events or left <= 0 or not await bell.rings(left) or self._closing:
                    return events

    async def all_news(self, owner: Caller, after: str = "0", limit: int | None = None) -> list[Event]:
        """Everyone's log, for the owner, after a cursor it gave."""
        if not owner.owner:
            raise OwnerOnly(what="read everyone's news")
        return await self.store.all_events(self._ref(after, "cursor"), self._page(limit))

    async def counts(self, caller: Caller, *, of: str | None = None) -> MailboxCounts:
        """One mailbox in numbers."""
        return await self.store.counts(self._whose(caller, of))

    async def totals(self) -> Totals:
        """The whole office in numbers."""
        return await self.store.totals()

    # What verbs share

    def _whose(self, caller: Caller, of: str | None) -> str:
        """Whose mailbox a verb is about: the caller's own, or, for the owner, anybody's."""
        if of is None or folded(of) == folded(caller.name):
            return caller.name
        if not caller.owner:
            raise OwnerOnly(what=f"see or change what is {of}'s")
        return check_name(of)

    def _everyone(self, caller: Caller, *, wanted: bool) -> bool:
        if wanted and not caller.owner:
            raise OwnerOnly(what="look over everyone's mail")
        return wanted

    def _page(self, limit: int | None) -> int:
        return bounded("limit", limit, self._limits.page, 1, self._limits.page_most)

    def _visible(self, visible_for: timedelta | None) -> timedelta:
        limits = self._limits
        return bounded("visible_for", visible_for, limits.visibility, limits.visibility_least, limits.visibility_most)

    def _ref(self, text: str, what: str = "id", most: int | None = None) -> str:
        """Text from outside that names something, if anything could be named so."""
        most = most or self._limits.id_chars
        if len(text) > most:
            raise TooLarge(what=what, size=f"{len(text)} characters", limit=most)
        check_text(text, what)
        return text

    def _batch(self, items: Sequence[object]) -> None:
        if len(items) > self._limits.batch:
            raise Invalid(what="batch", why=f"it has {len(items)} items, more than {self._limits.batch}")

    def _settlements(self, settlements: Sequence[Settlement]) -> tuple[Settlement, ...]:
        self._batch(settlements)
        for settlement in settlements:
            self._ref(settlement.ref)
            if isinstance(settlement, Extend):
                self._visible(settlement.visible_for)
            if isinstance(settlement, Nack):
                bounded("delay", settlement.delay, _NOW, _NOW, self._limits.visibility_most)
                self._ref(settlement.reason or "", "reason", self._limits.note_chars)
        return tuple(settlements)

    def _with_presence(self, agent: Agent) -> Agent:
        """Count the signs of life that are not written down yet."""
        silent_for = self._presences.silent_for(agent.name)
        if silent_for is None:
            return agent
        now = presence(silent_for, len(agent.current_tasks), self._limits.heartbeat_timeout)
        return msgspec.structs.replace(agent, presence=now)

    async def _unknown(self, name: str) -> NoSuchAgent:
        """A refusal that names the fix."""
        close = difflib.get_close_matches(folded(name), [folded(known) for known in await self.store.names()], 1)
        return NoSuchAgent(name=name, hint=f"did you mean {close[0]!r}" if close else "see who is in the directory")


def _instant(what: str, at: datetime | None) -> int | None:
    if at is None:
        return None
    if at.tzinfo is None:
        raise Invalid(what=what, why="it needs a time zone")
    return micros(at)
