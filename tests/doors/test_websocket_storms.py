"""The WebSocket door in bad weather: storms of reconnects, dead peers, slow readers, and very many who only wait."""

import asyncio
import json
import logging
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, suppress
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed

from postoffice.core.draft import Draft
from postoffice.doors import websocket
from tests.doors.callers import Callers, done, send
from tests.doors.served import Served, serving
from tests.doors.sockets import PATIENCE, heard, open_sockets, plugged, sockets_become
from tests.doors.wire import CLOSE, PING, PONG, TEXT, Wire, wired
from tests.engines import SQLiteEngine

LARGE = 500_000


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Served]:
    """An open office on SQLite, for what the engine has no part in."""
    async with serving(SQLiteEngine(tmp_path)) as running:
        yield running


class TestReconnects:
    async def test_nothing_is_missed_or_doubled_over_many(self, served: Served) -> None:
        wanted = [str(number) for number in range(300)]
        got: list[str] = []
        cursor = "0"
        chance = random.Random(3)

        async def send_all() -> None:
            alice = await served.office.identify(name="alice")
            for content in wanted:
                await served.office.send(alice, Draft(to="bob", subject="Lunch", content=content))
                await asyncio.sleep(0.001)

        sending = asyncio.create_task(send_all())
        for _ in range(30):
            async with plugged(served.ws_url, agent="bob", cursor=cursor) as socket:
                for _ in range(chance.randrange(12)):
                    if len(got) == len(wanted):
                        break
                    event = await heard(socket)
                    cursor = event["cursor"]
                    got.append(event["content"])
                if chance.random() < 0.5:
                    socket.transport.abort()
        await sending
        async with plugged(served.ws_url, agent="bob", cursor=cursor) as socket:
            while len(got) < len(wanted):
                got.append((await heard(socket))["content"])
        assert got == wanted

    async def test_a_storm_of_them_loses_nothing_and_leaves_nothing_behind(self, served: Served, caplog: pytest.LogCaptureFixture) -> None:
        async with Callers(served) as callers:
            (alice,) = await callers.named("alice")
            begin = str(await served.office.latest(await served.office.identify(name="bob")))
            chance = random.Random(7)

            async def come_and_go(number: int) -> None:
                async with plugged(served.ws_url, agent="bob", cursor=begin) as socket:
                    if number % 4 == 0:
                        await send(alice, "bob", str(number))
                    with suppress(TimeoutError, ConnectionClosed):
                        await heard(socket, chance.random() / 10)
                    if number % 3 == 0:
                        socket.transport.abort()

            await asyncio.gather(*(come_and_go(number) for number in range(200)))
            await sockets_become(served, 0)
            wanted = {str(number) for number in range(0, 200, 4)}
            async with plugged(served.ws_url, agent="bob", cursor=begin) as socket:
                assert {(await heard(socket))["content"] for _ in wanted} == wanted
            assert _errors(caplog) == []


class TestDeadPeers:
    async def test_those_that_vanish_are_forgotten(self, desk: Served, caplog: pytest.LogCaptureFixture) -> None:
        async with Callers(desk) as callers:
            (alice,) = await callers.named("alice")
            async with AsyncExitStack() as stack:
                wires = [await stack.enter_async_context(wired(desk.url)) for _ in range(20)]
                for wire in wires:
                    assert (await wire.upgrade("/ws?agent=bob")).status == 101
                assert await open_sockets(alice) == 20
                for wire in wires:
                    wire.vanish()
                await send(alice, "bob")
                await sockets_become(desk, 0)
        assert _errors(caplog) == []

    async def test_those_that_vanish_while_they_are_refused_are_forgotten(self, desk: Served, caplog: pytest.LogCaptureFixture) -> None:
        for path in ("/ws?agent=bob&cursor=x", "/ws?api_key=none", "/ws"):
            for _ in range(10):
                async with wired(desk.url) as wire:
                    headers = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
                    await wire.ask("GET", path, headers | {"Sec-WebSocket-Key": "x" * 22 + "=="})
                    wire.vanish()
        await sockets_become(desk, 0)
        assert _errors(caplog) == []

    async def test_those_that_vanish_as_the_office_closes_make_no_noise(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        async with serving(SQLiteEngine(tmp_path)) as served, AsyncExitStack() as stack:
            wires = [await stack.enter_async_context(wired(served.url)) for _ in range(20)]
            for wire in wires:
                assert (await wire.upgrade("/ws?agent=bob")).status == 101
            for wire in wires:
                wire.vanish()
            served.office.drain()
        assert _errors(caplog) == []

    async def test_one_that_answers_no_ping_is_dropped(self, tmp_path: Path) -> None:
        async with (
            # The one that answers has as long for it as a machine that is slow today needs.
            serving(SQLiteEngine(tmp_path), ws_ping_interval=0.2, ws_ping_timeout=4.0) as served,
            wired(served.url) as wire,
            plugged(served.ws_url, agent="alice") as alive,
        ):
            assert (await wire.upgrade("/ws?agent=bob")).status == 101
            assert (await wire.frame()).opcode == PING
            frame = await wire.frame()
            while frame.opcode == PING:
                frame = await wire.frame()
            assert frame.opcode == CLOSE
            assert await wire.closed()
            await sockets_become(served, 1)
            await alive.ping()
            assert alive.close_code is None

    async def test_one_that_neither_reads_nor_answers_is_let_go_too(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setattr(websocket, "_SEND_SECONDS", 0.6)
        async with serving(SQLiteEngine(tmp_path), ws_ping_interval=0.2, ws_ping_timeout=0.3) as served:
            await served.office.identify(name="alice")
            before = _open_sockets()
            async with wired(served.url, receive_buffer=2048) as wire:
                assert (await wire.upgrade("/ws?agent=bob")).status == 101
                await _write_large(served, "bob", 12)
                async with asyncio.timeout(30):
                    while _open_sockets() > before + 1:  # noqa: ASYNC110 - nobody rings when a connection is given up
                        await asyncio.sleep(0.05)


class TestSlowReaders:
    async def test_one_slows_nobody(self, monkeypatch: pytest.MonkeyPatch, served: Served) -> None:
        monkeypatch.setattr(websocket, "_SEND_SECONDS", 2 * PATIENCE)  # whoever had to wait for it would wait too long
        async with Callers(served) as callers, wired(served.url, receive_buffer=2048) as wire:
            (alice,) = await callers.named("alice")
            assert (await wire.upgrade("/ws?agent=slow&cursor=0")).status == 101
            async with plugged(served.ws_url, agent="quick") as quick:
                await _write_large(served, "slow", 12)
                for number in range(30):
                    await send(alice, "quick", str(number))
                    assert (await heard(quick))["content"] == str(number)
                assert await open_sockets(alice) == 2

    async def test_one_is_cut_with_a_code_and_catches_up(self, monkeypatch: pytest.MonkeyPatch, served: Served) -> None:
        monkeypatch.setattr(websocket, "_SEND_SECONDS", 1.0)
        async with wired(served.url, receive_buffer=2048) as wire:
            assert (await wire.upgrade("/ws?agent=slow&cursor=0")).status == 101
            await _write_large(served, "slow", 12)
            await sockets_become(served, 0)
            cursor, got = await _read_until_cut(wire)
            async with plugged(served.ws_url, agent="slow", cursor=cursor, max_size=None) as again:
                while len(got) < 12:
                    got.append((await heard(again))["content"][:2])
            assert got == [f"{number:02}" for number in range(12)]

    async def test_one_is_told_nothing_more_once_its_name_has_a_key(self, served: Served) -> None:
        async with Callers(served) as callers, wired(served.url, receive_buffer=2048) as wire:
            owner = await callers.owner()
            await _write_large(served, "slow", 20)
            assert (await wire.upgrade("/ws?agent=slow&cursor=0")).status == 101
            await wire.frame()
            done(await owner.post("/agents/register", json={"name": "slow"}), 201)
            told = [await wire.frame()]
            while told[-1].opcode != CLOSE:
                told.append(await wire.frame())
            assert told[-1].close_code == 4001
            assert len(told) < 19  # what was on its way by then

    async def test_one_that_reads_in_time_is_not_cut(self, monkeypatch: pytest.MonkeyPatch, desk: Served) -> None:
        monkeypatch.setattr(websocket, "_SEND_SECONDS", 4.0)
        async with wired(desk.url, receive_buffer=4096) as wire:
            assert (await wire.upgrade("/ws?agent=slow&cursor=0")).status == 101
            await _write_large(desk, "slow", 6)
            got = []
            for _ in range(6):
                await asyncio.sleep(0.8)  # all of it takes longer than a frame may
                got.append(json.loads((await wire.frame()).payload)["content"][:2])
            assert got == [f"{number:02}" for number in range(6)]

    async def test_one_that_asks_without_end_has_its_answers_neither_kept_nor_forgotten(
        self, monkeypatch: pytest.MonkeyPatch, desk: Served
    ) -> None:
        monkeypatch.setattr(websocket, "_SEND_SECONDS", 2 * PATIENCE)
        async with wired(desk.url, receive_buffer=2048) as wire:
            assert (await wire.upgrade("/ws?agent=slow&cursor=0")).status == 101
            await _write_large(desk, "slow", 12)
            await asyncio.sleep(0.5)  # until no buffer takes any more of it
            for number in range(10_000):
                await wire.send(_masked(PING, b"%06d" % number + b"x" * 100))
            answers: list[bytes] = []
            while not answers or not answers[-1].startswith(b"009999"):
                if (frame := await wire.frame()).opcode == PONG:
                    answers.append(frame.payload)
            assert len(answers) < 5000

    async def test_one_that_talks_without_end_lets_others_have_their_turns(self, desk: Served) -> None:
        turns = 0

        async def count() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        async with wired(desk.url) as wire:
            assert (await wire.upgrade("/ws?agent=bob")).status == 101
            counting = asyncio.create_task(count())
            await wire.send(_masked(TEXT, b'{"type":"ping"}') * 2000)
            for _ in range(2000):
                assert (await wire.frame()).payload == b'{"type":"pong"}'
            counting.cancel()
        assert turns >= 2000


class TestVeryMany:
    async def test_a_thousand_who_only_wait_are_no_burden(self, desk: Served) -> None:
        async with AsyncExitStack() as stack, Callers(desk) as callers:
            (alice,) = await callers.named("alice")
            wires = [await stack.enter_async_context(wired(desk.url)) for _ in range(1000)]
            for begin in range(0, 1000, 100):
                answers = [wire.upgrade(f"/ws?agent=idle-{begin + number}") for number, wire in enumerate(wires[begin : begin + 100])]
                assert {answer.status for answer in await asyncio.gather(*answers)} == {101}
            assert await open_sockets(alice) == 1000
            await send(alice, "idle-617")
            assert json.loads((await wires[617].frame()).payload)["from_agent"] == "alice"
            assert (await alice.get("/health")).status_code == 200
            for wire in wires:
                wire.vanish()
            await sockets_become(desk, 0)


def _errors(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What the server found worth an error so far: whatever clients do, nothing."""
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]


def _open_sockets() -> int:
    """How many connections this process holds, the server's among them."""
    return sum(path.is_socket() for path in Path("/dev/fd").iterdir())


def _masked(opcode: int, payload: bytes) -> bytes:
    """A short frame as clients send them."""
    return bytes([0x80 | opcode, 0x80 | len(payload)]) + bytes(4) + payload


async def _write_large(served: Served, to: str, count: int) -> None:
    """Letters that fill any buffer between here and a reader."""
    alice = await served.office.identify(name="alice")
    for number in range(count):
        await served.office.send(alice, Draft(to=to, subject="Lunch", content=f"{number:02}" + "x" * LARGE))


async def _read_until_cut(wire: Wire) -> tuple[str, list[str]]:
    """What a reader that was cut finds when it comes back to its socket, and where it stopped."""
    cursor, got = "0", []
    while (frame := await wire.frame()).opcode != CLOSE:
        event = json.loads(frame.payload)
        cursor = event["cursor"]
        got.append(event["content"][:2])
    assert frame.close_code == 4008
    assert b"cursor" in frame.payload
    return cursor, got
