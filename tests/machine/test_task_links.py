"""Tasks that belong to tasks, in every order, on both engines: nobody waits for itself, and whoever waits is told once."""

from pathlib import Path

import pytest

from postoffice.core.limits import Limits
from tests.engines import PostgresServer
from tests.machine.ground import PostgresGround
from tests.machine.running import TIMES, run, sqlite_grounds
from tests.machine.task_links import TaskMachine

pytestmark = pytest.mark.timeout(300 * TIMES)


def test_task_links_of_an_sqlite_office_are_the_models(tmp_path: Path) -> None:
    run(TaskMachine, sqlite_grounds(tmp_path, Limits()), 20)


def test_task_links_at_two_replicas_on_postgresql_are_the_models(postgres: PostgresServer) -> None:
    run(TaskMachine, lambda: PostgresGround(postgres, Limits()), 6)
