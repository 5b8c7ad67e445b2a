"""Collects cyclic garbage by the clock, in small steps.

Python collects once many more objects were made than dropped. A server with thousands of waiting clients drops as many as it makes: new
objects pile up until one collection takes a tenth of a second, and a full one takes up to a second for ten thousand clients. Nobody is
answered meanwhile, so a full one comes only when there is more than the open connections explain.
"""

import asyncio
import gc
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple

_ROUND_SECONDS = 0.25  # short, so that few new objects survive a round
_ROUNDS_BETWEEN_LOOKS = 240  # after so many rounds the memory in use is checked
_BURST_OBJECTS = 50_000  # how many objects a burst may add before Python collects by itself
_UNREACHED_OBJECTS = 1_000_000_000
_SPARE_BLOCKS = 300_000
_CONNECTION_BLOCKS = 400
"""More blocks of memory than a waiting client or an idle socket holds."""


class Kept(NamedTuple):
    """What was in use after the last full collection."""

    blocks: int = 0
    connections: int = 0


def set_up() -> None:
    """Exclude everything loaded by now from later collections, and collect by the clock."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_BURST_OBJECTS, _UNREACHED_OBJECTS, _UNREACHED_OBJECTS)


@asynccontextmanager
async def swept(connections: Callable[[], int]) -> AsyncIterator[None]:
    """Collect garbage during the block. `connections` tells how many are open."""
    sweeping = asyncio.create_task(_sweep(connections))
    try:
        yield
    finally:
        sweeping.cancel()
        await asyncio.gather(sweeping, return_exceptions=True)


async def _sweep(connections: Callable[[], int]) -> None:
    kept = Kept(sys.getallocatedblocks(), connections())
    while True:
        for _ in range(_ROUNDS_BETWEEN_LOOKS):
            await asyncio.sleep(_ROUND_SECONDS)
            gc.collect(1)  # collects the new objects; those that survive become old
        kept = look_through(kept, connections())


def look_through(kept: Kept, connections: int, spare: int = _SPARE_BLOCKS) -> Kept:
    """Do a full collection if much more memory is in use than the last one left and new connections need. Returns what is left."""
    blocks = sys.getallocatedblocks()  # counted in no time, unlike the objects
    new = max(0, connections - kept.connections) * _CONNECTION_BLOCKS
    if blocks > kept.blocks + kept.blocks // 2 + new + spare:
        gc.collect()
        return Kept(sys.getallocatedblocks(), connections)
    return Kept(min(kept.blocks, blocks), min(kept.connections, connections))
