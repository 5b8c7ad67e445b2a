"""What a store can be asked: named queries, and the values their rows become."""

from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from typing import Any, TypeVar

import msgspec

from postoffice.acts.mail.session import Held, as_thread, check_reader, standing_of
from postoffice.acts.people.agents import as_key
from postoffice.acts.people.connections import connection_of
from postoffice.acts.rows import Box, ConnectionRow, DeliveryRow, KeyRow, Row, TaskRow, ThreadRow
from postoffice.acts.tasks.move import as_task
from postoffice.core.agent import Agent, Key, presence
from postoffice.core.clock import is_id, moment
from postoffice.core.connection import Connection, Status
from postoffice.core.delivery import Lent, Standing, State
from postoffice.core.errors import BadCursor, BadQuery, NoSuchAgent, NoSuchSession
from postoffice.core.event import Event, Kind
from postoffice.core.limits import Limits
from postoffice.core.message import Message
from postoffice.core.names import folded
from postoffice.core.session import Line, Thread
from postoffice.core.task import Task, TaskState
from postoffice.core.views import DeadLetter, Entity, Found, MailboxCounts, Page, Proof, Totals

T = TypeVar("T")
_message = msgspec.json.Decoder(Message).decode
_END = 2**62  # after every number
_DIGITS = 18
_CONNECTIONS = {
    (False, False): "connections",
    (False, True): "requests",
    (True, False): "connections_of",
    (True, True): "requests_with",
}
_TASKS = {(False, False): "tasks", (True, False): "tasks_asked_of", (False, True): "tasks_asked_by", (True, True): "tasks_between"}
_CATCH_UP = 1000
_MANY = 2000
_LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff"
FILTERS = ("sender", "recipient", "session", "type", "since", "until")


class Reads:
    """The reading half of a store; how a query is run is the engine's."""

    limits: Limits

    async def index_search(self, limit: int = 200) -> int:
        """Catch up with what was said and is not yet in the index."""
        raise NotImplementedError

    def check_cursor(self, cursor: str) -> None:
        """Refuse what is not a cursor of the whole log."""
        raise NotImplementedError

    async def fetch(self, name: str, **parameters: object) -> Sequence[Row]:
        """The rows of a named query."""
        raise NotImplementedError

    async def fetch_each(self, name: str, keys: list[Row]) -> Sequence[Row]:
        """The rows of a named query for each key, in the order of the keys."""
        raise NotImplementedError

    def search_query(self, query: str) -> str | None:
        """The query in the engine's own words; None if nothing is left to look for."""
        raise NotImplementedError

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
        return page_of(items, rows, limit, lambda row: row[0])

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
            unread=box.pending,
            leased=box.leased,
            dead=box.dead,
            has_key=bool(box.has_key),
            acted=bool(box.acted),
            created_at=moment(box.created_at),
            last_seen=None if box.last_seen is None else moment(box.last_seen),
        )

    async def names_near(self, name: str, limit: int) -> list[str]:
        return [known for (known,) in await self.fetch("names_near", agent=folded(name), limit=limit)]

    async def connections(self, name: str | None, status: Status | None, before: str | None, limit: int) -> Page[Connection]:
        agent = None if name is None else folded(name)
        rows = await self.fetch(
            _CONNECTIONS[agent is not None, status is Status.PENDING], agent=agent, status=status, before=id_cursor(before), limit=limit + 1
        )
        items = [connection_of(ConnectionRow(*row[:-2]), row[-2], row[-1]) for row in rows[:limit]]
        return page_of(items, rows, limit, lambda row: row[0])

    async def connection(self, id: str) -> Connection | None:
        rows = await self.fetch("connection", id=id) if is_id(id) else ()
        return connection_of(ConnectionRow(*rows[0][:-2]), *rows[0][-2:]) if rows else None

    async def peek_session(self, reader: str | None, session_id: str, before: str | None, limit: int) -> Thread:
        rows = await self.fetch("session", id=session_id) if is_id(session_id) else ()
        thread = ThreadRow(*rows[0]) if rows else None
        if reader is None and thread is None:
            raise NoSuchSession(session=session_id)
        # The owner looks over one member's shoulder.
        looking = folded(reader) if reader is not None else thread.low if thread is not None else ""
        ((held, hidden, last_at),) = await self.fetch_each("held_in", [(session_id, looking)]) if thread is not None else ((0, 0, None),)
        told = Held(held, hidden if reader is not None else 0, last_at)
        check_reader(thread, session_id, looking, told.hidden)
        assert thread is not None
        before_number = await self._number(session_id, before)
        lines = await self.fetch_each("lines", [(session_id, before_number, limit, "" if reader is None else looking)])
        other = await self._name(thread.high if looking == thread.low else thread.low)
        shown = as_thread(thread, looking, other, [DeliveryRow(*row) for row in lines], told)
        return msgspec.structs.replace(shown, reader=await self._name(looking))

    async def _number(self, session_id: str, before: str | None) -> int:
        if before is None:
            return _END
        rows = await self.fetch("session_number", session=session_id, message=before) if is_id(before) and is_id(session_id) else ()
        if not rows:
            raise BadCursor(cursor=before)
        return int(rows[0][0])

    async def inbox(self, name: str, cursor: str | None, limit: int, *, unread_only: bool, lines: int) -> Page[Thread]:
        at, id = _pair(cursor) if cursor is not None else (_END, _LAST_ID)
        id_cursor(id)
        query = "inbox" if not unread_only else "inbox_unread_of_many" if await self._many_wait(name) else "inbox_unread"
        threads: dict[str, list[Row]] = {}
        for row in await self.fetch(query, agent=folded(name), before=at, before_id=id, limit=limit + 1, lines=lines):
            threads.setdefault(row[0], []).append(row)
        sessions = list(threads.values())
        found = [await self._let_through(rows, folded(name), lines) if rows[0][6] else _thread(rows) for rows in sessions[:limit]]
        items = [thread for thread in found if thread is not None and (thread.unread or not unread_only)]
        return Page(tuple(items), f"{sessions[limit - 1][0][5]}.{sessions[limit - 1][0][0]}" if len(sessions) > limit else None)

    async def _let_through(self, rows: list[Row], reader: str, lines: int) -> Thread | None:
        """A session some of which is held back from its reader, who is not to see by its last lines that something is; None if all of it is."""
        last = [DeliveryRow(*row) for row in await self.fetch_each("lines", [(rows[0][0], _END, max(lines, 1), reader)])]
        if not last:
            return None
        shown = tuple(Line(message=d.read(), to=d.mailbox, state=State(d.state), number=d.session_number or 0) for d in last[:lines])
        return msgspec.structs.replace(_thread(rows), last_message_at=moment(last[0].created_at), lines=shown)

    async def _many_wait(self, name: str) -> bool:
        return any(pending > _MANY for pending, _ in (await self.look([name])).values())

    async def waiting(self, name: str, cursor: str | None, limit: int, *, outside: bool = False) -> Page[Message]:
        priority, rest = _pair(cursor) if cursor is not None else (0, "0")
        number, _ = _pair(f"{rest}.")
        query = "mailbox_outside" if outside else "mailbox"
        rows = await self.fetch(query, agent=folded(name), priority=priority, number=number, limit=limit + 1)
        return page_of([_message(row[-1]) for row in rows[:limit]], rows, limit, lambda row: f"{row[4]}.{row[3]}")

    async def lent(self, name: str, cursor: str | None, limit: int) -> Page[Lent]:
        after = 0 if cursor is None else _pair(f"{cursor}.")[0]
        rows = [DeliveryRow(*row) for row in await self.fetch("lent", agent=folded(name), after=after, limit=limit + 1)]
        items = [
            Lent(
                message=row.read(),
                token=row.token or "",
                session_id=row.session_id,
                attempt=row.attempts,
                number=row.number,
                where=row.reason,
            )
            for row in rows[:limit]
        ]
        return Page(tuple(items), str(rows[limit - 1].number) if len(rows) > limit else None)

    async def borrowers(self) -> tuple[str, ...]:
        return tuple(name for (name,) in await self.fetch("borrowers"))

    async def dead_letters(self, name: str | None, cursor: str | None, limit: int) -> Page[DeadLetter]:
        if name is None:
            id, _, mailbox = (cursor or f"{_LAST_ID}.").partition(".")
            rows = await self.fetch("all_dead_letters", before=id_cursor(id), before_mailbox=mailbox, limit=limit + 1)
        else:
            before = _END if cursor is None else _pair(f"{cursor}.")[0]
            rows = await self.fetch("dead_letters", agent=folded(name), before=before, limit=limit + 1)
        items = []
        for row in rows[:limit]:
            d = DeliveryRow(*row[:-1])
            items.append(DeadLetter(_message(d.body), msgspec.structs.replace(standing_of(d), recipient=row[-1])))
        return page_of(items, rows, limit, lambda row: f"{row[1]}.{row[2]}" if name is None else str(row[3]))

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
            before=id_cursor(cursor),
            limit=limit + 1,
            **parameters,
        )
        found = [Found(_message(body), excerpt) for body, excerpt in rows]
        return Page(tuple(found[:limit]), found[limit - 1].message.id if len(found) > limit else None)

    async def notes(self, entity: str, cursor: str | None, limit: int) -> Page[Message]:
        return _letters(await self.fetch("notes", entity=entity, before=id_cursor(cursor), limit=limit + 1), limit)

    async def about(self, entity: str, reader: str | None, cursor: str | None, limit: int) -> Page[Message]:
        me = None if reader is None else folded(reader)
        return _letters(await self.fetch("about_entity", entity=entity, reader=me, before=id_cursor(cursor), limit=limit + 1), limit)

    async def entities(self, cursor: str | None, limit: int) -> Page[Entity]:
        rows = await self.fetch("all_entities", after=cursor or "", limit=limit + 1)
        items = [Entity(id=r[0], type=r[1], notes=r[2], created_at=moment(r[3]), last_at=moment(r[4])) for r in rows[:limit]]
        return page_of(items, rows, limit, lambda row: row[0])

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
            _TASKS[assignee is not None, requester is not None],
            assignee=None if assignee is None else folded(assignee),
            requester=None if requester is None else folded(requester),
            state=state,
            before=id_cursor(before),
            limit=limit + 1,
        )
        items = [as_task(TaskRow(*row[:-2]), {row[2]: row[-2], row[3]: row[-1]}) for row in rows[:limit]]
        return page_of(items, rows, limit, lambda row: row[0])

    async def tasks_named(self, ref: str) -> list[Task]:
        found = [TaskRow(*row) for row in await self.fetch_each("tasks_by_ref", [(ref,)])]
        names = {agent: await self._name(agent) for task in found for agent in (task.requester, task.assignee)}
        return [as_task(task, names) for task in found]

    async def _name(self, agent: str) -> str:
        rows = await self.fetch("agent", agent=agent)
        return str(rows[0][1]) if rows else agent

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


def id_cursor(cursor: str | None, none: str = _LAST_ID) -> str:
    """A cursor that is an id. Without one everything is asked for: all that is before the last id there can be."""
    if cursor is None:
        return none
    if not is_id(cursor):
        raise BadCursor(cursor=cursor)
    return cursor


def _pair(cursor: str) -> tuple[int, str]:
    """A cursor of two parts: a number and whatever breaks its ties."""
    number, dot, rest = cursor.partition(".")
    if not dot or not number.isdecimal() or len(number) > _DIGITS:
        raise BadCursor(cursor=cursor)
    return int(number), rest


def page_of(items: Sequence[T], rows: Sequence[Row], limit: int, cursor: Callable[[Row], str]) -> Page[T]:
    """One row more than asked for was read: it says that there is more."""
    return Page(tuple(items), cursor(rows[limit - 1]) if len(rows) > limit else None)


def _letters(rows: Sequence[Row], limit: int) -> Page[Message]:
    messages = [_message(body) for (body,) in rows]
    return Page(tuple(messages[:limit]), messages[limit - 1].id if len(messages) > limit else None)


def _thread(rows: list[Row]) -> Thread:
    """A session from its rows, one a line; one that shows no lines has a single row without any."""
    id, subject, other, unread, created_at, last_at, _ = rows[0][:7]
    return Thread(
        id=id,
        subject=subject,
        other=other,
        unread=unread,
        created_at=moment(created_at),
        last_message_at=moment(last_at),
        lines=tuple(
            Line(message=_message(body), to=to, state=State(state), number=number)
            for _, _, _, _, _, _, _, to, state, number, body in rows
            if body is not None
        ),
    )


def _standing(row: Row) -> Standing:
    name, state, attempts, number, session_id, due_at, settled_at, reason, leased_at = row
    return Standing(
        recipient=name,
        state=State(state),
        attempts=attempts,
        number=number,
        session_id=session_id,
        due_at=None if due_at is None else moment(due_at),
        settled_at=None if settled_at is None else moment(settled_at),
        reason=reason,
        leased_at=None if leased_at is None else moment(leased_at),
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
