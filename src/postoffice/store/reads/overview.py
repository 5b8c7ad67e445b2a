"""The whole office at a glance."""

import asyncio
from datetime import timedelta

import msgspec

from postoffice.acts.rows import Box, Row
from postoffice.core.agent import presence
from postoffice.core.clock import micros, moment
from postoffice.core.message import Message
from postoffice.core.names import folded
from postoffice.core.traffic import SLOTS, Exchange, Slot, Span, Traffic
from postoffice.core.views import Glance, Longest, Page, Seat, Totals
from postoffice.store.engine import Engine
from postoffice.store.reads.pages import SKEW, first_id, id_cursor, page_of

_message = msgspec.json.Decoder(Message).decode
_DELIVERIES_READ = 5_000
"""The most deliveries that one look at the traffic counts, so that its cost does not grow with the mail."""
_EXCHANGES_SHOWN = 80


class Overview:
    """What people look at over everybody's shoulder."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def roster(self, after: str, limit: int) -> Page[Seat]:
        rows = await self._engine.fetch("roster", after=folded(after), limit=limit + 1)
        busy = await self._engine.fetch_each("under_way", [(row[0],) for row in rows]) if rows else ()
        tasks = {assignee: count for assignee, count in busy}  # noqa: C416 - rows are no pairs to a type checker
        seats = [self._seat(row, tasks.get(row[0], 0)) for row in rows[:limit]]
        return page_of(seats, rows, limit, lambda row: row[0])

    def _seat(self, row: Row, tasks: int) -> Seat:
        box, (seen, oldest, now) = Box.of(row[:-3]), row[-3:]
        silent_for = None if box.last_seen is None else timedelta(microseconds=now - box.last_seen)
        return Seat(
            name=box.name,
            card=box.card,
            presence=presence(silent_for, tasks, self._engine.limits.heartbeat_timeout),
            tasks=tasks,
            unread=box.pending - seen,
            leased=box.leased,
            dead=box.dead,
            has_key=box.has_key,
            acted=box.acted,
            last_seen=None if box.last_seen is None else moment(box.last_seen),
            oldest_waiting=None if oldest is None else timedelta(microseconds=now - oldest),
            paused=box.pause(now),
        )

    async def longest_waiting(self, limit: int) -> tuple[Longest, ...]:
        rows = await self._engine.fetch("longest_waiting", limit=limit)
        return tuple(Longest(name, pending, timedelta(microseconds=now - oldest)) for name, pending, oldest, now in rows)

    async def glances(self, before: str | None, limit: int) -> Page[Glance]:
        rows = await self._engine.fetch("glances", before=id_cursor(before), limit=limit + 1)
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

    async def traffic(self, name: str | None, span: Span) -> Traffic:
        width, count = SLOTS[span]
        ((now,),) = await self._engine.fetch("now")
        begun = now - now % micros(width) - micros(width) * (count - 1)
        window = {"since": first_id(begun - micros(SKEW)), "begun": begun, "most": _DELIVERIES_READ}
        agent = None if name is None else folded(name)
        # Side by side: each goes through all the mail of the span.
        rows, exchanges = await asyncio.gather(
            self._engine.fetch("slots", **window, width=micros(width), agent=agent),
            self._engine.fetch("exchanges", **window, agent=agent, limit=_EXCHANGES_SHOWN),
        )
        slots = {slot: Slot(letters, *map(_span, times)) for slot, letters, *times in rows}
        return Traffic(
            begun_at=moment(begun),
            width=width,
            slots=tuple(slots.get(number, Slot()) for number in range(count)),
            exchanges=tuple(Exchange(sender, recipient, letters, moment(at)) for sender, recipient, letters, at in exchanges),
            whole=sum(slot.letters for slot in slots.values()) < _DELIVERIES_READ,
        )

    async def totals(self) -> Totals:
        agents, held, pending, leased, dead, counted, _ = (await self._engine.fetch("totals"))[0]
        return Totals(agents=agents, held=int(held), pending=int(pending), leased=int(leased), dead=int(dead), counted=int(counted))


def _span(micros: int | None) -> timedelta | None:
    return None if micros is None else timedelta(microseconds=max(0, micros))
