"""What a store can be asked about the log of events."""

import msgspec

from postoffice.acts.rows import Row
from postoffice.core.clock import moment
from postoffice.core.event import Event, Kind
from postoffice.core.message import Message
from postoffice.core.names import folded
from postoffice.store.engine import Engine

_message = msgspec.json.Decoder(Message).decode


class LogReads:
    """The log, of one agent or of everybody."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def of(self, name: str, after: int, limit: int) -> list[Event]:
        rows = await self._engine.fetch("events", agent=folded(name), after=after, limit=limit)
        return [_event(row, str(row[1]), None if row[7] is None else _message(row[7]), row[6]) for row in rows]

    async def page(self, after: str, limit: int) -> list[Event]:
        self._engine.check_cursor(after)
        return [_event(row, row[-1]) for row in await self._engine.fetch("all_events", after=after, limit=limit)]

    async def last(self) -> str:
        return str((await self._engine.fetch("last_event"))[0][0])


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
