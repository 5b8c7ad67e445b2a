"""A list, on both engines: each member sees what it should, whoever comes, goes, writes and crashes meanwhile."""

from pathlib import Path

import pytest

from postoffice.core.limits import Limits
from tests.engines import PostgresServer
from tests.machine.ground import PostgresGround
from tests.machine.lists import ListMachine
from tests.machine.running import TIMES, run, sqlite_grounds

pytestmark = pytest.mark.timeout(300 * TIMES)


def test_a_list_of_an_sqlite_office_is_the_models(tmp_path: Path) -> None:
    run(ListMachine, sqlite_grounds(tmp_path, Limits()), 20)


def test_a_list_of_two_replicas_on_postgresql_is_the_models(postgres: PostgresServer) -> None:
    run(ListMachine, lambda: PostgresGround(postgres, Limits()), 6)
