"""By its app server a turn of Codex begins in a conversation that is open, and one that runs is told of urgent mail; nothing else is."""

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
from postoffice.bridges.bell.app_server import start, steer
from postoffice.bridges.bell.place import CODEX, Card
from postoffice.bridges.bell.window import Window
from postoffice.client.process import Process, process


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
            data = ["t"] if call["method"] == "thread/loaded/list" else turns[:1]
            await line.send(json.dumps({"id": call["id"]} | ({"result": {"data": data}} if right else {"error": {"code": 1}})))

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


async def test_a_turn_begins_in_a_conversation_that_is_open_and_in_no_other(home: Path) -> None:
    async with serving(home, []) as asked:
        window = Window(card(home))
        assert window.ways()[0] == "socket"
        assert await window.ring("socket", "Mail waits")
        assert window.at_work(), "the answer says that it has begun"
        begun = [call["params"] for call in asked if call["method"] == "turn/start"]
        assert begun == [{"threadId": "t", "input": [{"type": "text", "text": "Mail waits"}]}]
        asked.clear()
        other, gone = card(home), card(home)
        other.session, gone.process = "another", Process(gone.process.pid, "0")
        assert not await start(other, "Mail waits")
        assert not await start(gone, "Mail waits")
        assert not [call for call in asked if call["method"] == "turn/start"]


async def test_a_server_that_is_silent_or_not_there_keeps_nobody_waiting(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not await steer(card(home), "Urgent mail")
    assert Window(card(home)).ways() in ([], ["queue"])
    monkeypatch.setattr(app_server, "_ANSWER_SECONDS", 0.3)
    async with serving(home, None), asyncio.timeout(3):
        assert not await start(card(home), "Mail waits")
        assert not await steer(card(home), "Urgent mail")
