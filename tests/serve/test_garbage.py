"""What holds itself is found by the clock, also where Python would not look; what is old is looked through when there is much of it."""

import asyncio
import gc
import sys
import weakref
from collections.abc import Iterator

import pytest

from postoffice.serve.garbage import Kept, look_through, swept


class Knot:
    """Something that holds itself."""

    def __init__(self) -> None:
        self.end = self


@pytest.fixture(autouse=True)
def _unasked() -> Iterator[None]:
    """Python looks for nothing by itself."""
    gc.disable()
    yield
    gc.enable()


async def test_what_is_new_is_found_soon() -> None:
    found = asyncio.Event()
    weakref.finalize(Knot(), found.set)
    assert not found.is_set()
    async with swept(lambda: 0), asyncio.timeout(30):
        await found.wait()


def _old_knot() -> "weakref.ref[Knot]":
    """Garbage that was held until it had become old."""
    held = Knot()
    lost = weakref.ref(held)
    gc.collect(1)
    del held
    gc.collect(1)
    return lost


def test_what_is_old_is_found_once_memory_has_grown() -> None:
    lost = _old_knot()
    there = sys.getallocatedblocks()
    assert look_through(Kept(there, 5), 5).connections == 5
    assert lost() is not None
    left = look_through(Kept(there // 2, 5), 5, spare=0)
    assert lost() is None
    assert left.blocks == pytest.approx(sys.getallocatedblocks(), rel=0.1)


def test_what_open_connections_hold_is_not_looked_through() -> None:
    lost = _old_knot()
    there = sys.getallocatedblocks()
    kept = look_through(Kept(there // 2, 0), 10_000, spare=0)
    assert lost() is not None
    assert kept == Kept(there // 2, 0)  # so that what is left of them when they are gone is found
    look_through(kept, 0, spare=0)
    assert lost() is None


def test_what_went_away_is_not_missed() -> None:
    left = look_through(Kept(10**9, 7), 3)
    assert left.blocks < 10**9
    assert left.connections == 3
