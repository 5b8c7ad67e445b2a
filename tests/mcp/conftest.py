"""What the tests of the MCP doors share: served offices, open or guarded, on both engines or on the lighter one."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.doors.served import Served, serving
from tests.engines import Engine, SQLiteEngine


@pytest.fixture
async def served(engine: Engine) -> AsyncIterator[Served]:
    """An open office, as a laptop has it."""
    async with serving(engine) as running:
        yield running


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Served]:
    """An open office on SQLite, for what never reaches the engine."""
    async with serving(SQLiteEngine(tmp_path)) as running:
        yield running


@pytest.fixture
async def vault(tmp_path: Path) -> AsyncIterator[Served]:
    """An office on SQLite that requires keys, as a team has it."""
    folder = tmp_path / "vault"
    folder.mkdir()
    async with serving(SQLiteEngine(folder), auth="keys") as running:
        yield running
