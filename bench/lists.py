"""What a letter to a list costs, with few members and with many."""

import time
from itertools import islice
from statistics import median

import msgspec

from bench.crowding import Crowded
from bench.plan import BODY, Plan
from bench.scratch import progress
from postoffice.acts.lists.joining import Join
from postoffice.acts.lists.keeping import MakeList
from postoffice.acts.lists.sending import sending
from postoffice.core.draft import Draft
from postoffice.core.mailing_list import ListRules, MayJoin
from postoffice.store.store import Store

_AT_ONCE = 500
_LIST = "#crowd"
_KEEPER = "agent-0"


class ListCost(msgspec.Struct, frozen=True):
    """The median letter to a list of one size."""

    engine: str
    members: int
    millis: float
    """On disk."""
    cpu_micros: float
    """Of this process, for each member that gets it."""


async def list_costs(crowds: list[tuple[str, Crowded]], plan: Plan) -> list[ListCost]:
    """Time letters to lists of every size, on every engine."""
    costs = []
    for engine, crowd in crowds:
        for size in plan.lists:
            store, _ = await crowd.crowded(size)
            await store.open(lambda _agents: None)
            await _join(store, size)
            progress(f"timing letters to {size:,} members on {engine}")
            took = [await _send(store) for _ in range(plan.list_letters + 1)][1:]  # the first only warms caches and plans
            await store.close()
            costs.append(ListCost(engine, size, median(wall for wall, _ in took) * 1e3, median(cpu for _, cpu in took) * 1e6 / (size - 1)))
    return costs


async def _join(store: Store, size: int) -> None:
    await store.do(MakeList(_KEEPER, _LIST, ListRules(who_may_join=MayJoin.ANYONE)))
    left = iter(range(1, size))  # whoever keeps it is on it
    while some := list(islice(left, _AT_ONCE)):
        for outcome in await store.do_each([Join(f"agent-{number}", _LIST) for number in some]):
            if isinstance(outcome, BaseException):
                raise outcome


async def _send(store: Store) -> tuple[float, float]:
    """Seconds that a letter took, and of them this process's own."""
    letter = Draft(to=_LIST, content=BODY, priority=3, ttl=3)
    began, worked = time.perf_counter(), time.process_time()
    await store.do(sending(_KEEPER, letter, verified=False, strangers=True))
    return time.perf_counter() - began, time.process_time() - worked
