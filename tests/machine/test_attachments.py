"""Attachments in every order, on both engines: who may fetch what, and that all of it is there as long as anybody may."""

import itertools
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from tests.engines import PostgresServer
from tests.machine.attachments import AttachmentMachine
from tests.machine.ground import Ground, PostgresGround, SQLiteGround
from tests.machine.machine import LIMITS
from tests.machine.test_machine import SETTINGS, TIMES

pytestmark = pytest.mark.timeout(300 * TIMES)


def test_attachments_of_an_sqlite_office_are_the_models(tmp_path: Path) -> None:
    numbers = itertools.count()

    def ground() -> SQLiteGround:
        folder = tmp_path / f"run-{next(numbers)}"
        folder.mkdir()
        return SQLiteGround(folder, LIMITS)

    run(ground, 25)


def test_attachments_at_two_replicas_on_postgresql_are_the_models(postgres: PostgresServer) -> None:
    run(lambda: PostgresGround(postgres, LIMITS), 8)


def run(ground: Callable[[], Ground], examples: int) -> None:
    factory: Any = partial(AttachmentMachine, ground)
    run_state_machine_as_test(factory, settings=settings(SETTINGS, max_examples=examples * TIMES))
