"""What a lease costs with little mail waiting, with much, and with many leases in flight."""

import time
from contextlib import AsyncExitStack
from datetime import timedelta
from statistics import median

import msgspec

from bench.filling import READER, Filled
from bench.plan import Plan
from bench.scratch import progress
from postoffice.acts.mail.take_and_settle import TakeAndSettle
from postoffice.core.delivery import Ack, Wish
from postoffice.store.store import Store

_BLOCK = 25
_WISH = Wish(limit=1, visible_for=timedelta(seconds=30))


class LeaseCost(msgspec.Struct, frozen=True):
    """The median lease in one situation."""

    engine: str
    waiting: int
    in_flight: int
    micros: float
    ratio: float
    """To the cheapest of the engine's situations."""


async def lease_costs(engine: Filled, plan: Plan) -> list[LeaseCost]:
    """Time leases in every situation, a few of each in turn, so that a noisy moment hits all of them."""
    situations = [(size, 0) for size in plan.backlogs] + [(2 * plan.in_flight, plan.in_flight)]
    stores: list[Store] = []
    async with AsyncExitStack() as stack:
        for size, in_flight in situations:
            store, _ = await engine.filled(size, in_flight)
            await store.open(lambda _agents: None)
            stack.push_async_callback(store.close)
            stores.append(store)
        progress(f"timing leases on {engine.name}")
        times: list[list[float]] = [[] for _ in stores]
        for block in range(-1, plan.leases // _BLOCK):
            for store, taken in zip(stores, times, strict=True):
                measured = [await _lease(store) for _ in range(_BLOCK)]
                # The first block only warms caches and plans.
                if block >= 0:
                    taken.extend(measured)
    medians = [median(taken) * 1e6 for taken in times]
    return [
        LeaseCost(engine.name, size - in_flight, in_flight, micros, micros / min(medians))
        for (size, in_flight), micros in zip(situations, medians, strict=True)
    ]


async def _lease(store: Store) -> float:
    """Seconds that a lease took; it is acked off the clock, and the next one takes the next message."""
    began = time.perf_counter()
    turned = await store.do(TakeAndSettle(READER, (), _WISH))
    took = time.perf_counter() - began
    (leased,) = turned.leased
    await store.do(TakeAndSettle(READER, (Ack(leased.message.id, leased.token),), None))
    return took
