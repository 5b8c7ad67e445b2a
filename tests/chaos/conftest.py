"""The grounds to stand on, and the table at the end."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol

import pytest

from tests.chaos.form import SEED
from tests.chaos.ground import Ground, PostgresGround, SQLiteGround
from tests.chaos.office import Replica
from tests.chaos.verdict import Verdict
from tests.engines import PostgresServer


class Tell(Protocol):
    """Puts a verdict into the table, and fails with what was found wrong."""

    def __call__(self, fault: str, verdict: Verdict, engine: str | None = None) -> None: ...


EACH = pytest.mark.parametrize("ground", ["sqlite", "postgres"], indirect=True)
SQLITE_FIRST = pytest.mark.parametrize("ground", ["sqlite", pytest.param("postgres", marks=pytest.mark.chaos)], indirect=True)
"""PostgreSQL in the long form only."""
POSTGRES_FIRST = pytest.mark.parametrize("ground", [pytest.param("sqlite", marks=pytest.mark.chaos), "postgres"], indirect=True)
"""SQLite in the long form only."""
POSTGRES = pytest.mark.parametrize("ground", ["postgres"], indirect=True)
TRIES, REPLIES = 20, 10
"""What the calm server allows: leases of a message, and automatic replies in a session."""
_ROW = "chaos"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """The table: what befell the office, and what became of the mail."""
    reports = [report for found in terminalreporter.stats.values() for report in found if isinstance(report, pytest.TestReport)]
    told = [value for report in reports if report.when == "call" for name, value in report.user_properties if name == _ROW]
    rows = [tuple(row) for row in told if isinstance(row, tuple | list)]
    if rows:
        terminalreporter.section(f"faults (POSTOFFICE_SEED={SEED})")
        line = "{:<58} {:<10} {:>9} {:>6} {:>8} {:>12}".format
        terminalreporter.write_line(line("fault", "engine", "accepted", "lost", "doubled", "longest gap"))
        for row in rows:
            terminalreporter.write_line(line(*row))


@pytest.fixture
async def ground(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Ground]:
    if request.param == "sqlite":
        yield SQLiteGround(tmp_path)
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    url = await server.copy()
    yield PostgresGround(tmp_path, url)
    await server.drop(url)


@pytest.fixture(scope="session", params=["sqlite", "postgres"])
def calm(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replica]:
    """A server to which nothing happens, for all tests whose fault is elsewhere. Each leaves its mailboxes empty."""
    folder = tmp_path_factory.mktemp("calm")
    if request.param == "sqlite":
        found: Ground = SQLiteGround(folder)
    else:
        server: PostgresServer = request.getfixturevalue("postgres")
        with ThreadPoolExecutor(1) as thread:  # a test's event loop may be running here
            found = PostgresGround(folder, thread.submit(lambda: asyncio.run(server.copy())).result())
    replica = found.replicas(POSTOFFICE_MAX_ATTEMPTS=str(TRIES), POSTOFFICE_AUTOMATIC_REPLIES=str(REPLIES))[0]
    replica.start()
    yield replica
    replica.close()


@pytest.fixture
def tell(record_property: Callable[[str, object], None], request: pytest.FixtureRequest) -> Tell:
    def told(fault: str, verdict: Verdict, engine: str | None = None) -> None:
        if engine is None:
            (name,) = {"ground", "calm"} & set(request.fixturenames)
            engine = request.getfixturevalue(name).engine
        record_property(_ROW, (fault, engine, verdict.accepted, verdict.lost, verdict.doubled, f"{verdict.gap:.2f} s"))
        assert not verdict.violations, "\n".join(map(str, verdict.violations[:20]))
        assert verdict.accepted

    return told
