"""One call's wait for the answer to one message, told to all replicas for as long as it lasts."""

import asyncio
from datetime import timedelta
from typing import Any, Self

from postoffice.acts.mail.awaiting import BeginWait, EndWaits, told_ring
from postoffice.core.clock import sender_id
from postoffice.core.delivery import Asked, Standing
from postoffice.core.errors import Deadlock
from postoffice.core.message import Message
from postoffice.store.store import Store

_ENDING: set["asyncio.Future[None]"] = set()
"""Waits that are being ended, which nobody waits for."""


LOOK_SECONDS = 3.0
"""How often to look for a ring of waits: the hint that tells of one may be lost, and a ring is remembered only for a while."""


class Awaited:
    """Whose answer is awaited, and in which conversation. Without a standing, any mail is awaited, and no ring is looked for."""

    def __init__(self, store: Store, agent: str, asked: Message | None = None, standing: Standing | None = None) -> None:
        self.wish: dict[str, Any] = {}
        if asked is not None and standing is not None:
            named = (asked.id,) if asked.client_id is None else (asked.id, asked.client_id)
            self.wish = {"asked": Asked(asked.id, named, standing.session_id, asked.correlation_id)}
        self._store = store
        self._agent = agent
        self._other = None if standing is None else standing.recipient
        self._id = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._id:  # whoever waited may be cancelled, and cannot wait for this too
            ending = asyncio.ensure_future(self._store.do(EndWaits((self._id,))))
            _ENDING.add(ending)
            ending.add_done_callback(_forget)

    async def check(self, lasts: timedelta) -> None:
        """Tell the others that this wait goes on for so long, and refuse it if its agents wait for each other."""
        if self._other is None:
            return
        if not self._id:
            id = sender_id()
            ring = await self._store.do(BeginWait(id, self._agent, self._other, lasts))
            if ring:
                raise Deadlock(names=" and ".join(ring))
            self._id = id
            return
        ring = told_ring(await self._store.mail.awaits(), self._id)
        if ring:
            raise Deadlock(names=" and ".join(ring))


def _forget(ending: "asyncio.Future[None]") -> None:
    _ENDING.discard(ending)
    if not ending.cancelled():
        ending.exception()  # what is not ended ends by its time
