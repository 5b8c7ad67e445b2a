"""What is said twice, and how one body is read by every way through the REST door."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.doors.served import Served, serving
from tests.doors.wire import CLOSE, Answer, wired
from tests.engines import SQLiteEngine

LETTER = b'{"to": "bob", "subject": "s", "content": "c"}'
CALL = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "mailbox_check", "arguments": {}}}'
TWICE = {
    "Host": ("{host}", "{host}"),
    "Origin": ("http://{host}", "http://{host}"),
    "Authorization": ("Bearer amb_1", "Bearer amb_2"),
    "X-API-Key": ("amb_1", "amb_2"),
    "X-Agent": ("alice", "mallory"),
    "Content-Type": ("application/json", "text/plain"),
    "Idempotency-Key": ("one", "two"),
}
DOORS = {"/messages/send": LETTER, "/agents/register": b'{"name": "carol"}', "/mcp": CALL, "/agents/bob/mcp": CALL, "/page/compose": b""}
JSON = ("Content-Type", "application/json")
SHAPELESS = "send a JSON object, with the header Content-Type: application/json"
# What is sent, and what is said where a body is needed and where none is; None is a body that is taken.
BODIES: dict[str, tuple[list[tuple[str, str]], bytes, tuple[int, str] | None]] = {
    "nothing": ([], b"", None),
    "nothing that is JSON": ([JSON], b"", None),
    "null": ([JSON], b"null", None),
    "null and blanks": ([JSON], b" null\n", None),
    "blanks": ([JSON], b"  ", (400, "bad_json")),
    "an object by no name": ([], b"{}", (422, "invalid")),
    "null by no name": ([], b"null", (422, "invalid")),
    "an object as text": ([("Content-Type", "text/plain")], b"{}", (422, "invalid")),
    "an object as another kind of text": ([("Content-Type", "text/x+json")], b"{}", (422, "invalid")),
    "a list": ([JSON], b"[]", (422, "invalid")),
    "a word": ([JSON], b'"x"', (422, "invalid")),
    "a number that no double holds": ([JSON], b'{"token": 1e400}', (400, "bad_json")),
    "no number": ([JSON], b'{"token": NaN}', (400, "bad_json")),
    "two kinds": ([JSON, ("Content-Type", "text/plain")], b"{}", (400, "repeated")),
    "a kind of JSON": ([("Content-Type", "application/x+json; charset=utf-8")], b"{}", None),
    "in capitals": ([("Content-Type", "Application/JSON")], b"{}", None),
}


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Served]:
    async with serving(SQLiteEngine(tmp_path)) as opened:
        yield opened


async def ask(served: Served, path: str, headers: list[tuple[str, str]], body: bytes) -> Answer:
    """A request with exactly these headers."""
    async with wired(served.url) as wire:
        named = {name.lower() for name, _ in headers}
        given = [("Host", wire.host)] * ("host" not in named) + headers + [("Content-Length", str(len(body)))]
        lines = "".join(f"{name}: {value.format(host=wire.host)}\r\n" for name, value in given)
        await wire.send(f"POST {path} HTTP/1.1\r\n{lines}\r\n".encode() + body)
        return await wire.answer()


@pytest.mark.parametrize("name", TWICE)
async def test_a_header_that_counts_may_come_once(desk: Served, name: str) -> None:
    first, second = TWICE[name]
    for path, body in DOORS.items():
        told = await ask(desk, path, [(name, first), (name.lower(), second)], body)
        assert (told.status, told.code) == (400, "repeated"), path
        assert json.loads(told.body)["detail"].lower().startswith(f"the header {name.lower()} came more than once")
    async with wired(desk.url) as wire:
        upgrade = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "x" * 22 + "=="}
        given = [*upgrade.items(), (name, first), (name, second), *([] if name == "Host" else [("Host", "{host}")])]
        lines = "".join(f"{header}: {value.format(host=wire.host)}\r\n" for header, value in given)
        await wire.send(f"GET /ws?agent=bob HTTP/1.1\r\n{lines}\r\n".encode())
        assert (await wire.answer()).status == 400


async def test_a_header_that_means_nothing_to_us_may_come_as_often_as_it_likes(desk: Served) -> None:
    told = await ask(
        desk, "/messages/send", [JSON, ("X-Agent", "alice"), ("Via", "one"), ("Via", "two"), ("Cookie", "a=1"), ("Cookie", "b=2")], LETTER
    )
    assert told.status == 201


@pytest.mark.parametrize("field", ["api_key", "agent", "cursor"])
async def test_a_socket_is_told_who_it_is_once(desk: Served, field: str) -> None:
    async with wired(desk.url) as wire:
        assert (await wire.upgrade(f"/ws?agent=bob&{field}=1&{field}=2")).status == 101
        frame = await wire.frame()
        assert (frame.opcode, frame.close_code) == (CLOSE, 4022)
        assert b"came more than once" in frame.payload


@pytest.mark.parametrize("what", BODIES)
async def test_a_body_is_read_alike_by_every_way_through_the_door(desk: Served, what: str) -> None:
    """The straight way, and the framework's: each where a body may be left out, and where it may not."""
    headers, body, refusal = BODIES[what]
    as_alice = [*headers, ("X-Agent", "alice")]
    for path in ("/messages/receive", "/agents/me/keys/revoke"):
        told = await ask(desk, path, as_alice, body)
        if refusal is None:
            assert told.status == 200 or "amb_" in told.body.decode() or told.code not in ("bad_json", "repeated"), (path, told)
            assert SHAPELESS not in told.body.decode(), path
        else:
            assert (told.status, told.code) == refusal, path
    said = [await ask(desk, path, as_alice, body) for path in ("/messages/settle", "/messages/send", "/agents/register")]
    if what.endswith(("null", "null and blanks", "nothing", "nothing that is JSON")):
        assert {(told.status, told.code, json.loads(told.body)["detail"]) for told in said} == {
            (422, "invalid", f"body is not valid: {SHAPELESS}.")
        }
    elif refusal is None:
        assert [told.status for told in said] == [200, 422, 422]
    elif "number" not in what:
        assert {(told.status, told.code, json.loads(told.body)["detail"]) for told in said} == {
            (*refusal, json.loads(said[0].body)["detail"])
        }
    else:
        assert {(told.status, told.code) for told in said} == {refusal}


@pytest.mark.parametrize("number", ["1e400", "-1e400", "NaN", "Infinity", "-Infinity"])
@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
async def test_a_number_that_is_none_is_refused_as_json_rpc_says_it(desk: Served, number: str, version: str) -> None:
    headers = [JSON, ("Accept", "application/json, text/event-stream"), ("MCP-Protocol-Version", version)]
    bodies = [
        CALL.replace(b'"id": 1', f'"id": {number}'.encode()),
        CALL.replace(b"{}", f'{{"limit": {number}}}'.encode()),
        f'{{"jsonrpc": "2.0", "id": {number}, "method": "ping"}}'.encode(),
    ]
    for body in bodies:
        told = await ask(desk, "/agents/bob/mcp", headers, body)
        answer = json.loads(told.body)
        assert told.status == 400
        assert (answer["id"], answer["error"]["code"], answer["error"]["data"]["code"]) == (None, -32700, "bad_json"), body
