"""Letters that are sent again and again, on both engines: each time comes once, whatever happens then."""

from pathlib import Path

import pytest

from postoffice.core.limits import Limits
from tests.engines import PostgresServer
from tests.machine.ground import PostgresGround
from tests.machine.recurring import RecurringMachine
from tests.machine.running import TIMES, run, sqlite_grounds

pytestmark = pytest.mark.timeout(300 * TIMES)


def test_recurring_letters_of_an_sqlite_office_are_the_models(tmp_path: Path) -> None:
    run(RecurringMachine, sqlite_grounds(tmp_path, Limits()), 20)


def test_recurring_letters_of_two_replicas_on_postgresql_are_the_models(postgres: PostgresServer) -> None:
    run(RecurringMachine, lambda: PostgresGround(postgres, Limits()), 6)
