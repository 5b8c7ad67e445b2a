"""Contenders measured in turn, several times over, so that a noisy moment does not hit only one of them."""

from collections.abc import Sequence
from statistics import median

import msgspec

from bench.clients import Contender, Sample
from bench.plan import CONCURRENCIES, Plan
from bench.scratch import progress


class Cycles(msgspec.Struct, frozen=True):
    """One contender at one concurrency: the medians, and the samples they come from."""

    name: str
    concurrency: int
    durability: str
    median: Sample
    samples: list[Sample]


def measure_all(contenders: Sequence[Contender], plan: Plan) -> list[Cycles]:
    """Every contender at every concurrency, in the order given, every second round backwards."""
    rows = []
    for concurrency in CONCURRENCIES:
        samples: dict[str, list[Sample]] = {contender.name: [] for contender in contenders}
        for number in range(plan.rounds):
            progress(f"{concurrency} clients, round {number + 1} of {plan.rounds}: {', '.join(samples)}")
            for contender in contenders if number % 2 == 0 else reversed(contenders):
                samples[contender.name].append(contender.measure(concurrency, plan))
        rows += [
            Cycles(contender.name, concurrency, contender.durability, median_sample(samples[contender.name]), samples[contender.name])
            for contender in contenders
        ]
    return rows


def median_sample(samples: list[Sample]) -> Sample:
    """The middle of each number."""
    server = [sample.server_cpu_micros for sample in samples if sample.server_cpu_micros is not None]
    return Sample(
        median(sample.cycles_per_second for sample in samples),
        median(sample.cpu_micros for sample in samples),
        median(server) if server else None,
    )
