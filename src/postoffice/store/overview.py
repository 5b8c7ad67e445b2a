"""What people ask of a store: the whole office at a glance, some of it at a time."""

import asyncio
from datetime import timedelta

import msgspec

from postoffice.acts.rows import Box, Row, TaskRow
from postoffice.acts.tasks.move import as_task
from postoffice.core.agent import presence
from postoffice.core.clock import micros, moment
from postoffice.core.message import Message
from postoffice.core.names import folded
from postoffice.core.task import Task, TaskState
from postoffice.core.traffic import SLOTS, Exchange, Slot, Span, Traffic
from postoffice.core.views import Glance, Longest, Page, Seat
from postoffice.store.reads import Reads, id_cursor, page_of

_message = msgspec.json.Decoder(Message).decode
_COUNTED = 5_000
"""Deliveries that a look at the traffic counts at most: it must not cost more the more there are."""
_EXCHANGES = 80
_FIRST_ID = "00000000-0000-0000-0000-000000000000"
SKEW = timedelta(minutes=1)
"""Ids are made by a process's clock, times by the store's."""


class Overviews(Reads):
    """Reading over everybody's shoulder."""

    async def roster(self, after: str, limit: int) -> Page[Seat]:
        rows = await self.fetch("roster", after=folded(after), limit=limit + 1)
        busy = await self.fetch_each("under_way", [(row[0],) for row in rows]) if rows else ()
        tasks = {assignee: count for assignee, count in busy}  # noqa: C416 - rows are no pairs to a type checker
        seats = [self._seat(row, tasks.get(row[0], 0)) for row in rows[:limit]]
        return page_of(seats, rows, limit, lambda row: row[0])

    def _seat(self, row: Row, tasks: int) -> Seat:
        box, oldest, now = Box.of(row[:-2]), row[-2], row[-1]
        silent_for = None if box.last_seen is None else timedelta(microseconds=now - box.last_seen)
        return Seat(
            name=box.name,
            card=box.card,
            presence=presence(silent_for, tasks, self.limits.heartbeat_timeout),
            tasks=tasks,
            unread=box.pending,
            leased=box.leased,
            dead=box.dead,
            has_key=box.has_key,
            acted=box.acted,
            last_seen=None if box.last_seen is None else moment(box.last_seen),
            oldest_waiting=None if oldest is None else timedelta(microseconds=now - oldest),
        )

    async def longest_waiting(self, limit: int) -> tuple[Longest, ...]:
        rows = await self.fetch("longest_waiting", limit=limit)
        return tuple(Longest(name, pending, timedelta(microseconds=now - oldest)) for name, pending, oldest, now in rows)

    async def glances(self, before: str | None, limit: int) -> Page[Glance]:
        rows = await self.fetch("glances", before=id_cursor(before), limit=limit + 1)
        items = [
            Glance(
                message=_message(body),
                recipients=recipients or 0,
                waiting=int(waiting or 0),
                leased=int(leased or 0),
                dead=int(dead or 0),
                session_id=session_id if recipients == 1 else None,
            )
            for body, recipients, waiting, leased, dead, session_id in rows[:limit]
        ]
        return Page(tuple(items), items[-1].message.id if len(rows) > limit else None)

    async def open_tasks(self, name: str | None, state: TaskState, after: str | None, limit: int) -> Page[Task]:
        agent = None if name is None else folded(name)
        rows = await self.fetch("open_tasks", agent=agent, state=state, after=id_cursor(after, _FIRST_ID), limit=limit + 1)
        return page_of([_task(row) for row in rows[:limit]], rows, limit, lambda row: row[0])

    async def finished_tasks(self, before: str | None, limit: int) -> Page[Task]:
        rows = await self.fetch("finished_tasks", before=id_cursor(before), limit=limit + 1)
        return page_of([_task(row) for row in rows[:limit]], rows, limit, lambda row: row[0])

    async def traffic(self, name: str | None, span: Span) -> Traffic:
        width, count = SLOTS[span]
        ((now,),) = await self.fetch("now")
        begun = now - now % micros(width) - micros(width) * (count - 1)
        window = {"since": first_id(begun - micros(SKEW)), "begun": begun, "most": _COUNTED}
        agent = None if name is None else folded(name)
        # Side by side: each goes through all the mail of the span.
        rows, exchanges = await asyncio.gather(
            self.fetch("slots", **window, width=micros(width), agent=agent),
            self.fetch("exchanges", **window, agent=agent, limit=_EXCHANGES),
        )
        slots = {slot: Slot(letters, *map(_span, times)) for slot, letters, *times in rows}
        return Traffic(
            begun_at=moment(begun),
            width=width,
            slots=tuple(slots.get(number, Slot()) for number in range(count)),
            exchanges=tuple(Exchange(sender, recipient, letters, moment(at)) for sender, recipient, letters, at in exchanges),
            whole=sum(slot.letters for slot in slots.values()) < _COUNTED,
        )

    async def find_visit(self, hash: str, kind: str) -> str | None:
        rows = await self.fetch("find_visit", hash=hash)
        return next((str(name) for name, found in rows if found == kind), None)


def _task(row: Row) -> Task:
    return as_task(TaskRow(*row[:-2]), {row[2]: row[-2], row[3]: row[-1]})


def _span(micros: int | None) -> timedelta | None:
    return None if micros is None else timedelta(microseconds=max(0, micros))


def first_id(at: int) -> str:
    """Where the ids begin that were made from that moment on: they begin with their milliseconds."""
    text = f"{max(0, at) // 1000:012x}"
    return f"{text[:8]}-{text[8:]}-0000-0000-000000000000"
