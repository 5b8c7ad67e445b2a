"""Whether the office is well, and its mail in numbers."""

import asyncio
from collections.abc import Awaitable
from datetime import timedelta
from typing import Final, TypeVar

from postoffice.core.errors import DatabaseLost
from postoffice.core.views import Numbers
from postoffice.store.store import Store

R = TypeVar("R")
STORE_ANSWER_SECONDS: Final = 2.0
"""Seconds within which a store answers that is well."""


class Health:
    """What whoever watches over a server asks for."""

    def __init__(self, store: Store, *, ledger: bool) -> None:
        self._store = store
        self._ledger = ledger

    async def ping(self) -> None:
        """Raise unless the store answers soon."""
        await soon(self._store.ping())

    async def numbers(self) -> Numbers:
        """The whole office in numbers, if the store answers soon. Counting may then take longer."""
        await self.ping()
        oldest = await self._store.overview.longest_waiting(1)
        return Numbers(
            totals=await self._store.overview.totals(),
            oldest=oldest[0].waiting if oldest else timedelta(0),
            posts=await self._store.ledger.posts_by_state() if self._ledger else {},
        )


async def soon(answer: Awaitable[R]) -> R:
    """Its answer, or a refusal within seconds: a health check must not wait as long as other calls do."""
    try:
        async with asyncio.timeout(STORE_ANSWER_SECONDS):
            return await answer
    except TimeoutError:
        raise DatabaseLost(why=f"nothing came within {STORE_ANSWER_SECONDS:.0f} seconds") from None
