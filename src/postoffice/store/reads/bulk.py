"""What a store can be asked about many letters at once."""

from datetime import datetime
from typing import Any

from postoffice.acts.rows import MailKey
from postoffice.core.bulk import BulkAct, Which
from postoffice.core.clock import micros, moment
from postoffice.core.names import folded
from postoffice.store.engine import Engine
from postoffice.store.reads.pages import FIRST_ID, id_cursor


class BulkReads:
    """Letters that fit, counted and by group."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def now(self) -> datetime:
        """The store's time."""
        ((now,),) = await self._engine.fetch("now")
        return moment(now)

    async def count(self, act: BulkAct, which: Which, before: datetime) -> int:
        """How many fit, of those there were before."""
        ((count,),) = await self._engine.fetch(
            "count_bulk_waiting" if act is BulkAct.EXPIRE else "count_bulk_dead", **_fits(act, which, before)
        )
        return int(count)

    async def page(self, act: BulkAct, which: Which, before: datetime, cursor: str | None, limit: int) -> list[MailKey]:
        """The next of them."""
        id, _, mailbox = (cursor or f"{FIRST_ID}.").partition(".")
        query = "bulk_waiting" if act is BulkAct.EXPIRE else "bulk_dead"
        place = {"after": id_cursor(id), "after_mailbox": mailbox, "limit": limit}
        return [(id, mailbox) for id, mailbox in await self._engine.fetch(query, **_fits(act, which, before), **place)]


def _fits(act: BulkAct, which: Which, before: datetime) -> dict[str, Any]:
    oldest = before if which.older_than is None else before - which.older_than
    return {
        "agent": None if which.agent is None else folded(which.agent),
        "sender": None if which.sender is None else folded(which.sender),
        "type": which.type,
        "reason": which.reason or None,
        "before": micros(oldest),
        "canceled": int(act is BulkAct.DISCARD),
    }
