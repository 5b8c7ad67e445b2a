"""Garbage that only a search finds (things that hold each other), looked for by the clock and in small bites.

Python looks when so much more was made than was dropped. A server of thousands of waiting clients drops as much as it makes: what is
new piles up unseen until one look at it takes a tenth of a second, and what is old is looked through whole, a second for ten thousand.
"""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

_ROUND_SECONDS = 0.25  # seconds: in so short a time little is made that stays
_ROUNDS_BETWEEN_LOOKS = 240  # after so many, it is seen how much has become old
_BURST_OBJECTS = 50_000  # things that a burst may add before Python looks by itself
_UNREACHED_OBJECTS = 1_000_000_000


def set_up() -> None:
    """Leave what is loaded by now out of every look to come, and the looking to the clock."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_BURST_OBJECTS, _UNREACHED_OBJECTS, _UNREACHED_OBJECTS)


@asynccontextmanager
async def swept() -> AsyncIterator[None]:
    """Look for garbage while the block lasts."""
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
            gc.collect(1)  # all that is new, once: what is still there has become old
        kept = look_through(kept)


def look_through(kept: int, spare: int = 200_000) -> int:
    """Look through everything if it has become much more than the last look left over. Gives what is left now."""
    there = len(gc.get_objects())
    if there > kept + kept // 2 + spare:
        gc.collect()
        return len(gc.get_objects())
    return min(kept, there)
