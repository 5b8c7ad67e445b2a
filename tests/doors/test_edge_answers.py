"""How answers leave: head and body in one piece where that can be, and as HTTP wants them where a request is not plain."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from postoffice.doors import hangup
from tests.doors.callers import done
from tests.doors.served import Served, serving
from tests.doors.wire import wired
from tests.engines import SQLiteEngine

JSON = {"Content-Type": "application/json", "X-Agent": "bob"}
LARGE = 300_000


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Served]:
    """An open office on SQLite: none of this reaches the engine."""
    async with serving(SQLiteEngine(tmp_path)) as opened:
        yield opened


async def send(desk: Served, **letter: Any) -> None:
    async with desk.client(name="alice") as alice:
        done(await alice.post("/messages/send", json={"to": "bob", "type": "note", **letter}), 201)


class TestOnePiece:
    async def test_whatever_door_answers_and_whatever_it_says(self, desk: Served) -> None:
        async with wired(desk.url) as wire:
            for method, path in (("POST", "/messages/receive"), ("GET", "/health"), ("GET", "/nowhere"), ("GET", "/docs")):
                await wire.ask(method, path, JSON)
                head, _, body = (await wire.piece()).partition(b"\r\n\r\n")
                assert f"content-length: {len(body)}".encode() in head.split(b"\r\n"), path
                assert head.count(b"x-request-id: ") == head.count(b"x-frame-options: ") == head.count(b"date: ") == 1, path

    async def test_a_large_answer_comes_whole(self, desk: Served) -> None:
        await send(desk, payload="x" * LARGE)
        async with wired(desk.url) as wire:
            await wire.ask("POST", "/messages/receive", JSON)
            answer = await wire.answer()
            assert answer.status == 200
            assert len(answer.body) > LARGE

    async def test_requests_sent_together_are_answered_in_their_order(self, desk: Served) -> None:
        asked = [("first", "/health", 200), ("second", "/nowhere", 404), ("third", "/health", 200)]
        async with wired(desk.url) as wire:
            lines = (f"GET {path} HTTP/1.1\r\nHost: {wire.host}\r\nX-Request-Id: {id}\r\n\r\n" for id, path, _ in asked)
            await wire.send("".join(lines).encode())
            for id, _, status in asked:
                answer = await wire.answer()
                assert (answer.headers["x-request-id"], answer.status) == (id, status)

    async def test_nobody_is_kept_from_an_answer_by_half_of_the_next_request(self, desk: Served) -> None:
        async with wired(desk.url) as wire:
            request = f"GET /health HTTP/1.1\r\nHost: {wire.host}\r\n\r\n".encode()
            await wire.send(request + request[:10])
            assert (await wire.answer()).status == 200
            await wire.send(request[10:])
            assert (await wire.answer()).status == 200

    async def test_who_asks_for_the_head_gets_no_body(self, desk: Served) -> None:
        async with wired(desk.url) as wire:
            await wire.ask("HEAD", "/nowhere")
            assert (await wire.piece()).endswith(b"\r\n\r\n")
            await wire.ask("GET", "/health")
            assert (await wire.answer()).status == 200

    async def test_who_does_not_stay_is_told_goodbye(self, desk: Served) -> None:
        async with wired(desk.url) as wire:
            await wire.ask("GET", "/health", {"Connection": "close"})
            assert (await wire.answer()).headers["connection"] == "close"
            assert await wire.closed()


@pytest.mark.usefixtures("server")
class TestNobodyThere:
    @pytest.fixture(params=["our server", "any server"])
    def server(self, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
        """Others than ours do not tell of those who hang up but when they are asked for more of a request."""
        if request.param == "any server":
            for extension in ("HANGUP", "DEPARTURE"):
                monkeypatch.setattr(hangup, extension, "unknown")

    async def test_mail_that_was_taken_for_one_who_hung_up_meanwhile_was_not_tried(
        self, monkeypatch: pytest.MonkeyPatch, desk: Served
    ) -> None:
        taken, gone, back = asyncio.Event(), asyncio.Event(), asyncio.Event()
        receive, give_back = desk.office.receive, desk.office.give_back

        async def slowly(*what: Any, **wish: Any) -> Any:
            turned = await receive(*what, **wish)
            taken.set()
            await gone.wait()
            return turned

        async def told(*what: Any) -> None:
            await give_back(*what)
            back.set()

        await send(desk, content="still here")
        monkeypatch.setattr(desk.office, "receive", slowly)
        monkeypatch.setattr(desk.office, "give_back", told)
        async with asyncio.timeout(30):
            async with wired(desk.url) as wire:
                await wire.ask("POST", "/messages/receive", JSON)
                await taken.wait()
            await asyncio.sleep(0.2)  # until the server has heard of it
            gone.set()
            await back.wait()
        async with desk.client(name="bob") as bob:
            (letter,) = done(await bob.post("/messages/receive"))["messages"]
        assert (letter["content"], letter["attempt"]) == ("still here", 1)

    async def test_nobody_waits_for_one_who_hung_up(self, desk: Served) -> None:
        async with asyncio.timeout(30):
            async with wired(desk.url) as wire:
                await wire.ask("POST", "/messages/wait", JSON | {"Content-Length": "12"}, b'{"wait":240}')
                while not desk.office.tallies.waiters.now:  # noqa: ASYNC110 - the office has no event for it
                    await asyncio.sleep(0.01)
            while desk.office.tallies.waiters.now:  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.01)
        await send(desk, content="still here")
        async with desk.client(name="bob") as bob:
            (letter,) = done(await bob.post("/messages/wait"))["messages"]
        assert (letter["content"], letter["attempt"]) == ("still here", 1)
