"""The machine on both engines.

A dozen runs and more of a few dozen steps each, in well under a minute; `POSTOFFICE_EXAMPLES=20` does twenty times as many.
In CI (`CI` in the environment) the runs are the same every time; elsewhere each time others, and what failed is tried first.
"""

import sys
from pathlib import Path
from typing import Any

import pytest

from postoffice.acts.desk import Desk
from postoffice.acts.mail import moves
from postoffice.acts.rows import DeliveryRow
from postoffice.core.delivery import MOVES, State
from postoffice.store.postgres import committer
from tests.engines import PostgresServer
from tests.machine.ground import PostgresGround
from tests.machine.machine import LIMITS
from tests.machine.many import ManyMachine
from tests.machine.running import TIMES, run, sqlite_grounds

pytestmark = pytest.mark.timeout(600 * TIMES)


@pytest.fixture(autouse=True)
def only_moves_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """No delivery ever moves but as core/delivery.py allows."""
    move = moves.move

    def checked(desk: Desk, row: DeliveryRow, state: State, **more: Any) -> None:
        before = State(row.state)
        assert state is before or state in MOVES[before], f"{before} → {state}"
        move(desk, row, state, **more)

    # Acts have it by name.
    movers = [module for name, module in sys.modules.items() if name.startswith("postoffice.acts.") and vars(module).get("move") is move]
    assert len(movers) > 1
    for module in movers:
        monkeypatch.setattr(module, "move", checked)


def test_an_sqlite_office_keeps_every_promise_whatever_happens(tmp_path: Path) -> None:
    run(ManyMachine, sqlite_grounds(tmp_path, LIMITS), 40)


def test_two_replicas_on_postgresql_keep_every_promise_whatever_happens(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    # Each goes by what it remembers although the other has just changed it: nothing but the versions of rows tells.
    monkeypatch.setattr(committer, "_DOUBT_NANOSECONDS", 0)
    run(ManyMachine, lambda: PostgresGround(postgres, LIMITS), 12)
