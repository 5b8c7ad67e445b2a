"""Windows in every order, on both engines: each has the name the rules give it, and no name is there twice."""

import itertools
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from postoffice.acts.people import windows
from postoffice.core.clock import micros
from tests.engines import PostgresServer
from tests.machine.ground import Ground, PostgresGround, SQLiteGround
from tests.machine.machine import LIMITS
from tests.machine.test_machine import SETTINGS, TIMES
from tests.machine.windows import LEASE, WindowMachine

pytestmark = pytest.mark.timeout(300 * TIMES)


@pytest.fixture(autouse=True)
def leases_that_only_the_machine_lets_run_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow the run is."""
    monkeypatch.setattr(windows, "_LEASE_MICROS", micros(LEASE))


def test_windows_of_an_sqlite_office_have_the_names_of_the_rules(tmp_path: Path) -> None:
    numbers = itertools.count()

    def ground() -> SQLiteGround:
        folder = tmp_path / f"run-{next(numbers)}"
        folder.mkdir()
        return SQLiteGround(folder, LIMITS)

    run(ground, 30)


def test_windows_at_two_replicas_on_postgresql_have_the_names_of_the_rules(postgres: PostgresServer) -> None:
    run(lambda: PostgresGround(postgres, LIMITS), 10)


def run(ground: Callable[[], Ground], examples: int) -> None:
    factory: Any = partial(WindowMachine, ground)
    run_state_machine_as_test(factory, settings=settings(SETTINGS, max_examples=examples * TIMES))
