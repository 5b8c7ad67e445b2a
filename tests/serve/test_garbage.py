"""What holds itself is found by the clock, also where Python would not look; what is old is looked through when there is much of it."""

import asyncio
import gc
import weakref
from collections.abc import Iterator

import pytest

from postoffice.serve.garbage import look_through, swept


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
    async with swept(), asyncio.timeout(30):
        await found.wait()


def test_what_is_old_is_found_once_it_has_grown() -> None:
    held = Knot()
    lost = weakref.ref(held)
    gc.collect(1)
    del held  # too late: it has become old
    gc.collect(1)
    there = len(gc.get_objects())
    assert look_through(there) <= there
    assert lost() is not None
    left = look_through(there // 2, spare=0)
    assert lost() is None
    assert left == pytest.approx(len(gc.get_objects()), rel=0.1)


def test_what_went_away_is_not_missed() -> None:
    assert look_through(10**9) < 10**9
