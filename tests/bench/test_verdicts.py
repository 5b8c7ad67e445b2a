"""The tables of load, replicas, brokers and the seed: each wish, reached and missed."""

import pytest
from bench.crowd import WAITS
from bench.load import FLOOR
from bench.replicas import NATS, NOTIFY
from bench.table import Table

from bench import tables
from tests.bench.numbers import cycle, load, replicas, seed_cycles, turnover, whole


def said(table: Table) -> list[tuple[str, bool]]:
    return [(verdict.wish, verdict.reached) for verdict in table.verdicts()]


def test_sockets_are_judged_by_all_the_memory_of_the_process_and_by_the_delay_from_the_send() -> None:
    rows = [load(FLOOR, 0, 0.0, 30.0), load(connections=100, megabytes=500.0, p99=50.0), load(megabytes=301.0, p99=9.9)]
    assert said(tables.loads(rows)) == [
        ("MB at most 300", False),
        ("p99 from send under 10", True),
    ]


def test_fewer_sockets_than_wished_for_say_nothing_of_memory() -> None:
    assert said(tables.loads([load(connections=1_000), load(WAITS, 200, 900.0, 10.0)])) == [
        ("p99 from send under 10", True),
        ("p99 from send under 10", False),
    ]


def test_replicas_are_judged_across_and_compared_with_one() -> None:
    table = tables.replicas([replicas(1, NOTIFY, 1_000, 80.0), replicas(2, NOTIFY, 1_500, 24.9), replicas(2, NATS, 500, 25.0)])
    assert said(table) == [("p99 under 25", True), ("p99 under 25", False)]
    assert [line[3] for line in table.lines] == ["", "1.50", "0.50"]


@pytest.mark.parametrize(("ours", "reached"), [(3_999, False), (4_000, True)])
def test_a_broker_is_equalled_in_batches_only(ours: float, reached: bool) -> None:  # noqa: FBT001
    rows = [turnover("ours, SDK over HTTP", ours), turnover("Redis Streams", 4_000)]
    alone = [turnover("ours, SDK over HTTP", 1, batch=1), turnover("Redis Streams", 4_000, batch=1)]
    assert said(tables.brokers([*alone, *rows])) == [("at least 1.0", reached)]


def test_the_seed_is_beaten_at_sixteen_clients_or_not() -> None:
    rows = [cycle("three calls", "ours", 1_000), cycle("fused", "ours", 1_999), *seed_cycles(100)]
    alone = [cycle("three calls", "ours", 1, concurrency=1), *seed_cycles(100, concurrency=1)]
    assert said(tables.seed([*alone, *rows])) == [("at least 10", True), ("at least 20", False)]


def test_growth_is_told_as_a_multiple_of_the_smallest() -> None:
    table = tables.growth(whole().growth)
    assert [line[-1] for line in table.lines] == ["1.00", "1.29", "1.00", "1.29"]


def test_what_was_not_measured_has_no_table() -> None:
    assert [section for section, _ in whole().tables()] == ["growth", "seed", "load", "replicas", "brokers"]
