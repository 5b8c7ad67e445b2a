"""A list, on both engines: each member sees what it should, whoever comes, goes, writes and crashes meanwhile."""

import itertools
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from postoffice.core.limits import Limits
from tests.engines import PostgresServer
from tests.machine.ground import Ground, PostgresGround, SQLiteGround
from tests.machine.lists import ListMachine
from tests.machine.test_machine import SETTINGS, TIMES

pytestmark = pytest.mark.timeout(300 * TIMES)


def test_a_list_of_an_sqlite_office_is_the_models(tmp_path: Path) -> None:
    numbers = itertools.count()

    def ground() -> SQLiteGround:
        folder = tmp_path / f"run-{next(numbers)}"
        folder.mkdir()
        return SQLiteGround(folder, Limits())

    run(ground, 20)


def test_a_list_of_two_replicas_on_postgresql_is_the_models(postgres: PostgresServer) -> None:
    run(lambda: PostgresGround(postgres, Limits()), 6)


def run(ground: Callable[[], Ground], examples: int) -> None:
    factory: Any = partial(ListMachine, ground)
    run_state_machine_as_test(factory, settings=settings(SETTINGS, max_examples=examples * TIMES))
