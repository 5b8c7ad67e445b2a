"""Reservations in every order, on both engines: no two agents ever have one file alone, and who waits is told once."""

from pathlib import Path

import pytest

from tests.engines import PostgresServer
from tests.machine.ground import PostgresGround
from tests.machine.machine import LIMITS
from tests.machine.reservations import ReservationMachine
from tests.machine.running import TIMES, run, sqlite_grounds

pytestmark = pytest.mark.timeout(300 * TIMES)


def test_reservations_of_an_sqlite_office_are_the_models(tmp_path: Path) -> None:
    run(ReservationMachine, sqlite_grounds(tmp_path, LIMITS), 25)


def test_reservations_at_two_replicas_on_postgresql_are_the_models(postgres: PostgresServer) -> None:
    run(ReservationMachine, lambda: PostgresGround(postgres, LIMITS), 8)
