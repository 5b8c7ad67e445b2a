"""What both engines are: a store whose acts are committed in groups and whose reads are named queries."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from typing import Any, TypeVar

import msgspec

from postoffice.core.agent import Agent, Card, Key, presence
from postoffice.core.clock import Clock, is_id, micros, moment
from postoffice.core.connection import Connection, Handshake, Status
from postoffice.core.delivery import GiveBack, Settled, Settlement, Standing, State, Wish
from postoffice.core.errors import BadCursor, BadQuery, Closed, MailError, NoSuchAgent, NoSuchSession
from postoffice.core.event import Event, Kind
from postoffice.core.limits import Limits
from postoffice.core.message import Accepted, Draft, Message
from postoffice.core.names import folded
from postoffice.core.session import Thread
from postoffice.core.task import Task, TaskState
from postoffice.core.views import DeadLetter, Entity, Found, MailboxCounts, Page, Proof, Totals
from postoffice.store.acts.act import Act
from postoffice.store.acts.agent import AddKey, Appear, Register, RevokeKeys, Seen, UpdateCard, as_key
from postoffice.store.acts.connection import Approve, Conclude, Request, connection_of
from postoffice.store.acts.letters import Discard, Release, Requeue
from postoffice.store.acts.read import ReadSession, as_thread, check_reader
from postoffice.store.acts.send import Send
from postoffice.store.acts.sweep import ExpireRequests, ReportOverdue, ReturnDue
from postoffice.store.acts.task import MoveTask, as_task
from postoffice.store.acts.turn import Turn, Turned
from postoffice.store.acts.upkeep import Forget, HoldRole, IndexSearch, Purge
from postoffice.store.rows import Box, ConnectionRow, DeliveryRow, KeyRow, TaskRow, ThreadRow
from postoffice.store.steps import Row

R = TypeVar("R")
T = TypeVar("T")
_message = msgspec.json.Decoder(Message).decode
_END = 2**62  # after every number
_DIGITS = 18
_CATCH_UP = 1000
_LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff"
FILTERS = ("sender", "recipient", "session", "type", "since", "until")


class GroupedStore:
    """A Store, but for how a group is committed and a query is run: those are the engine's."""

    def __init__(self, clock: Clock, limits: Limits) -> None:
        self.clock = clock
        self.limits = limits
        self._closing = True  # until it is open

    def put(self, act: Act[R]) -> "asyncio.Future[R]":
        """Have the act done with whatever else is waiting; the answer comes when that is on disk."""
        raise NotImplementedError

    def enqueue(self, act: Act[R]) -> "asyncio.Future[R]":
        """The same, for those outside: nothing is begun once the store is closing."""
        if self._closing:
            raise Closed
        return self.put(act)

    def check_cursor(self, cursor: str) -> None:
        """Refuse what is not a cursor of the whole log."""
        raise NotImplementedError

    async def submit(self, act: Act[R]) -> R:
        """Do the act."""
        return await self.enqueue(act)

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
        if isinstance(act, Turn) and isinstance(outcome, Turned) and act.wish is not None and not act.wish.pop and outcome.leased:
            back = tuple(GiveBack(leased.message.id, leased.token) for leased in outcome.leased)
            # Nobody waits for this; should it fail, the leases run out by themselves.
            self.put(Turn(act.mailbox, back)).add_done_callback(lambda future: future.cancelled() or future.exception())

    async def fetch(self, name: str, **parameters: object) -> Sequence[Row]:
        """The rows of a named query."""
        raise NotImplementedError

    def search_query(self, query: str) -> str | None:
        """The query in the engine's own words; None if nothing is left to look for."""
        raise NotImplementedError

    # Agents and keys

    async def register(self, name: str, card: Card, hash: str, prefix: str, *, owner: bool, address: str | None = None) -> tuple[str, str]:
        return await self.submit(Register(name, card, hash, prefix, owner=owner, address=address))

    async def appear(self, name: str) -> str:
        return await self.submit(Appear(name))

    async def update_card(self, name: str, changes: dict[str, object]) -> Card:
        return await self.submit(UpdateCard(name, changes))

    async def seen(self, ages: dict[str, timedelta | None]) -> None:
        await self.submit(Seen(ages))

    async def add_key(self, name: str, hash: str, prefix: str, overlap: timedelta | None) -> Key:
        return await self.submit(AddKey(name, hash, prefix, overlap))

    async def revoke_keys(self, name: str, prefix: str | None) -> tuple[Key, ...]:
        return await self.submit(RevokeKeys(name, prefix))

    async def find_key(self, hash: str) -> str | None:
        for name, expires_at, revoked_at, now in await self.fetch("find_key", hash=hash):
            if revoked_at is None and (expires_at is None or expires_at > now):
                return str(name)
        return None

    async def keys(self, name: str) -> tuple[Key, ...]:
        return tuple(as_key(KeyRow(*row[:-1]), row[-1]) for row in await self.fetch("keys", agent=folded(name)))

    async def agent(self, name: str) -> Agent | None:
        rows = await self.fetch("agent", agent=folded(name))
        return await self._as_agent(rows[0]) if rows else None

    async def agents(self, after: str, limit: int) -> Page[Agent]:
        rows = await self.fetch("agents", after=folded(after), limit=limit + 1)
        items = [await self._as_agent(row) for row in rows[:limit]]
        return _page(items, rows, limit, lambda row: row[0])

    async def _as_agent(self, row: Row) -> Agent:
        box = Box.of(row[:-1])
        tasks = tuple(id for (id,) in await self.fetch("tasks_under_way", agent=box.agent))
        silent_for = None if box.last_seen is None else timedelta(microseconds=row[-1] - box.last_seen)
        return Agent(
            id=box.id,
            name=box.name,
            card=box.card,
            presence=presence(silent_for, len(tasks), self.limits.heartbeat_timeout),
            current_tasks=tasks,
            unread=box.held + box.pending,
            leased=box.leased,
            dead=box.dead,
            has_key=bool(box.has_key),
            acted=bool(box.acted),
            created_at=moment(box.created_at),
            last_seen=None if box.last_seen is None else moment(box.last_seen),
        )

    async def names(self) -> list[str]:
        return [name for (name,) in await self.fetch("names")]

    # Consent

    async def request_connection(self, requester: str, target: str, note: str | None) -> Connection:
        return await self.submit(Request(requester, target, note))

    async def approve_connection(self, approver: str, code: str, handshake: Handshake, *, owner: bool) -> Connection:
        answer = await self.submit(Approve(approver, code, handshake, owner=owner))
        if isinstance(answer, MailError):
            raise answer
        return answer

    async def conclude_connection(self, caller: str, id: str, status: Status, *, owner: bool) -> Connection:
        return await self.submit(Conclude(caller, id, status, owner=owner))

    async def connections(self, name: str | None, status: Status | None, before: str | None, limit: int) -> Page[Connection]:
        agent = None if name is None else folded(name)
        rows = await self.fetch("connections", agent=agent, status=status, before=_id(before), limit=limit + 1)
        items = [connection_of(ConnectionRow(*row[:-2]), row[-2], row[-1]) for row in rows[:limit]]
        return _page(items, rows, limit, lambda row: row[0])

    async def connection(self, id: str) -> Connection | None:
        rows = await self.fetch("connection", id=id) if is_id(id) else ()
        return connection_of(ConnectionRow(*rows[0][:-2]), *rows[0][-2:]) if rows else None

    # Mail

    async def send(self, sender: str, draft: Draft, *, verified: bool, strangers: bool) -> Accepted:
        return await self.submit(Send(sender, draft, verified=verified, strangers=strangers))

    async def turn(self, mailbox: str, settlements: tuple[Settlement, ...], wish: Wish | None) -> Turned:
        act = Turn(mailbox, settlements, wish)
        future = self.enqueue(act)
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
            raise NoSuchSession(session=session_id)
        return await self.submit(ReadSession(reader, session_id, await self._number(session_id, before), limit))

    async def peek_session(self, reader: str | None, session_id: str, before: str | None, limit: int) -> Thread:
        if not is_id(session_id):
            raise NoSuchSession(session=session_id)
        rows = await self.fetch("session", id=session_id)
        thread = ThreadRow(*rows[0]) if rows else None
        # The owner looks over one member's shoulder.
        looking = folded(reader) if reader is not None else thread.low if thread is not None else ""
        check_reader(thread, session_id, looking)
        assert thread is not None
        before_number = await self._number(session_id, before)
        lines = await self.fetch("session_lines", session=session_id, before=before_number, limit=limit)
        other = await self._name(thread.high if looking == thread.low else thread.low)
        return as_thread(thread, looking, other, [DeliveryRow(*row) for row in lines])

    async def _number(self, session_id: str, before: str | None) -> int:
        if before is None:
            return _END
        rows = await self.fetch("session_number", session=session_id, message=before) if is_id(before) and is_id(session_id) else ()
        if not rows:
            raise BadCursor(cursor=before)
        return int(rows[0][0])

    async def inbox(self, name: str, cursor: str | None, limit: int, *, unread_only: bool, lines: int) -> Page[Thread]:
        at, id = _pair(cursor) if cursor is not None else (_END, _LAST_ID)
        _id(id)
        query = "inbox_unread" if unread_only else "inbox"
        agent = folded(name)
        rows = await self.fetch(query, agent=agent, before=at, before_id=id, limit=limit + 1)
        threads = [(ThreadRow(*row[:-1]), row[-1]) for row in rows[:limit]]
        recent: dict[str, list[DeliveryRow]] = {}
        if lines and threads:
            # A session counts its messages, so its last ones are known by number.
            keys = [(thread.id, thread.counted - lines) for thread, _ in threads]
            for row in await self.fetch_each("recent_lines", keys):
                line = DeliveryRow(*row)
                recent.setdefault(line.session_id or "", []).append(line)
        items = [as_thread(thread, agent, other, recent.get(thread.id, [])) for thread, other in threads]
        return _page(items, rows, limit, lambda row: f"{row[-2]}.{row[0]}")

    async def fetch_each(self, name: str, keys: list[Row]) -> Sequence[Row]:
        """The rows of a named query for each key, in the order of the keys."""
        raise NotImplementedError

    async def waiting(self, name: str, cursor: str | None, limit: int) -> Page[Message]:
        priority, rest = _pair(cursor) if cursor is not None else (0, "0")
        number, _ = _pair(f"{rest}.")
        rows = await self.fetch("mailbox", agent=folded(name), priority=priority, number=number, limit=limit + 1)
        return _page([_message(row[-1]) for row in rows[:limit]], rows, limit, lambda row: f"{row[4]}.{row[3]}")

    async def dead_letters(self, name: str | None, cursor: str | None, limit: int) -> Page[DeadLetter]:
        if name is None:
            id, _, mailbox = (cursor or f"{_LAST_ID}.").partition(".")
            rows = await self.fetch("all_dead_letters", before=_id(id), before_mailbox=mailbox, limit=limit + 1)
        else:
            before = _END if cursor is None else _pair(f"{cursor}.")[0]
            rows = await self.fetch("dead_letters", agent=folded(name), before=before, limit=limit + 1)
        items = []
        for row in rows[:limit]:
            d = DeliveryRow(*row[:-1])
            standing = _standing((row[-1], d.state, d.attempts, d.number, d.session_id, d.due_at, d.settled_at, d.reason))
            items.append(DeadLetter(_message(d.body), standing))
        return _page(items, rows, limit, lambda row: f"{row[1]}.{row[2]}" if name is None else str(row[3]))

    async def proofs(self, ref: str, reader: str | None) -> list[Proof]:
        me = None if reader is None else folded(reader)
        bodies = await self.fetch("message_by_id", id=ref, reader=me) if is_id(ref) else ()
        # As everywhere, the office's id names a message before any sender's id can.
        if not bodies:
            bodies = await self.fetch("messages_by_client_id", client_id=ref, reader=me)
        if not bodies and is_id(ref):
            return [
                Proof(message_id=ref, message=None, standings=(), purged_at=moment(purged_at))
                for (purged_at,) in await self.fetch("tombstone", id=ref, reader=me)
            ]
        proofs = []
        for (body,) in bodies:
            message = _message(body)
            standings = await self.fetch("standings", id=message.id)
            proofs.append(Proof(message_id=message.id, message=message, standings=tuple(_standing(row) for row in standings)))
        return proofs

    async def search(self, reader: str | None, query: str, filters: dict[str, Any], cursor: str | None, limit: int) -> Page[Found]:
        words = self.search_query(query)
        if words is None:
            raise BadQuery(query=query)
        # What was said a moment ago is found too: the index catches up before it is asked.
        while await self.index_search(_CATCH_UP) == _CATCH_UP:
            pass
        parameters = {name: filters.get(name) for name in FILTERS}
        if parameters["session"] is not None and not is_id(parameters["session"]):
            raise NoSuchSession(session=parameters["session"])
        rows = await self.fetch(
            "search",
            query=words,
            reader=None if reader is None else folded(reader),
            before=_id(cursor),
            limit=limit + 1,
            **parameters,
        )
        found = [Found(_message(body), excerpt) for body, excerpt in rows]
        return Page(tuple(found[:limit]), found[limit - 1].message.id if len(found) > limit else None)

    async def notes(self, entity: str, cursor: str | None, limit: int) -> Page[Message]:
        return _letters(await self.fetch("notes", entity=entity, before=_id(cursor), limit=limit + 1), limit)

    async def about(self, entity: str, reader: str | None, cursor: str | None, limit: int) -> Page[Message]:
        me = None if reader is None else folded(reader)
        return _letters(await self.fetch("about_entity", entity=entity, reader=me, before=_id(cursor), limit=limit + 1), limit)

    async def entities(self, cursor: str | None, limit: int) -> Page[Entity]:
        rows = await self.fetch("all_entities", after=cursor or "", limit=limit + 1)
        items = [Entity(id=r[0], type=r[1], notes=r[2], created_at=moment(r[3]), last_at=moment(r[4])) for r in rows[:limit]]
        return _page(items, rows, limit, lambda row: row[0])

    # Tasks

    async def move_task(self, caller: str, ref: str, wanted: TaskState, report: Draft, *, verified: bool) -> Task:
        return await self.submit(MoveTask(caller, ref, wanted, report, verified=verified))

    async def tasks(
        self,
        *,
        assignee: str | None = None,
        requester: str | None = None,
        state: TaskState | None = None,
        before: str | None = None,
        limit: int,
    ) -> Page[Task]:
        rows = await self.fetch(
            "tasks",
            assignee=None if assignee is None else folded(assignee),
            requester=None if requester is None else folded(requester),
            state=state,
            before=_id(before),
            limit=limit + 1,
        )
        items = [as_task(TaskRow(*row[:-2]), {row[2]: row[-2], row[3]: row[-1]}) for row in rows[:limit]]
        return _page(items, rows, limit, lambda row: row[0])

    async def tasks_named(self, ref: str) -> list[Task]:
        found = [TaskRow(*row) for row in await self.fetch_each("tasks_by_ref", [(ref,)])]
        names = {agent: await self._name(agent) for task in found for agent in (task.requester, task.assignee)}
        return [as_task(task, names) for task in found]

    async def _name(self, agent: str) -> str:
        rows = await self.fetch("agent", agent=agent)
        return str(rows[0][1]) if rows else agent

    # News

    async def events(self, name: str, after: int, limit: int) -> list[Event]:
        rows = await self.fetch("events", agent=folded(name), after=after, limit=limit)
        return [_event(row, str(row[1]), None if row[7] is None else _message(row[7]), row[6]) for row in rows]

    async def all_events(self, after: str, limit: int) -> list[Event]:
        self.check_cursor(after)
        return [_event(row, row[-1]) for row in await self.fetch("all_events", after=after, limit=limit)]

    async def last_event(self) -> str:
        return str((await self.fetch("last_event"))[0][0])

    async def look(self, agents: Iterable[str]) -> dict[str, tuple[int, int]]:
        rows = await self.fetch("look", agents=[folded(name) for name in agents])
        return {agent: (pending, counted) for agent, pending, counted in rows}

    async def totals(self) -> Totals:
        agents, held, pending, leased, dead, counted, _ = (await self.fetch("totals"))[0]
        return Totals(agents=agents, held=int(held), pending=int(pending), leased=int(leased), dead=int(dead), counted=int(counted))

    async def counts(self, name: str) -> MailboxCounts:
        rows = await self.fetch("agent", agent=folded(name))
        if not rows:
            raise NoSuchAgent(name=name, hint="check the name")
        box = Box.of(rows[0][:-1])
        ((oldest,),) = await self.fetch("oldest", agent=box.agent)
        return MailboxCounts(
            held=box.held,
            pending=box.pending,
            leased=box.leased,
            dead=box.dead,
            counted=box.counted,
            oldest_waiting=None if oldest is None else timedelta(microseconds=rows[0][-1] - oldest),
        )

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
        mail = tuple((id, mailbox) for id, mailbox in await self.fetch("purgeable", age=micros(older_than), limit=limit))
        return await self.submit(Purge(mail, older_than)) if mail else 0

    async def forget(self, retention: timedelta | None) -> None:
        await self.submit(Forget(retention))


def _id(cursor: str | None) -> str | None:
    if cursor is not None and not is_id(cursor):
        raise BadCursor(cursor=cursor)
    return cursor


def _pair(cursor: str) -> tuple[int, str]:
    """A cursor of two parts: a number and whatever breaks its ties."""
    number, dot, rest = cursor.partition(".")
    if not dot or not number.isdecimal() or len(number) > _DIGITS:
        raise BadCursor(cursor=cursor)
    return int(number), rest


def _page(items: Sequence[T], rows: Sequence[Row], limit: int, cursor: Callable[[Row], str]) -> Page[T]:
    """One row more than asked for was read: it says that there is more."""
    return Page(tuple(items), cursor(rows[limit - 1]) if len(rows) > limit else None)


def _letters(rows: Sequence[Row], limit: int) -> Page[Message]:
    messages = [_message(body) for (body,) in rows]
    return Page(tuple(messages[:limit]), messages[limit - 1].id if len(messages) > limit else None)


def _standing(row: Row) -> Standing:
    name, state, attempts, number, session_id, due_at, settled_at, reason = row
    return Standing(
        recipient=name,
        state=State(state),
        attempts=attempts,
        number=number,
        session_id=session_id,
        due_at=None if due_at is None else moment(due_at),
        settled_at=None if settled_at is None else moment(settled_at),
        reason=reason,
    )


def _event(row: Row, cursor: str, message: Message | None = None, session_id: str | None = None) -> Event:
    agent, number, kind, ref, data, at = row[:6]
    return Event(
        agent=agent,
        number=number,
        cursor=cursor,
        kind=Kind(kind),
        ref=ref,
        at=moment(at),
        data=msgspec.json.decode(data),
        message=message,
        session_id=session_id,
    )
