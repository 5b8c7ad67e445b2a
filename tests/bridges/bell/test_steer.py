"""A turn of Codex that runs is told of urgent mail by its app server, and nothing else is."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, unix_serve

from postoffice.bridges.bell import app_server
from postoffice.bridges.bell.app_server import steer
from postoffice.bridges.bell.place import CODEX, Card
from postoffice.client.process import process


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder with a short name: a socket's is 107 characters at most."""
    with TemporaryDirectory(prefix="codex-") as folder:
        yield Path(folder)


@asynccontextmanager
async def serving(home: Path, turns: list[dict[str, str]] | None) -> AsyncIterator[list[dict[str, Any]]]:
    """An app server with these turns in its one conversation; what it was asked."""
    asked: list[dict[str, Any]] = []

    async def attend(line: ServerConnection) -> None:
        async for said in line:
            call = json.loads(said)
            asked.append(call)
            if turns is None or "id" not in call:
                continue
            await line.send(json.dumps({"method": "warning", "params": {}}))
            right = call["method"] != "turn/steer" or call["params"]["expectedTurnId"] == "now"
            await line.send(json.dumps({"id": call["id"]} | ({"result": {"data": turns[:1]}} if right else {"error": {"code": 1}})))

    socket = home / "app-server-control" / "app-server-control.sock"
    socket.parent.mkdir()
    async with unix_serve(attend, str(socket)):
        yield asked


def card(home: Path) -> Card:
    me = process(os.getpid())
    assert me is not None
    return Card(client=CODEX, process=me, folder=str(home), server="http://x", session="t", home=str(home))


@pytest.mark.parametrize(
    ("turns", "told"),
    [
        ([{"id": "now", "status": "inProgress"}], True),
        ([{"id": "another", "status": "inProgress"}], False),
        ([{"id": "now", "status": "completed"}], False),
        ([], False),
    ],
)
async def test_only_the_turn_that_runs_is_told(home: Path, turns: list[dict[str, str]], *, told: bool) -> None:
    async with serving(home, turns) as asked:
        assert await steer(card(home), "Urgent mail") is told
    steered = [call["params"]["input"] for call in asked if call["method"] == "turn/steer" and call["params"]["expectedTurnId"] == "now"]
    assert steered == ([[{"type": "text", "text": "Urgent mail"}]] if told else [])


async def test_a_server_that_is_silent_or_not_there_keeps_nobody_waiting(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not await steer(card(home), "Urgent mail")
    monkeypatch.setattr(app_server, "_ANSWER_SECONDS", 0.3)
    async with serving(home, None), asyncio.timeout(3):
        assert not await steer(card(home), "Urgent mail")
