"""Our cycle over REST beside seed 001's own design, in turn."""

from collections.abc import Sequence

import msgspec

from bench.calls import Pace, measure_pace, median_pace
from bench.clients import run
from bench.cycle_errands import Fused, SeedCycle, SeedPop, ThreeCalls
from bench.errands import Errand
from bench.house import House, our_house, seed_house
from bench.plan import Plan
from bench.scratch import progress, scratch

CONCURRENCIES = (1, 16)
SEED = "seed 001"
Tour = tuple[House, Errand]


class CyclePace(msgspec.Struct, frozen=True):
    """Cycles of one kind on one server: the medians, and the samples they come from."""

    what: str
    server: str
    concurrency: int
    median: Pace
    samples: list[Pace]


def measure_seed(plan: Plan) -> list[CyclePace]:
    """Three calls, fused, and the seed's three and two, by as many clients as each."""
    with scratch() as folder, our_house("ours", folder) as ours, seed_house(SEED, folder) as seed:
        tours: list[Tour] = [(ours, ThreeCalls()), (ours, Fused()), (seed, SeedCycle()), (seed, SeedPop())]
        return [row for concurrency in CONCURRENCIES for row in _rows(tours, concurrency, plan)]


def _rows(tours: Sequence[Tour], concurrency: int, plan: Plan) -> list[CyclePace]:
    samples: list[list[Pace]] = [[] for _ in tours]
    for number in range(plan.rounds):
        progress(f"cycles beside seed 001: {concurrency} clients, round {number + 1} of {plan.rounds}")
        order = list(zip(tours, samples, strict=True))
        for (house, errand), taken in order if number % 2 == 0 else reversed(order):
            taken.append(run(measure_pace(house, errand, concurrency, plan)))
    return [
        CyclePace(errand.name, house.name, concurrency, median_pace(taken), taken)
        for (house, errand), taken in zip(tours, samples, strict=True)
    ]
