"""The benchmark's newer sections run, with numbers so small that they say nothing."""

from pathlib import Path

import pytest
from bench.attachments import COPY, measure_attachments
from bench.clients import run
from bench.crowd import SOCKETS, WAITS
from bench.crowding import CrowdedPostgres, CrowdedSQLite
from bench.filling import FilledPostgres, FilledSQLite
from bench.growth import AGENTS, MESSAGES, growth_costs
from bench.lists import list_costs
from bench.load import FLOOR, measure_load
from bench.plan import TINY
from bench.replicas import NATS, NOTIFY, measure_replicas
from bench.server import running_server

pytestmark = pytest.mark.timeout(300)


def test_load() -> None:
    rows = measure_load(TINY)
    assert [(row.kind, row.connections) for row in rows] == [(FLOOR, 0), (SOCKETS, 10), (SOCKETS, 20), (WAITS, 5), (WAITS, 10)]
    assert all(row.delays.letters == 10 and row.delays.p99_from_send_millis > 0 for row in rows)
    assert all(row.megabytes > 1 for row in rows[1:])


def test_replicas_growth_and_lists(tmp_path: Path) -> None:
    with running_server() as server:
        rows = measure_replicas(server, TINY)
        costs = [
            *run(growth_costs(FilledSQLite(tmp_path), CrowdedSQLite(tmp_path), TINY)),
            *run(growth_costs(FilledPostgres(server), CrowdedPostgres(server), TINY)),
        ]
        letters = run(list_costs([("SQLite", CrowdedSQLite(tmp_path)), ("PostgreSQL", CrowdedPostgres(server))], TINY))
    assert [(row.engine, row.members) for row in letters] == [(engine, size) for engine in ("SQLite", "PostgreSQL") for size in TINY.lists]
    assert [(row.replicas, row.wake, row.crossing.rounds) for row in rows] == [(1, NOTIFY, 3), (2, NOTIFY, 3), (2, NATS, 3)]
    assert [(cost.engine, cost.by, cost.size) for cost in costs] == [
        (engine, by, size)
        for engine in ("SQLite", "PostgreSQL")
        for by, sizes in ((MESSAGES, TINY.sizes), (AGENTS, TINY.crowds))
        for size in sizes
    ]
    assert all(min(cost.send_micros, cost.lease_micros, cost.inbox_micros) > 0 for cost in costs)


def test_attachments() -> None:
    rows = measure_attachments(TINY)
    assert [(row.way, row.megabytes) for row in rows] == [(COPY, 2), ("upload", 2), ("download", 2)]
    assert all(row.per_second > 0 for row in rows)
