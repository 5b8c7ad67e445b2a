"""What it takes to show an agent its inbox in a large database."""

import time
from collections.abc import Awaitable, Callable
from statistics import median

import msgspec

from bench.filling import READER, SENDERS, Filled
from bench.plan import Plan
from bench.scratch import progress
from postoffice.office import PostOffice

_LONGEST = 10.0


class InboxTime(msgspec.Struct, frozen=True):
    """The median time of one look at the inbox."""

    engine: str
    messages: int
    sessions: int
    millis: float
    floor_millis: float
    """Of one trivial read that goes the same way."""


async def inbox_time(engine: Filled, plan: Plan) -> InboxTime:
    """Time the inbox and its floor in turn, in an office as users run it."""
    store, wake = await engine.filled(plan.messages)
    async with PostOffice(store, wake) as office:
        reader = await office.identify(name=READER)

        async def look() -> None:
            page = await office.inbox(reader, limit=SENDERS, lines=3)
            if [len(thread.lines) for thread in page.items] != [3] * SENDERS:
                message = "the inbox is not the one that was filled"
                raise RuntimeError(message)

        progress(f"timing the inbox on {engine.name}")
        looks: list[float] = []
        floors: list[float] = []
        until = time.perf_counter() + _LONGEST
        while len(looks) < plan.inboxes and time.perf_counter() < until:
            looks.append(await _timed(look))
            floors.append(await _timed(store.ping))
    return InboxTime(engine.name, plan.messages, SENDERS, median(looks) * 1e3, median(floors) * 1e3)


async def _timed(read: Callable[[], Awaitable[None]]) -> float:
    began = time.perf_counter()
    await read()
    return time.perf_counter() - began
