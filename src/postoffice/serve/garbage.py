"""Collects cyclic garbage by the clock, in small steps.

Python collects once many more objects were made than dropped. A server with thousands of waiting clients drops as many as it makes: new
objects pile up until one collection takes a tenth of a second, and a full one takes a second for ten thousand clients.
"""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

_ROUND_SECONDS = 0.25  # short, so that few new objects survive a round
_ROUNDS_BETWEEN_LOOKS = 240  # after so many rounds the number of old objects is checked
_BURST_OBJECTS = 50_000  # how many objects a burst may add before Python collects by itself
_UNREACHED_OBJECTS = 1_000_000_000


def set_up() -> None:
    """Exclude everything loaded by now from later collections, and collect by the clock."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_BURST_OBJECTS, _UNREACHED_OBJECTS, _UNREACHED_OBJECTS)


@asynccontextmanager
async def swept() -> AsyncIterator[None]:
    """Collect garbage during the block."""
    sweeping = asyncio.create_task(_sweep())
    try:
        yield
    finally:
        sweeping.cancel()
        await asyncio.gather(sweeping, return_exceptions=True)


async def _sweep() -> None:
    kept = 0
    while True:
        for _ in range(_ROUNDS_BETWEEN_LOOKS):
            await asyncio.sleep(_ROUND_SECONDS)
            gc.collect(1)  # collects the new objects; those that survive become old
        kept = look_through(kept)


def look_through(kept: int, spare: int = 200_000) -> int:
    """Do a full collection if there are many more objects than the last one left. Returns how many are left."""
    there = len(gc.get_objects())
    if there > kept + kept // 2 + spare:
        gc.collect()
        return len(gc.get_objects())
    return min(kept, there)
