"""The plots of the report: the part of a table that is better seen than read."""

from collections.abc import Iterator, Sequence

from bench.growth import AGENTS, MESSAGES, Cost
from bench.load import FLOOR
from bench.report import Report
from bench.rounds import Cycles
from bench.seed_cycles import SEED
from bench.svg import Bar, bars, lines

_AT = 16
Plot = tuple[str, str, str]
"""Its section, its name, and what is in it."""


def plots(report: Report) -> Iterator[Plot]:
    """Every plot there is something for."""
    if report.sqlite:
        yield "sqlite", "sqlite", bars(f"SQLite: send, lease and ack, {_AT} clients", "cycles/s", _cycles(report.sqlite))
    if report.postgres:
        yield "postgres", "postgres", bars(f"PostgreSQL: send, lease and ack, {_AT} clients", "cycles/s", _cycles(report.postgres))
    for by in (MESSAGES, AGENTS):
        if costs := [cost for cost in report.growth if cost.by == by]:
            yield "growth", f"growth-{by}", lines(f"What one act costs, by {by}", by, "µs", _growth(costs))
    if report.seed:
        found = [
            Bar(f"{row.server}, {row.what}", row.median.per_second, row.server != SEED) for row in report.seed if row.concurrency == _AT
        ]
        yield "seed", "seed", bars(f"The cycle over HTTP, {_AT} clients", "cycles/s", found)
    if report.loads:
        crowds = {f"{row.connections:,} {row.kind}": row for row in report.loads if row.kind != FLOOR}
        found = [Bar(crowd, row.megabytes, ours=True) for crowd, row in crowds.items()]
        yield "load", "load-memory", bars("Memory of one process, each row with those above it", "MB", found)
        found = [Bar(row.kind, row.delays.p99_from_send_millis, ours=False) for row in report.loads if row.kind == FLOOR]
        found += [Bar(crowd, row.delays.p99_from_send_millis, ours=True) for crowd, row in crowds.items()]
        yield "load", "load-delay", bars("From a send to whoever waits, p99", "ms", found)
    if report.replicas:
        found = [Bar(f"{row.replicas} by {row.wake}", row.crossing.p99_millis, ours=True) for row in report.replicas]
        yield "replicas", "replicas", bars("From a send at one replica to a wait at the other, p99", "ms", found)
    if report.brokers:
        chosen = [row for row in report.brokers if row.concurrency == _AT]
        found = [Bar(f"{row.name}, {row.batch} at a time", row.median.cycles_per_second, row.name.startswith("ours")) for row in chosen]
        yield "brokers", "brokers", bars(f"Send, receive and ack through Python clients, {_AT} of them", "messages/s", found)


def _cycles(rows: Sequence[Cycles]) -> list[Bar]:
    return [Bar(row.name, row.median.cycles_per_second, row.name.startswith("ours")) for row in rows if row.concurrency == _AT]


def _growth(costs: Sequence[Cost]) -> dict[str, list[tuple[float, float]]]:
    series: dict[str, list[tuple[float, float]]] = {}
    for cost in costs:
        for act, micros in (("send", cost.send_micros), ("lease", cost.lease_micros), ("inbox", cost.inbox_micros)):
            series.setdefault(f"{cost.engine}, {act}", []).append((cost.size, micros))
    return series
