"""Wait for something to become so, but never forever."""

import asyncio
from collections.abc import Callable

PATIENCE = 20.0


async def until(true: Callable[[], bool]) -> None:
    """Return as soon as it is so; fail if it never is."""
    async with asyncio.timeout(PATIENCE):
        while not true():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0.005)
