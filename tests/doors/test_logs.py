"""The log: every request has its line and its id, and no line holds a key, a code or what people wrote."""

import json
import re
from pathlib import Path

import httpx
import pytest

from tests.doors.callers import done
from tests.doors.processes import Process, started
from tests.doors.sockets import closing, heard, plugged, said
from tests.doors.wire import wired
from tests.serve.running import PATIENCE

BODY = "the-cat-sleeps-at-noon"
WILD = "\x1b[31mred\x07\nforged=yes\r\u2028end"
KEYS = {"POSTOFFICE_AUTH": "keys"}
SERVERS = {
    "ours, for people": ("ours", "--log-level", "debug", "--log-format", "console"),
    "ours, for machines": ("ours", "--log-level", "debug", "--log-format", "json"),
    "uvicorn": ("uvicorn", "--log-level", "info"),
    "uvicorn, tracing": ("uvicorn", "--log-level", "trace"),
}
COLOURS = re.compile(r"\x1b\[\d+m")


class TestSecrets:
    @pytest.mark.parametrize("server", SERVERS)
    async def test_no_key_code_or_letter_is_ever_in_it(self, tmp_path: Path, server: str) -> None:
        with started(*_settled(server, tmp_path), extra=KEYS) as process:
            secrets = await _call(process) | await _listen(process)
            told = process.stop()
        assert _leaks(told, secrets) == set()

    @pytest.mark.parametrize("server", ["ours, for machines", "uvicorn", "uvicorn, tracing"])
    async def test_nor_is_a_key_that_came_where_it_is_not_taken(self, tmp_path: Path, server: str) -> None:
        """In the query of a plain request, or of a socket that is refused before anybody looks at its key."""
        with started(*_settled(server, tmp_path), extra=KEYS) as process:
            key = process.owner_key
            async with httpx.AsyncClient(base_url=process.url, timeout=PATIENCE) as client:
                await client.get("/inbox", params={"api_key": key})
                await client.get(f"/agents/{key}", headers={"X-API-Key": key})
            for path, headers in (("/ws", {"Host": "evil.example"}), ("/ws", {"Origin": "http://evil.example"}), ("/other", {})):
                async with wired(process.url) as wire:
                    assert (await wire.upgrade(f"{path}?api_key={key}", headers)).status >= 400
            told = process.stop()
        assert _leaks(told, {"key": key}) == set()


class TestLines:
    async def test_an_entry_is_one_line_of_json_with_its_requests_id(self, tmp_path: Path) -> None:
        with started(*_settled("ours, for machines", tmp_path), extra=KEYS) as process:
            await _call(process)
            await _rave(process)
            ids = await _ids(process)
            told = process.stop()
        lines = told.splitlines()
        entries = [json.loads(line) for line in lines]
        assert entries[0]["event"] == "open"
        requests = [entry for entry in entries if entry["logger"] == "postoffice.requests"]
        assert len(requests) > 15
        assert all(entry["request_id"] and entry["status"] and entry["method"] and entry["at"] for entry in requests)
        assert ids <= {entry["request_id"] for entry in requests}
        assert all(character.isprintable() for line in lines for character in line)
        assert "forged" not in "".join(entry.get("route", "") for entry in entries)

    async def test_a_refusal_says_by_its_code_what_was_wrong(self, tmp_path: Path) -> None:
        with started(*_settled("ours, for machines", tmp_path)) as process:
            async with httpx.AsyncClient(base_url=process.url, headers={"X-Agent": "alice"}, timeout=PATIENCE) as client:
                letter = {"to": "all", "subject": "x", "content": "x"}
                answers = [
                    await client.post("/messages/send", json=letter),
                    await client.post("/messages/send", json={}),
                    await client.get("/nowhere"),
                    await client.get("/inbox", headers={"Host": "evil.example"}),
                    await client.post("/agents/owner/mcp", json={"tool": "check_mail"}),
                    await client.get("/inbox"),
                ]
            told = process.stop()
        lines = {entry.get("request_id"): entry for entry in map(json.loads, told.splitlines())}
        shown = [lines[answer.headers["X-Request-Id"]].get("code") for answer in answers]
        assert shown == ["reserved_name", "invalid", "no_such_path", "wrong_host", "reserved_name", None]

    @pytest.mark.parametrize("server", ["ours, for people", "uvicorn"])
    async def test_nobody_writes_lines_or_colours_of_their_own(self, tmp_path: Path, server: str) -> None:
        with started(*_settled(server, tmp_path)) as process:
            await _rave(process)
            told = process.stop()
        assert not [line for line in told.splitlines() if line.startswith("forged")]
        assert all(character.isprintable() for line in told.split("\n") for character in line), told

    async def test_a_request_id_is_kept_if_it_is_sane_and_replaced_if_not(self, tmp_path: Path) -> None:
        with started(*_settled("ours, for machines", tmp_path)) as process:
            async with httpx.AsyncClient(base_url=process.url, timeout=PATIENCE) as client:
                for sane in ("abc-123", "A.b_c-9", "x" * 64):
                    answer = await client.get("/nowhere", headers={"X-Request-Id": sane})
                    assert answer.headers["X-Request-Id"] == sane
                for mad in ("", "x" * 65, "a b", "a\tb", "é", '"', "a;b", "../x", "{}"):
                    answer = await client.get("/nowhere", headers=[(b"X-Request-Id", mad.encode("latin-1"))])
                    assert re.fullmatch(r"[A-Za-z0-9._-]{16,64}", answer.headers["X-Request-Id"])
                    assert answer.headers["X-Request-Id"] != mad
            told = process.stop()
        assert {"abc-123", "A.b_c-9", "x" * 64} < {json.loads(line)["request_id"] for line in told.splitlines()[1:]}


def _settled(server: str, here: Path) -> tuple[str, Path, *tuple[str, ...]]:
    way, *flags = SERVERS[server]
    return way, here, *flags


def _leaks(told: str, secrets: dict[str, str]) -> set[tuple[str, str]]:
    """Which secrets stand in what was told, each with a line that has it."""
    lines = COLOURS.sub("", told).splitlines()
    return {(what, line[:200]) for what, secret in secrets.items() for line in lines if secret.lower() in line.lower()}


async def _call(process: Process) -> dict[str, str]:
    """Everything secret that plain requests bring, well and badly."""
    async with httpx.AsyncClient(base_url=process.url, timeout=PATIENCE) as client:
        keys = []
        for name in ("alice", "bob-agent"):
            body = {"name": name, "allow_from": ["*"], "description": BODY}
            keys.append(done(await client.post("/agents/register", json=body), 201)["api_key"])
        alice, bob = ({"X-API-Key": keys[0]}, {"Authorization": f"Bearer {keys[1]}"})
        letter = {"to": "bob-agent", "subject": BODY, "content": BODY, "payload": {BODY: BODY}}
        sent = done(await client.post("/messages/send", json=letter, headers=alice), 201)
        done(await client.get(f"/sessions/{sent['session_id']}/history", headers=bob))
        asked = done(
            await client.post("/connections/request", json={"target_agent_name": "bob-agent", "message": BODY}, headers=alice), 201
        )
        code = asked["verification_code"]
        await client.post("/connections/approve", json={"verification_code": code, "extra": BODY}, headers=bob)
        await client.post("/connections/approve", json={"verification_code": code}, headers=alice)
        done(await client.post("/connections/approve", json={"verification_code": code}, headers=bob))
        for bad in (letter | {"content": [BODY]}, letter | {BODY: 1}, letter | {"to": BODY}, letter | {"content": BODY + "\x00"}):
            assert (await client.post("/messages/send", json=bad, headers=alice)).status_code >= 400
        await client.post(
            "/messages/send", content=b'{"content": "%b' % BODY.encode(), headers=alice | {"Content-Type": "application/json"}
        )
        wrong = "amb_" + "0123456789abcdef" * 4
        await client.get("/inbox", headers={"X-API-Key": wrong})
        await client.get("/metrics", headers={"X-API-Key": process.owner_key})
    return {
        "alice's key": keys[0][8:],
        "bob's key": keys[1][8:],
        "wrong key": wrong[8:],
        "code": code,
        "body": BODY,
        "owner": process.owner_key[8:],
    }


async def _listen(process: Process) -> dict[str, str]:
    """Everything secret that sockets bring, well and badly."""
    key = process.owner_key
    wrong = "amb_" + "fedcba9876543210" * 4
    async with plugged(process.ws_url, api_key=key) as socket:
        async with httpx.AsyncClient(base_url=process.url, headers={"X-API-Key": key}, timeout=PATIENCE) as client:
            done(await client.post("/messages/send", json={"to": "owner", "subject": "x", "content": BODY}), 201)
        assert BODY in str(await heard(socket))
        await said(socket, BODY)
    async with plugged(process.ws_url, headers={"X-API-Key": key}):
        pass
    async with plugged(process.ws_url) as socket:
        assert (await said(socket, {"type": "auth", "api_key": key}))["type"] == "auth_ok"
    for bad, cursor in ((wrong, None), (key, "x"), (key[:-1], None)):
        async with plugged(process.ws_url, api_key=bad, cursor=cursor) as socket:
            assert (await closing(socket) or 0) >= 4000
    return {"owner's key": key[8:-1], "wrong socket key": wrong[8:], "letter": BODY}


async def _rave(process: Process) -> None:
    """Control characters wherever a client can put them."""
    quoted = "".join(f"%{byte:02x}" for byte in WILD.encode())
    async with httpx.AsyncClient(base_url=process.url, timeout=PATIENCE) as client:
        for path in (f"/{quoted}", f"/agents/{quoted}", f"/inbox?x={quoted}", f"/sessions/{quoted}/history"):
            await client.get(path, headers={"X-Agent": "alice"})
        await client.get("/inbox", headers=[(b"X-Agent", "a\x85\xa0b\xff".encode("latin-1")), (b"User-Agent", b"\xff\xfe")])
        await client.request("PROPFIND", "/inbox")
    for raw in (
        WILD.encode(),
        b"GET /\x1b[31m HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nX-Request-Id: \x1b[31m\x07\r\n\r\n",
    ):
        async with wired(process.url) as wire:
            await wire.send(raw + b"\r\n\r\n")
            await wire.closed(1)
    async with wired(process.url) as wire:
        await wire.upgrade(f"/ws/{quoted}?agent={quoted}")


async def _ids(process: Process) -> set[str]:
    async with httpx.AsyncClient(base_url=process.url, timeout=PATIENCE) as client:
        return {(await client.get(path)).headers["X-Request-Id"] for path in ("/health", "/inbox", "/nowhere")}
