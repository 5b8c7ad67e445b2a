"""The edge: by which name and from which page one may call, how often, and who may come in at all."""

import asyncio
import secrets
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from tests.doors.callers import Callers, done, refused, send
from tests.doors.served import Served, serving
from tests.doors.wire import wired
from tests.engines import SQLiteEngine
from tests.serve.running import COMMAND, PATIENCE, free_port, run
from tests.serve.running import serving as running

EVIL = "http://evil.example"
APP = "https://app.example"
LETTER = {"to": "bob", "subject": "Lunch", "content": "Noon?"}


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Served]:
    """An open office on SQLite: the edge never reaches the engine."""
    async with serving(SQLiteEngine(tmp_path)) as opened:
        yield opened


class TestByWhichName:
    async def test_a_rebound_name_is_refused_on_every_route(self, desk: Served) -> None:
        async with desk.client(name="bob") as client:
            paths = done(await client.get("/openapi.json"))["paths"]
            assert len(paths) > 30
            calls = [(method, path) for path, methods in paths.items() for method in methods]
            calls += [("get", path) for path in ("/", "/docs", "/docs/start.js", "/openapi.json", "/ws", "/nowhere")]
            for answer in await asyncio.gather(*(client.request(*call, headers={"Host": "evil.example"}) for call in calls)):
                refused(answer, 421, "wrong_host")
            assert done(await client.get("/agents"))["agents"] != []

    async def test_no_spelling_of_a_foreign_name_passes(self, desk: Served) -> None:
        hosts = ("evil.example:8787", "127.0.0.1.evil.example", "localhost.evil.example", "", "169.254.169.254", "[::2]", "127.0.0.1@evil")
        for host in hosts:
            async with wired(desk.url) as wire:
                await wire.ask("GET", "/health", {"Host": host})
                answer = await wire.answer()
                assert (answer.status, answer.code) == (421, "wrong_host"), host
            async with wired(desk.url) as wire:
                answer = await wire.upgrade("/ws?agent=bob", {"Host": host})
                assert (answer.status, answer.code) == (421, "wrong_host"), host

    async def test_its_own_names_pass(self, desk: Served) -> None:
        async with desk.client() as client:
            for host in ("127.0.0.1", "localhost:1", "LOCALHOST", "[::1]:8787", "127.1.2.3", socket.gethostname()):
                assert (await client.get("/health", headers={"Host": host})).status_code == 200, host

    async def test_a_name_it_was_given_passes(self, tmp_path: Path) -> None:
        async with (
            serving(SQLiteEngine(tmp_path), open_to_others=True, allowed_hosts=("Mail.Example",)) as served,
            served.client() as client,
        ):
            assert (await client.get("/health", headers={"Host": "mail.example:443"})).status_code == 200
            refused(await client.get("/health", headers={"Host": "other.example"}), 421, "wrong_host")


class TestFromWhichPage:
    async def test_foreign_pages_are_refused_and_nothing_happens(self, desk: Served) -> None:
        for origin in (EVIL, "null", "http://127.0.0.1:1", "http://localhost", "file://", "", "http://127.0.0.1.evil.example"):
            headers = {"Origin": origin}
            async with desk.client(name="alice") as client:
                refused(await client.get("/inbox", headers=headers), 403, "wrong_origin")
                answer = await client.post("/messages/send", json=LETTER, headers=headers)
                refused(answer, 403, "wrong_origin")
                assert not any(name.startswith("access-control") for name in answer.headers)
            async with wired(desk.url) as wire:
                refusal = await wire.upgrade("/ws?agent=bob", headers)
                assert (refusal.status, refusal.code) == (403, "wrong_origin")
        async with desk.client(key=desk.owner_key) as owner:
            assert done(await owner.get("/owner/totals"))["pending"] == 0

    async def test_its_own_pages_pass(self, desk: Served) -> None:
        headers = {"Origin": desk.url}
        async with desk.client(name="alice") as client:
            done(await client.post("/messages/send", json=LETTER, headers=headers), 201)
        async with wired(desk.url) as wire:
            assert (await wire.upgrade("/ws?agent=bob", headers)).status == 101

    async def test_other_pages_get_no_leave_to_ask(self, desk: Served) -> None:
        wish = {"Origin": EVIL, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-agent"}
        async with desk.client() as client:
            answer = await client.options("/messages/send", headers=wish)
            refused(answer, 403, "wrong_origin")
            assert not any(name.startswith("access-control") for name in answer.headers)

    @pytest.mark.parametrize("written", [APP, f"{APP}/", "https://App.Example"])
    async def test_pages_it_was_told_of_may_ask_and_call(self, tmp_path: Path, written: str) -> None:
        async with (
            serving(SQLiteEngine(tmp_path), open_to_others=True, cors_origins=(written,)) as served,
            served.client(name="alice") as client,
        ):
            wish = {"Origin": APP, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-agent,content-type"}
            leave = await client.options("/messages/send", headers=wish)
            assert (leave.status_code, leave.headers["Access-Control-Allow-Origin"]) == (200, APP)
            assert "x-agent" in leave.headers["Access-Control-Allow-Headers"].lower()
            sent = await client.post("/messages/send", json=LETTER, headers={"Origin": APP})
            assert (sent.status_code, sent.headers["Access-Control-Allow-Origin"]) == (201, APP)
            refused(await client.get("/inbox", headers={"Origin": EVIL}), 403, "wrong_origin")
            async with wired(served.url) as wire:
                assert (await wire.upgrade("/ws?agent=bob", {"Origin": APP})).status == 101
            async with wired(served.url) as wire:
                assert (await wire.upgrade("/ws?agent=bob", {"Origin": EVIL})).status == 403

    async def test_pages_it_was_told_of_may_read_why_they_are_refused(self, tmp_path: Path) -> None:
        async with (
            serving(SQLiteEngine(tmp_path), open_to_others=True, cors_origins=(APP,), body_bytes=1024) as served,
            served.client() as client,
        ):
            client.headers["Origin"] = APP
            alice = {"X-Agent": "alice"}
            answers = [
                await client.get("/inbox", headers={"Host": "evil.example"}),
                await client.post("/messages/send", content=b" " * 1025, headers=alice),
                await client.post("/messages/send", json={}, headers=alice),
                await client.post("/messages/receive", json={"limit": 0}, headers=alice),
                await client.get("/agents/me"),
                await client.get("/agents/nobody", headers=alice),
                await client.post("/mcp", json={"tool": "nonsense", "args": {}}),
                await client.post("/agents/alice/mcp", content=b"{", headers={"Content-Type": "application/json"}),
            ]
        assert [answer.is_client_error for answer in answers] == [True] * len(answers)
        assert [answer.headers.get("Access-Control-Allow-Origin") for answer in answers] == [APP] * len(answers)

    async def test_a_page_it_was_told_of_gets_leave_to_ask_by_a_wrong_name_and_reads_in_the_answer_that_it_is_wrong(
        self, tmp_path: Path
    ) -> None:
        wrong = {"Host": "evil.example", "Access-Control-Request-Method": "POST"}
        async with serving(SQLiteEngine(tmp_path), open_to_others=True, cors_origins=(APP,)) as served, served.client() as client:
            leave = await client.options("/messages/send", headers=wrong | {"Origin": APP})
            assert (leave.status_code, leave.headers["Access-Control-Allow-Origin"]) == (200, APP)
            refused(await client.options("/messages/send", headers=wrong | {"Origin": EVIL}), 421, "wrong_host")

    async def test_what_a_form_can_send_never_acts(self, desk: Served) -> None:
        """With or without an Origin: what needs no leave from the server must not do anything there."""
        kinds = ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", None)
        async with desk.client(key=desk.owner_key) as owner:
            paths = done(await owner.get("/openapi.json"))["paths"]
            before = done(await owner.get("/owner/events"))
            for origin in (EVIL, "null", None):
                for kind in kinds:
                    headers = {"Content-Type": kind, "Origin": origin}
                    given = {name: value for name, value in headers.items() if value is not None}
                    async with desk.client() as browser:
                        body = b'{"name": "mallory", "to": "bob", "subject": "x", "content": "x"}'
                        posts = [path for path, methods in paths.items() if "post" in methods]
                        for answer in await asyncio.gather(*(browser.post(path, content=body, headers=given) for path in posts)):
                            assert 400 <= answer.status_code < 500, (answer.url, kind, origin)
            assert "mallory" not in (await owner.get("/agents")).text
            assert done(await owner.get("/owner/events")) == before


class TestAnswers:
    async def test_every_one_is_safe_to_show(self, desk: Served) -> None:
        wanted = {
            "x-content-type-options": "nosniff",
            "x-frame-options": "DENY",
            "referrer-policy": "no-referrer",
            "cache-control": "no-store",
        }
        async with desk.client(name="bob") as client:
            calls = [client.get(path) for path in ("/health", "/inbox", "/nowhere", "/docs", "/openapi.json", "/agents/nobody")]
            calls += [client.post("/messages/send", json={}), client.delete("/inbox"), client.get("/health", headers={"Host": "evil"})]
            for call in calls:
                answer = await call
                assert wanted.items() <= dict(answer.headers).items(), answer.url
                assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
                assert "server" not in answer.headers


class TestHowOften:
    async def test_brute_force_of_keys_gets_401_and_nothing_else(self, guarded: Served) -> None:
        async with Callers(guarded) as callers:
            key = await callers.register("bob-agent")
            async with guarded.client() as client:
                guesses = ["amb_" + secrets.token_hex(32) for _ in range(150)]
                guesses += [key[:-1], key + "0", key.upper(), key[4:], key[:8], "amb_", "amb_%", "amb_" + "*" * 64, "é", "'--", key[::-1]]
                calls = [client.get("/inbox", headers=[(b"X-API-Key", guess.encode("latin-1"))]) for guess in guesses]
                for answer in await asyncio.gather(*calls):
                    refused(answer, 401)
                    assert answer.headers["WWW-Authenticate"].startswith("Bearer")
                refused(await client.get("/inbox", headers={"X-API-Key": ""}), 401)
                refused(await client.get("/inbox"), 401)
                assert (await client.get("/inbox", headers={"X-API-Key": key})).status_code == 200

    async def test_an_agent_sends_600_times_a_minute_where_keys_are_required(self, guarded: Served) -> None:
        async with Callers(guarded) as callers:
            alice = await callers.join("alice")
            await callers.register("bob-agent", allow_from=["*"])
            letters = [{"to": "bob-agent", "subject": "Lunch", "content": str(number)} for number in range(100)]
            for _ in range(6):
                results = done(await alice.post("/messages/send/batch", json={"messages": letters}))["results"]
                assert all("sent" in result for result in results)
            answer = await alice.post("/messages/send", json=letters[0])
            refused(answer, 429, "rate_limited")
            assert 0 < int(answer.headers["Retry-After"]) <= 60
            carol = await callers.join("carol")
            await send(carol, "bob-agent")

    async def test_an_address_registers_30_names_an_hour_where_keys_are_required(self, guarded: Served) -> None:
        async with guarded.client() as client:
            for answer in await asyncio.gather(
                *(client.post("/agents/register", json={"name": f"agent-{number}"}) for number in range(30))
            ):
                done(answer, 201)
            answer = await client.post("/agents/register", json={"name": "one-more"})
            refused(answer, 429, "rate_limited")
            assert 0 < int(answer.headers["Retry-After"]) <= 3600

    async def test_an_open_server_counts_nothing(self, desk: Served) -> None:
        async with desk.client(name="alice") as client:
            for answer in await asyncio.gather(
                *(client.post("/agents/register", json={"name": f"agent-{number}"}) for number in range(40))
            ):
                done(answer, 201)
            for _ in range(7):
                results = done(await client.post("/messages/send/batch", json={"messages": [LETTER] * 100}))["results"]
                assert all("sent" in result for result in results)


class TestWhoMayComeIn:
    def test_an_open_server_for_everybody_is_not_started(self, tmp_path: Path) -> None:
        for host in ("0.0.0.0", "::", "192.0.2.1"):
            ended = run("serve", "--auth", "open", "--host", host, "--port", "0", "--data", "kept", here=tmp_path)
            assert ended.returncode == 65
            assert f"an open server on {host} would let anybody act as anybody" in ended.stderr
            assert ended.stderr.count("\n") == 1
            assert not (tmp_path / "kept" / "mailbox.db").exists()

    def test_beyond_loopback_keys_are_required_without_being_asked_for(self, tmp_path: Path) -> None:
        port = free_port()
        command = (*COMMAND, "serve", "--host", "0.0.0.0", "--port", str(port), "--data", "kept")
        with running(*command, port=port, here=tmp_path), httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE) as client:
            assert done(client.get("/version"))["auth"] == "keys"
            refused(client.get("/inbox", headers={"X-Agent": "alice"}), 401, "key_required")
            refused(client.get("/inbox"), 401)
            for address in _own_addresses():
                refused(httpx.get(f"http://{address}:{port}/inbox", headers={"X-Agent": "alice"}, timeout=PATIENCE), 401, "key_required")

    def test_an_open_application_answers_on_loopback_only_wherever_its_server_listens(self, tmp_path: Path) -> None:
        port = free_port()
        command = (sys.executable, "-m", "uvicorn", "postoffice.serve.asgi:app", "--host", "0.0.0.0", "--port", str(port))
        with running(*command, port=port, here=tmp_path, extra={"POSTOFFICE_DATA": "kept"}):
            assert httpx.get(f"http://127.0.0.1:{port}/inbox", headers={"X-Agent": "alice"}, timeout=PATIENCE).status_code == 200
            for address in _own_addresses():
                for path in ("/health", "/inbox", "/docs"):
                    answer = httpx.get(
                        f"http://{address}:{port}{path}", headers={"X-Agent": "alice", "Host": "localhost"}, timeout=PATIENCE
                    )
                    refused(answer, 403, "beyond_loopback")


def _own_addresses() -> list[str]:
    """Addresses of this machine that are not loopback's."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # nothing is sent
        except OSError:
            return []
        found = str(probe.getsockname()[0])
    return [] if found.startswith("127.") else [found]
