"""What a store can be asked about the ledger."""

import re

import msgspec

from postoffice.acts.rows import Row
from postoffice.core.delivery import OnLedger
from postoffice.core.errors import BadCursor
from postoffice.core.ledger import Account, Opening, Post, Record, Topic
from postoffice.core.views import Page
from postoffice.store.engine import Engine
from postoffice.store.reads.pages import page_of

_SEQUENCE = re.compile(r"[0-9]{1,18}")
_POST = tuple(field.name for field in msgspec.structs.fields(Post))
_RECORD = tuple(field.name for field in msgspec.structs.fields(Record))


class LedgerReads:
    """Who has topics, what waits to be submitted, and what was seen."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def accounts(self) -> list[Account]:
        rows = await self._engine.fetch("accounts")
        return [Account(agent=row[1], account_id=row[2], inbound_topic_id=row[3], outbound_topic_id=row[4]) for row in rows]

    async def topics(self) -> list[Topic]:
        return [Topic(topic_id=row[0], kind=row[1], agent=row[2], about=row[3]) for row in await self._engine.fetch("ledger_topics")]

    async def topic_cursors(self) -> dict[str, int]:
        """By topic: the sequence up to which all of it has been taken."""
        return {name.partition(":")[2]: int(value) for name, value in await self._engine.fetch("ledger_cursors")}

    async def taken_ahead(self, topic_id: str, after: int) -> frozenset[int]:
        """Sequences after a topic's cursor that have been taken already."""
        return frozenset(sequence for (sequence,) in await self._engine.fetch("taken_ahead", topic_id=topic_id, sequence=after))

    async def posts_due(self, limit: int) -> list[Post]:
        return [Post(**dict(zip(_POST, row, strict=True))) for row in await self._engine.fetch("posts_due", limit=limit)]

    async def posts_by_state(self) -> dict[str, int]:
        return {str(state): int(count) for state, count in await self._engine.fetch("posts_by_state")}

    async def post_troubles(self) -> dict[str, int]:
        """By reason: how much waits or has failed for it."""
        return {str(row[0]): int(row[1]) for row in await self._engine.fetch("post_troubles")}

    async def on_ledger(self, message_id: str) -> dict[str, OnLedger]:
        """By recipient: where a message stands on its way over the ledger."""
        return {row[0]: _on_ledger(row) for row in await self._engine.fetch("ledger_standings", id=message_id)}

    async def openings(self) -> dict[str, Opening]:
        """By connection: consent given to an agent of other software, which has not been told of it yet."""
        return {
            row[0]: Opening(agent=row[1], peer=row[2], inbound_topic_id=row[3], connection_id=row[4], topic_id=row[5])
            for row in await self._engine.fetch("openings")
        }

    async def quarantined_count(self) -> int:
        ((count,),) = await self._engine.fetch("quarantined_count")
        return int(count)

    async def quarantined(self, cursor: str | None, limit: int) -> Page[Record]:
        topic_id, _, sequence = (cursor or ":0").partition(":")
        if not _SEQUENCE.fullmatch(sequence):
            raise BadCursor(cursor=cursor)
        rows = await self._engine.fetch("quarantined", topic_id=topic_id, sequence=int(sequence), limit=limit + 1)
        return page_of([_record(row) for row in rows[:limit]], rows, limit, lambda row: f"{row[0]}:{row[1]}")

    async def records(self, topic_id: str, after: int, limit: int) -> list[Record]:
        return [_record(row) for row in await self._engine.fetch("ledger_records", topic_id=topic_id, sequence=after, limit=limit)]


def _record(row: Row) -> Record:
    return Record(**dict(zip(_RECORD, row, strict=True)))


def _on_ledger(row: Row) -> OnLedger:
    _, state, topic_id, sequence, at, error = row
    shown = state if state in ("confirmed", "failed") else "awaiting"
    return OnLedger(state=shown, topic_id=topic_id, sequence=sequence, consensus_at=at, trouble=error)
