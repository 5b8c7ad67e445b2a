"""Reports with numbers that nobody measured."""

from bench.calls import Pace
from bench.clients import Sample
from bench.crowd import SOCKETS, WAITS, Delays
from bench.growth import AGENTS, MESSAGES, Cost
from bench.load import Load
from bench.machine import Machine
from bench.replicas import NATS, NOTIFY, Crossing, Replicas
from bench.report import Report, Sitting
from bench.seed_cycles import SEED, CyclePace
from bench.turnover import Turnover

HERE = Machine(
    processor="abacus", cores=2, system="Linux 6", filesystem="ext4", python="3.11", sqlite="3.40", packages={"postoffice": "0.1.0"}
)


def sitting(others: float = 0.01) -> Sitting:
    return Sitting(12.0, 120.0, others)


def load(kind: str = SOCKETS, connections: int = 10_000, megabytes: float = 250.0, p99: float = 4.0) -> Load:
    return Load(kind, connections, megabytes, 20.0, 50, Delays(1_000, 0.4, 1.0, 1.5, p99))


def turnover(name: str, per_second: float, batch: int = 10, concurrency: int = 16) -> Turnover:
    sample = Sample(per_second, 80.0, 90.0)
    return Turnover(name, batch, concurrency, "synced", sample, [sample])


def seed_cycles(per_second: float, concurrency: int = 16) -> list[CyclePace]:
    return [cycle(what, SEED, per_second * calls, concurrency) for what, calls in (("send, receive, ack", 1), ("send, pop", 1.5))]


def cycle(what: str, server: str, per_second: float, concurrency: int = 16) -> CyclePace:
    pace = Pace(per_second, 1.0, 2.0, 300.0)
    return CyclePace(what, server, concurrency, pace, [pace])


def replicas(count: int, wake: str, per_second: float, p99: float) -> Replicas:
    pace, crossing = Pace(per_second, 1.0, 2.0, 300.0), Crossing(400, 2.0, p99)
    return Replicas(count, wake, pace, crossing, [pace], [crossing])


def whole() -> Report:
    """One row or two of everything that is new."""
    sections = ("load", "replicas", "brokers", "seed", "growth")
    return Report(
        machine=HERE,
        sittings={section: sitting() for section in sections},
        loads=[load(connections=100, megabytes=90.0), load(), load(WAITS, 2_000, 320.0, 14.0)],
        replicas=[replicas(1, NOTIFY, 2_000, 3.0), replicas(2, NOTIFY, 2_400, 9.0), replicas(2, NATS, 2_500, 31.0)],
        brokers=[turnover("ours, SDK over HTTP", 5_000), turnover("Redis Streams", 4_000), turnover("NATS JetStream", 6_000)],
        seed=[cycle("three calls", "ours", 1_500), cycle("fused", "ours", 2_500), *seed_cycles(130)],
        growth=[Cost("SQLite", by, size, 200.0, 180.0, 300.0 + size / 100) for by in (MESSAGES, AGENTS) for size in (1_000, 10_000)],
    )
