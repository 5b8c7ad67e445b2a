"""What every test may use. Each test that asks for `engine` runs on SQLite and on PostgreSQL."""

import os
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from postoffice.office import OfficeRules, PostOffice
from postoffice.store.store import Store
from postoffice.wake.local import LocalWake
from tests.chaos.form import LONG
from tests.engines import Engine, PostgresEngine, PostgresServer, SQLiteEngine, running_postgres
from tests.ledger.not_run import CREDENTIALS

# Where the tests were started in the background Ctrl-C is ignored, by them and by every program they start: some are to be stopped by it.
signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # by nohup: the tests heed it no more than before, what they start does
    signal.signal(signal.SIGHUP, lambda *_: None)
os.environ["POSTOFFICE_AUTOSTART"] = "0"  # no test opens an office in anybody's home
_LONG = [
    "test_views",
    "test_openapi",
    "test_serve",
    "test_restarts",
    "test_kill",
    "test_docs",
    "test_inbox_view",
    "test_bell",
    "test_login",
    "test_crossing",
]
"""Files that keep a worker busy for longest."""
_QUICK = {"core", "crossing", "office", "setup", "store", "wake"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--sqlite-only", action="store_true", help="leave out what needs PostgreSQL, for a quick look")


def _needs_postgres(item: pytest.Item) -> bool:
    assert isinstance(item, pytest.Function)
    case = getattr(item, "callspec", None)
    return "postgres" in item.fixturenames or (case is not None and "postgres" in case.params.values())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What needs programs of others, or a long time, is left to the long form."""
    long = [item for item in items if item.get_closest_marker("chaos")]
    if long and not LONG:
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if item not in long]
    if config.getoption("--sqlite-only"):
        slow = [item for item in items if _needs_postgres(item)]
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if item not in slow]
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    """What takes long begins first, and many quick files come last: all workers end together."""
    if item.path.stem in _LONG:
        return _LONG.index(item.path.stem) - len(_LONG)
    return item.path.parent.name in _QUICK


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    with running_postgres() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgres"])
async def engine(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Engine]:
    if request.param == "sqlite":
        yield SQLiteEngine(tmp_path)
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    url = await server.borrow()
    yield PostgresEngine(url)
    await server.give_back(url)


@pytest.fixture
async def store(engine: Engine) -> AsyncIterator[Store]:
    """An open store with the default limits."""
    opened = engine.store()
    await opened.open(lambda _: None)
    yield opened
    await opened.close()


@pytest.fixture
async def office(engine: Engine) -> AsyncIterator[PostOffice]:
    """An open office with the default rules. Its upkeep never ticks by itself: tests call `office.upkeep.tick()`."""
    async with PostOffice(engine.store(), LocalWake(), OfficeRules(tick=3600)) as opened:
        yield opened


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What needs credentials that nobody gave is said to be not run, whatever else passed."""
    if any("test_testnet" in report.nodeid for report in terminalreporter.stats.get("skipped", [])):
        terminalreporter.section("not run")
        terminalreporter.line(f"The testnet suite (tests/ledger/test_testnet.py): give it {' and '.join(CREDENTIALS)}.")
