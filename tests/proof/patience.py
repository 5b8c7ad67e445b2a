"""Waiting for something that happens elsewhere: not forever, and without guessing how long it takes."""

import asyncio
import inspect
from collections.abc import Callable

BOUND = 60.0
"""Seconds: far above what anything here takes, and far below forever."""
_PAUSE = 0.02


async def until(true: Callable[[], object]) -> None:
    """Look again and again, for as long as the bound allows."""
    async with asyncio.timeout(BOUND):
        for _ in range(int(BOUND / _PAUSE)):
            seen = true()
            if await seen if inspect.isawaitable(seen) else seen:
                return
            await asyncio.sleep(_PAUSE)
    raise TimeoutError
