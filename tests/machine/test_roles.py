"""Roles in every order, on both engines: one taker for each letter, never more in hand than may be, in order where that is asked, and none lost."""

from pathlib import Path

import pytest

from tests.engines import PostgresServer
from tests.machine.ground import PostgresGround
from tests.machine.roles import LIMITS, RoleMachine
from tests.machine.running import TIMES, run, sqlite_grounds

pytestmark = pytest.mark.timeout(300 * TIMES)


def test_roles_of_an_sqlite_office_are_the_models(tmp_path: Path) -> None:
    run(RoleMachine, sqlite_grounds(tmp_path, LIMITS), 20)


def test_roles_at_two_replicas_on_postgresql_are_the_models(postgres: PostgresServer) -> None:
    run(RoleMachine, lambda: PostgresGround(postgres, LIMITS), 6)
