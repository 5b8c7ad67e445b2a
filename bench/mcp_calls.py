"""The MCP door under load, in turn with an echo tool on the same SDK and with seed 001's own design."""

from collections.abc import Sequence

import msgspec

from bench.calls import Pace, measure_pace, median_pace
from bench.clients import run
from bench.house import House
from bench.mcp_errands import ToolErrand
from bench.plan import Plan
from bench.scratch import progress

CONCURRENCIES = (1, 16)
Tour = tuple[House, ToolErrand]


class ToolCalls(msgspec.Struct, frozen=True):
    """One errand on one server at one concurrency, by the call: the medians, and the samples they come from."""

    what: str
    server: str
    concurrency: int
    median: Pace
    samples: list[Pace]


def measure_tools(tours: Sequence[Tour], plan: Plan) -> list[ToolCalls]:
    """Every tour at every concurrency, every second round backwards."""
    rows = []
    for concurrency in CONCURRENCIES:
        samples: list[list[Pace]] = [[] for _ in tours]
        for number in range(plan.rounds):
            progress(f"MCP: {concurrency} clients, round {number + 1} of {plan.rounds}")
            order = list(zip(tours, samples, strict=True))
            for (house, errand), taken in order if number % 2 == 0 else reversed(order):
                pace = run(measure_pace(house, errand, concurrency, plan))
                taken.append(_by_call(pace, errand.calls))
        rows += [
            ToolCalls(errand.name, house.name, concurrency, median_pace(taken), taken)
            for (house, errand), taken in zip(tours, samples, strict=True)
        ]
    return rows


def _by_call(pace: Pace, calls: int) -> Pace:
    return Pace(pace.per_second * calls, pace.p50_millis / calls, pace.p99_millis / calls, pace.server_cpu_micros / calls)
