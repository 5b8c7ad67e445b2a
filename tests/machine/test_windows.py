"""Windows in every order, on both engines: each has the name the rules give it, and no name is there twice."""

from pathlib import Path

import pytest

from postoffice.acts.people import windows
from postoffice.core.clock import micros
from tests.engines import PostgresServer
from tests.machine.ground import PostgresGround
from tests.machine.machine import LIMITS
from tests.machine.running import TIMES, run, sqlite_grounds
from tests.machine.windows import LEASE, WindowMachine

pytestmark = pytest.mark.timeout(300 * TIMES)


@pytest.fixture(autouse=True)
def leases_that_only_the_machine_lets_run_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow the run is."""
    monkeypatch.setattr(windows, "_LEASE_MICROS", micros(LEASE))


def test_windows_of_an_sqlite_office_have_the_names_of_the_rules(tmp_path: Path) -> None:
    run(WindowMachine, sqlite_grounds(tmp_path, LIMITS), 30)


def test_windows_at_two_replicas_on_postgresql_have_the_names_of_the_rules(postgres: PostgresServer) -> None:
    run(WindowMachine, lambda: PostgresGround(postgres, LIMITS), 10)
