"""What the office does by itself is told in its log, and a trouble that lasts fills no disk with it."""

import asyncio
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from postoffice.core.errors import DatabaseLost
from postoffice.office.rules import OfficeRules
from postoffice.office.upkeep import Upkeep

NOBODY: Any = None


class Troubled(Upkeep):
    """Ticks that go as it is told, and then stand still."""

    def __init__(self, outcomes: Iterator[Exception | None]) -> None:
        super().__init__(NOBODY, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY, OfficeRules(tick=0), "me")
        self.outcomes = outcomes
        self.done = asyncio.Event()

    async def tick(self) -> None:
        self.held = True
        try:
            outcome = next(self.outcomes)
        except StopIteration:
            self.done.set()
            await asyncio.Event().wait()
            return
        if outcome is not None:
            raise outcome


async def told(caplog: pytest.LogCaptureFixture, *outcomes: Exception | None) -> list[tuple[str, str]]:
    caplog.set_level(logging.INFO, "postoffice.office.upkeep")
    upkeep = Troubled(iter(outcomes))
    running = asyncio.create_task(upkeep.run())
    await upkeep.done.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    return [(record.levelname, record.getMessage()) for record in caplog.records]


async def test_a_database_that_stays_away_is_told_of_once_and_once_when_it_is_back(caplog: pytest.LogCaptureFixture) -> None:
    away = [DatabaseLost(why="connection refused"), *[DatabaseLost(why="no such file")] * 100]
    (lost, back) = await told(caplog, None, *away, None, None)
    assert lost[0] == "WARNING"
    assert "connection refused" in lost[1]
    assert back == ("INFO", "upkeep goes on")


async def test_another_trouble_is_told_of_too_and_a_bug_says_where(caplog: pytest.LogCaptureFixture) -> None:
    levels = [level for level, _ in await told(caplog, DatabaseLost(why="away"), KeyError("x"), KeyError("y"), DatabaseLost(why="away"))]
    assert levels == ["WARNING", "ERROR", "WARNING"]
    assert caplog.records[1].exc_info is not None
