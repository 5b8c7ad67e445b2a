"""What people send: too much, too slowly, or nothing that JSON could be."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from postoffice.serve import protocols
from tests.doors.callers import done, refused
from tests.doors.served import Served, serving
from tests.doors.wire import Wire, wired
from tests.engines import SQLiteEngine

LIMIT = 4096
SOON = 15.0
"""Seconds: less than what is slow has by the usual rules, and more than a machine may stand still."""
JSON = {"Content-Type": "application/json", "X-Agent": "alice"}
DIGITS = b"9" * 10_000
DEEP = b"[" * 100_000
MUCH = 8 << 20
"""Bytes: more than the system keeps for one who does not read."""
POSTS = {
    "/messages/send": b'{"to":"bob","subject":"s","content":"c","payload":%b}',
    "/connections/request": b'{"target_agent_name":"bob","message":%b}',
    "/agents/register": b'{"name":"carol","metadata":{"a":%b}}',
    "/tasks/none/update": b'{"state":"working","payload":%b}',
}
VALUES = {
    "depth 100k": DEEP + b"]" * 100_000,
    "depth 100k of objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "endless depth": DEEP,
    "NUL escaped": b'"\\u0000"',
    "NUL raw": b'"\x00"',
    "lone high surrogate": b'"\\ud800"',
    "lone low surrogate": b'"\\udc00x"',
    "surrogate in UTF-8": b'"\xed\xa0\x80"',
    "NaN": b"NaN",
    "Infinity": b"Infinity",
    "-Infinity": b"-Infinity",
    "1e400": b"1e400",
    "-1e400": b"-1e400",
    "10k digits": DIGITS,
    "10k digits negative": b"-" + DIGITS,
    "10k digits of fraction and a large exponent": b"0." + DIGITS + b"e999999999",
    "invalid UTF-8": b'"\xff\xfe"',
    "control character": b'"\x01"',
    "nothing": b"",
    "comment": b"1 /* one */",
    "trailing comma": b"[1,]",
}


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Served]:
    """An open office on SQLite: none of this reaches the engine."""
    async with serving(SQLiteEngine(tmp_path)) as opened:
        yield opened


@pytest.fixture
async def narrow(tmp_path: Path) -> AsyncIterator[Served]:
    """An office that takes little."""
    async with serving(SQLiteEngine(tmp_path), body_bytes=LIMIT) as opened:
        yield opened


@pytest.fixture
async def hurried(tmp_path: Path) -> AsyncIterator[Served]:
    """An office that waits briefly for what it is sent."""
    async with serving(SQLiteEngine(tmp_path), body_seconds=0.5) as opened:
        yield opened


class TestTooMuch:
    async def test_what_says_that_it_is_too_large_is_refused_before_it_comes(self, narrow: Served) -> None:
        for size in (LIMIT + 1, 10**12):
            for extra in ({}, {"Expect": "100-continue"}):
                for path in ("/messages/send", "/agents/register", "/agents/me/heartbeat", "/nowhere"):
                    async with wired(narrow.url) as wire:
                        await wire.ask("POST", path, JSON | extra | {"Content-Length": str(size)})
                        answer = await wire.answer()
                        assert (answer.status, answer.code) == (413, "too_large")
                        assert answer.headers["connection"] == "close"
                        assert await wire.closed()

    async def test_what_does_not_say_is_cut_while_it_comes(self, narrow: Served) -> None:
        for path in ("/messages/send", "/messages/receive"):
            async with wired(narrow.url) as wire:
                await wire.ask("POST", path, JSON | {"Transfer-Encoding": "chunked"})
                for _ in range(5):
                    await wire.send(b"400\r\n" + b" " * 1024 + b"\r\n")
                answer = await wire.answer()
                assert (answer.status, answer.code) == (413, "too_large")
                assert answer.headers["connection"] == "close"
                assert await wire.closed()

    async def test_little_is_kept_of_those_who_have_not_proved_who_they_are(self, tmp_path: Path) -> None:
        async with serving(SQLiteEngine(tmp_path), auth="keys") as guarded:
            # A call that needs an agent is refused before its body is read.
            for path, status in (("/agents/register", 413), ("/agents/me/keys/rotate", 401), ("/page/login", 413)):
                async with wired(guarded.url) as wire:
                    extra = {"X-API-Key": f"amb_{'0' * 64}", "Sec-Fetch-Site": "same-origin", "Content-Length": str(8 << 20)}
                    await wire.ask("POST", path, {"Content-Type": "application/json"} | extra, b" " * (600 << 10))
                    assert (await wire.answer()).status == status
                    assert await wire.closed()
            async with guarded.client() as client:
                key = done(await client.post("/agents/register", json={"name": "alice", "allow_from": ["*"]}), 201)["api_key"]
                whole = {"to": "alice", "type": "blob", "payload": "x" * 900_000}
                assert (await client.post("/messages/send", json=whole, headers={"X-API-Key": key})).status_code == 201

    async def test_what_is_just_small_enough_passes(self, narrow: Served) -> None:
        body = b'{"to":"bob","subject":"s","content":"c"}'.ljust(LIMIT)
        async with narrow.client(name="alice") as client:
            assert (await client.post("/messages/send", content=body, headers=JSON)).status_code == 201
            refused(await client.post("/messages/send", content=body + b" ", headers=JSON), 413, "too_large")

    async def test_lengths_that_are_none_are_refused(self, desk: Served) -> None:
        for length in ("-1", "x", "9" * 5000, "1, 2", "0x10"):
            async with wired(desk.url) as wire:
                await wire.ask("POST", "/messages/send", JSON | {"Content-Length": length})
                assert 400 <= (await wire.answer()).status < 500, length


class TestTooSlow:
    async def test_a_body_that_does_not_come_is_given_up(self, hurried: Served) -> None:
        for framing in ({"Content-Length": "100"}, {"Transfer-Encoding": "chunked"}):
            async with wired(hurried.url) as wire:
                await wire.ask("POST", "/messages/send", JSON | framing)
                answer = await wire.answer()
                assert (answer.status, answer.code) == (408, "too_slow")
                assert await wire.closed(SOON)

    async def test_a_body_that_drips_is_given_up(self, hurried: Served) -> None:
        async with wired(hurried.url) as wire:
            await wire.ask("POST", "/messages/send", JSON | {"Content-Length": "4000"})
            dripping = asyncio.create_task(_drip(wire, b" "))
            assert (await wire.answer()).status == 408
            dripping.cancel()

    async def test_a_body_that_drips_where_nobody_reads_it_is_cut_too(self, hurried: Served) -> None:
        async with wired(hurried.url) as wire:
            await wire.ask("POST", "/agents/me/heartbeat", JSON | {"Content-Length": "4000"})
            dripping = asyncio.create_task(_drip(wire, b" "))
            await wire.answer()
            assert await wire.closed(SOON)
            dripping.cancel()

    async def test_headers_that_drip_are_cut(self, monkeypatch: pytest.MonkeyPatch, desk: Served) -> None:
        monkeypatch.setattr(protocols, "_HEAD_SECONDS", 0.4)
        for begin in (b"", b"GET /health HT", b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: "):
            async with wired(desk.url) as wire:
                await wire.send(begin)
                dripping = asyncio.create_task(_drip(wire, b"a")) if begin else None
                assert await wire.closed(SOON)
                if dripping is not None:
                    dripping.cancel()

    async def test_the_headers_of_a_second_request_are_cut_as_well(self, monkeypatch: pytest.MonkeyPatch, desk: Served) -> None:
        monkeypatch.setattr(protocols, "_HEAD_SECONDS", 2.0)
        async with wired(desk.url) as wire:
            for _ in range(2):
                await wire.ask("GET", "/health")
                assert (await wire.answer()).status == 200
            await wire.send(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: ")
            dripping = asyncio.create_task(_drip(wire, b"a"))
            assert await wire.closed(SOON)
            dripping.cancel()

    async def test_an_answer_nobody_takes_is_cut(self, monkeypatch: pytest.MonkeyPatch, desk: Served) -> None:
        monkeypatch.setattr(protocols, "_TAKING_SECONDS", 0.5)
        async with wired(desk.url, receive_buffer=4096) as wire:
            await _ask_for_much(wire)
            await asyncio.sleep(3)
            assert await wire.rest() < MUCH

    async def test_one_that_is_taken_slowly_comes_whole(self, monkeypatch: pytest.MonkeyPatch, desk: Served) -> None:
        monkeypatch.setattr(protocols, "_TAKING_SECONDS", 1.5)
        async with wired(desk.url, receive_buffer=65536) as wire:
            await _ask_for_much(wire)
            assert await wire.rest(pause=0.03) > MUCH

    async def test_a_long_poll_is_not_slow(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setattr(protocols, "_HEAD_SECONDS", 2.0)
        async with serving(SQLiteEngine(tmp_path), body_seconds=2.0) as served, served.client(name="bob") as client:
            assert done(await client.post("/messages/wait", json={"wait": 3}))["messages"] == []


class TestEndless:
    async def test_headers_are_refused_and_cut(self, desk: Served) -> None:
        for line in (b"X-Long: " + b"a" * 200_000, b"X-Many: aaaaaaaaaa\r\n" * 10_000):
            async with wired(desk.url) as wire:
                await wire.send(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n")
                sending = asyncio.create_task(_pour(wire, line))
                assert (await wire.answer()).status == 400
                assert await wire.closed(SOON)
                sending.cancel()

    async def test_an_address_is_refused_and_cut(self, desk: Served) -> None:
        async with wired(desk.url) as wire:
            sending = asyncio.create_task(_pour(wire, b"GET /" + b"a" * 200_000))
            assert (await wire.answer()).status == 400
            assert await wire.closed(SOON)
            sending.cancel()

    async def test_trailers_are_cut(self, desk: Served) -> None:
        async with wired(desk.url) as wire:
            await wire.ask("POST", "/agents/me/heartbeat", JSON | {"Transfer-Encoding": "chunked"}, b"0\r\n")
            sending = asyncio.create_task(_pour(wire, b"X-Many: aaaaaaaaaa\r\n" * 100_000))
            assert await wire.closed(SOON)
            sending.cancel()


class TestWhatIsNoJSON:
    @pytest.mark.parametrize("path", POSTS)
    async def test_what_json_cannot_carry_is_refused_with_a_code(self, desk: Served, path: str) -> None:
        async with desk.client(name="alice") as client:
            calls = [client.post(path, content=POSTS[path] % value, headers=JSON) for value in VALUES.values()]
            for what, answer in zip(VALUES, await asyncio.gather(*calls), strict=True):
                assert 400 <= answer.status_code < 500, (what, answer.text)
                assert answer.json()["code"] not in ("no_such_task", "name_taken"), what

    @pytest.mark.parametrize("path", POSTS)
    async def test_what_is_no_object_is_refused_with_a_code(self, desk: Served, path: str) -> None:
        async with desk.client(name="alice") as client:
            bodies = (b"", b"null", b"[]", b"7", b'"x"', b"{", b"{}}", b"\x00", b"\xef\xbb\xbf{}", b"{'a':1}", "{}".encode("utf-16"))
            calls = [client.post(path, content=body, headers=JSON) for body in bodies]
            for body, answer in zip(bodies, await asyncio.gather(*calls), strict=True):
                assert 400 <= answer.status_code < 500, (body, answer.text)
                assert answer.json()["code"] in ("invalid", "bad_json"), body

    @pytest.mark.parametrize("path", POSTS)
    async def test_what_is_said_not_to_be_json_is_refused_with_a_code(self, desk: Served, path: str) -> None:
        body = POSTS[path] % b"1"
        async with desk.client(name="alice") as client:
            kinds = ("text/plain", "application/x-www-form-urlencoded", "application/xml", "json", "", "application/jsonx")
            calls = [client.post(path, content=body, headers={"Content-Type": kind}) for kind in kinds]
            for kind, answer in zip(kinds, await asyncio.gather(*calls), strict=True):
                assert 400 <= answer.status_code < 500, kind
                assert answer.json()["code"] == "invalid", kind


async def _drip(wire: Wire, drop: bytes) -> None:
    while True:
        await wire.send(drop)
        await asyncio.sleep(0.05)


async def _pour(wire: Wire, water: bytes) -> None:
    while True:
        await wire.send(water)


async def _ask_for_much(wire: Wire) -> None:
    """Something large that anybody may ask for, several times on one connection."""
    for last in (False,) * 5 + (True,):
        await wire.ask("GET", "/docs/swagger-ui-bundle.js", {"Connection": "close" if last else "keep-alive"})
