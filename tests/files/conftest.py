"""What the tests of file mailboxes share: an office that serves a folder of them, and who is at home there."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from postoffice.bridges.files import bridge
from postoffice.bridges.files.tree import Tree
from tests.doors.callers import Callers
from tests.doors.served import Served, serving
from tests.engines import Engine, SQLiteEngine
from tests.files.agent import FileAgent

Settle = Callable[..., FileAgent]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "mailboxes"


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    """What no file tells of is looked for often, so that nobody waits for it here."""
    monkeypatch.setattr(bridge, "_FULL_LOOK_SECONDS", 0.2)


@pytest.fixture
def deaf(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system tells nothing of what happens to files."""

    async def silence(_: Tree) -> AsyncIterator[set[tuple[str, str, str]]]:
        await asyncio.Event().wait()
        yield set()

    monkeypatch.setattr(Tree, "changes", silence)


@pytest.fixture
async def desk(tmp_path: Path, root: Path) -> AsyncIterator[Served]:
    """An open office that serves the files, on SQLite: most of what is shown here is the same on either engine."""
    async with serving(SQLiteEngine(tmp_path), files=root) as running:
        yield running


@pytest.fixture
async def callers(desk: Served) -> AsyncIterator[Callers]:
    async with Callers(desk) as found:
        yield found


@pytest.fixture
async def everywhere(engine: Engine, root: Path) -> AsyncIterator[Callers]:
    """The same on each engine."""
    async with serving(engine, files=root) as running, Callers(running) as found:
        yield found


@pytest.fixture
def at_home(root: Path) -> Settle:
    """Somebody moves in."""

    def join(name: str, **card: object) -> FileAgent:
        return FileAgent(root, name).join(**card)

    return join
