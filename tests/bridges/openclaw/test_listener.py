"""The listener: it rings, it pings, it comes back, and it misses nothing."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.asyncio.server import Server, ServerConnection, serve

from postoffice.bridges.openclaw import listener as listeners
from postoffice.bridges.openclaw.listener import Listener
from tests.doors.served import serving as serving_here
from tests.engines import SQLiteEngine
from tests.serve.running import COMMAND, PATIENCE, free_port, serving


@asynccontextmanager
async def listening(listener: Listener) -> AsyncIterator[None]:
    task = asyncio.create_task(listener.listen())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def until(check: Any, seconds: float = 45) -> None:
    async with asyncio.timeout(seconds):
        while not check():  # noqa: ASYNC110 - what is awaited happens elsewhere
            await asyncio.sleep(0.02)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listeners, "_FIRST_PAUSE_SECONDS", 0.05)
    monkeypatch.setattr(listeners, "_LONGEST_PAUSE_SECONDS", 0.2)


class Office:
    """The other end of the line, as a script."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.frames: list[Any] = []
        self.lines: list[ServerConnection] = []
        self.close_code: int | None = None

    async def answer(self, line: ServerConnection) -> None:
        assert line.request is not None
        self.paths.append(line.request.path)
        if self.close_code is not None:
            code, self.close_code = self.close_code, None
            await line.close(code, "no")
            return
        self.lines.append(line)
        async for text in line:
            self.frames.append(json.loads(text))
            await line.send('{"type": "pong"}')

    async def open(self, port: int = 0) -> tuple[Server, int]:
        server = await serve(self.answer, "127.0.0.1", port)
        return server, next(iter(server.sockets)).getsockname()[1]


async def test_it_rings_for_new_mail_and_for_nothing_else(tmp_path: Path) -> None:
    rung = 0

    def ring() -> None:
        nonlocal rung
        rung += 1

    engine = SQLiteEngine(tmp_path)
    async with serving_here(engine) as served, served.client(name="ann") as ann, listening(Listener(served.url, {"X-Agent": "claw"}, ring)):
        await until(lambda: rung == 1)  # once on coming, since something may have come before
        await ann.post("/messages/send", json={"to": "claw", "subject": "s", "content": "hello"})
        await until(lambda: rung == 2)
        async with served.client(name="claw") as claw:
            await claw.post("/messages/send", json={"to": "ann", "subject": "s", "content": "hello"})
            await ann.post("/messages/pop", json={})  # claw hears of the receipt
        await asyncio.sleep(0.3)
        assert rung == 2


async def test_it_pings_at_once_and_again() -> None:
    office = Office()
    server, port = await office.open()
    async with server, listening(Listener(f"http://127.0.0.1:{port}", {}, lambda: None, ping_every=0.1)):
        await until(lambda: len(office.frames) >= 3)
    assert office.frames[0] == {"type": "ping"}
    assert listeners._PING_SECONDS == 25


@pytest.mark.usefixtures("quick")
async def test_a_line_without_a_pong_is_given_up_for_another() -> None:
    office = Office()
    office.answer = lambda line: _deaf(office, line)  # type: ignore[method-assign]
    server, port = await office.open()
    async with server, listening(Listener(f"http://127.0.0.1:{port}", {}, lambda: None, ping_every=0.1)):
        await until(lambda: len(office.paths) >= 2)


async def _deaf(office: Office, line: ServerConnection) -> None:
    office.paths.append("")
    async for _ in line:
        pass


@pytest.mark.usefixtures("quick")
async def test_it_comes_back_with_the_last_cursor_and_drops_one_that_is_refused() -> None:
    office = Office()
    server, port = await office.open()
    async with server, listening(Listener(f"http://127.0.0.1:{port}", {}, lambda: None)):
        await until(lambda: office.lines)
        await office.lines[0].send('{"type": "receipt", "cursor": "17"}')
        await office.lines[0].send("not json")
        await office.lines[0].close(1012)
        await until(lambda: len(office.paths) == 2)
        office.close_code = 4022
        await office.lines[-1].close(1012)
        await until(lambda: len(office.paths) == 4)
    assert office.paths == ["/ws", "/ws?cursor=17", "/ws?cursor=17", "/ws"]


async def test_pauses_double_from_one_second_to_thirty_with_jitter(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    real = asyncio.sleep

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        await real(0)

    monkeypatch.setattr("postoffice.bridges.openclaw.listener.asyncio.sleep", sleep)
    async with listening(Listener(f"http://127.0.0.1:{free_port()}", {}, lambda: None)):
        async with asyncio.timeout(30):
            while len(slept) < 9:
                await real(0.01)
    for seconds, wanted in zip(slept, [1, 2, 4, 8, 16, 30, 30, 30], strict=False):
        assert wanted * 0.7 <= seconds <= wanted * 1.3
    assert len({seconds / wanted for seconds, wanted in zip(slept, [1, 2, 4, 8, 16], strict=False)}) > 1


@pytest.mark.usefixtures("quick")
async def test_a_server_that_restarts_is_heard_again(tmp_path: Path) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    bell = asyncio.Event()
    command = [*COMMAND, "serve", "--data", str(tmp_path), "--port", str(port), "--log-level", "error"]
    async with listening(Listener(url, {"X-Agent": "claw"}, bell.set)):
        for _ in range(2):
            with serving(*command, port=port, here=tmp_path):
                async with httpx.AsyncClient(base_url=url, headers={"X-Agent": "ann"}, timeout=PATIENCE) as ann:
                    await until(bell.is_set)
                    await asyncio.sleep(0.3)
                    bell.clear()
                    sent = await ann.post("/messages/send", json={"to": "claw", "subject": "s", "content": "hello"})
                    assert sent.status_code == 201
                    await until(bell.is_set)
                    bell.clear()
