"""What a lease and a send cost with little mail waiting, with much, with many leases in flight, and with many letters that wait for their time."""

import time
from contextlib import AsyncExitStack
from datetime import timedelta
from statistics import median

import msgspec

from bench.filling import READER, Filled
from bench.plan import BODY, Plan
from bench.scratch import progress
from postoffice.acts.mail.send import Send
from postoffice.acts.mail.take_and_settle import TakeAndSettle
from postoffice.acts.people.agents import Appear
from postoffice.core.delivery import Ack, Wish
from postoffice.core.draft import Draft
from postoffice.store.store import Store

_BLOCK = 25
_WRITER = "writer"
_WISH = Wish(limit=1, visible_for=timedelta(seconds=30))


class LeaseCost(msgspec.Struct, frozen=True):
    """The median lease and send in one situation."""

    engine: str
    waiting: int
    in_flight: int
    micros: float
    ratio: float
    """To the cheapest of the engine's situations."""
    scheduled: int
    send_micros: float
    send_ratio: float


async def lease_costs(engine: Filled, plan: Plan) -> list[LeaseCost]:
    """Time leases in every situation, a few of each in turn, so that a noisy moment hits all of them."""
    least, most = min(plan.backlogs), max(plan.backlogs)
    situations = [*((size, 0, 0) for size in plan.backlogs), (2 * plan.in_flight, plan.in_flight, 0), (most + least, 0, most)]
    stores: list[Store] = []
    async with AsyncExitStack() as stack:
        for size, in_flight, scheduled in situations:
            store, _ = await engine.filled(size, in_flight, scheduled)
            await store.open(lambda _agents: None)
            await store.do(Appear(_WRITER))
            stack.push_async_callback(store.close)
            stores.append(store)
        progress(f"timing leases on {engine.name}")
        times: list[list[float]] = [[] for _ in stores]
        sends: list[list[float]] = [[] for _ in stores]
        for block in range(-1, plan.leases // _BLOCK):
            for store, taken, sent in zip(stores, times, sends, strict=True):
                measured = [await _lease(store) for _ in range(_BLOCK)]
                written = [await _send(store) for _ in range(_BLOCK)]
                # The first block only warms caches and plans.
                if block >= 0:
                    taken.extend(measured)
                    sent.extend(written)
    leased, posted = ([median(taken) * 1e6 for taken in some] for some in (times, sends))
    return [
        LeaseCost(engine.name, size - in_flight - scheduled, in_flight, micros, micros / min(leased), scheduled, send, send / min(posted))
        for (size, in_flight, scheduled), micros, send in zip(situations, leased, posted, strict=True)
    ]


async def _send(store: Store) -> float:
    """Seconds that a send to the same mailbox took."""
    letter = Draft(to=READER, content=BODY, priority=3, ttl=3)
    began = time.perf_counter()
    await store.do(Send(_WRITER, letter, verified=False, strangers=True))
    return time.perf_counter() - began


async def _lease(store: Store) -> float:
    """Seconds that a lease took; it is acked off the clock, and the next one takes the next message."""
    began = time.perf_counter()
    turned = await store.do(TakeAndSettle(READER, (), _WISH))
    took = time.perf_counter() - began
    (leased,) = turned.leased
    await store.do(TakeAndSettle(READER, (Ack(leased.message.id, leased.token),), None))
    return took
