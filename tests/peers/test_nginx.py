"""A real nginx with our configuration before two replicas: what waits, streams and dies behind it."""

import asyncio
import json
import os
import re
import ssl
import subprocess
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import httpx
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from websockets.asyncio.client import connect

from postoffice.config import Settings
from postoffice.core.limits import Limits
from tests.doors.callers import done, refused
from tests.doors.sockets import heard, plugged, said
from tests.mcp.calling import LEGACY, MODERN
from tests.peers.debian import program
from tests.peers.outside import ROOT
from tests.replicas.conftest import database
from tests.replicas.replica import PATIENCE, Replica, opened, send, until
from tests.serve.running import free_port

__all__ = ["database"]
SITE = (ROOT / "deploy" / "nginx.conf").read_text()
WHOLE = """
daemon off;
pid {here}/nginx.pid;
error_log {here}/error.log;
{user}
events {{}}
http {{
  access_log off;
  client_body_temp_path {here}/body;
  proxy_temp_path {here}/proxy;
  fastcgi_temp_path {here}/fastcgi;
  uwsgi_temp_path {here}/uwsgi;
  scgi_temp_path {here}/scgi;
  include {here}/site.conf;
}}
"""
Pair = tuple[Replica, Replica]


class Front:
    """nginx, on a port of its own."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.ws_url = f"ws://127.0.0.1:{port}/ws"

    def client(self, key: str | None = None, address: str | None = None) -> httpx.AsyncClient:
        """A client that brings this key, and calls from this address of the machine."""
        transport = None if address is None else httpx.AsyncHTTPTransport(local_address=address)
        headers = {} if key is None else {"X-API-Key": key}
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=PATIENCE, trust_env=False, transport=transport)

    async def join(self, name: str, address: str) -> str:
        """The key of an agent that registers from an address."""
        async with self.client(address=address) as anyone:
            return str(done(await anyone.post("/agents/register", json={"name": name, "allow_from": ["*"]}), 201)["api_key"])


@contextmanager
def nginx(here: Path, replicas: Sequence[Replica], **changes: str) -> Iterator[Front]:
    """Our file, with the ports of this machine in place of a cluster's names."""
    here.mkdir(exist_ok=True)
    port = free_port()
    places = {f"office-{number}:8787": f"127.0.0.1:{replica.port}" for number, replica in enumerate(replicas, 1)}
    site = SITE
    for words, ours in ({"listen 80;": f"listen 127.0.0.1:{port};"} | places | changes).items():
        assert site.count(words) == 1, words
        site = site.replace(words, ours)
    (here / "site.conf").write_text(site)
    (here / "nginx.conf").write_text(WHOLE.format(here=here, user="user root;" if os.geteuid() == 0 else ""))
    command = [program("nginx", "nginx-light"), "-p", str(here), "-c", str(here / "nginx.conf"), "-e", str(here / "error.log")]
    checked = subprocess.run([*command, "-t"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
    assert "warn" not in checked.stderr
    process = subprocess.Popen(command)
    try:
        give_up = time.monotonic() + PATIENCE
        while True:
            try:
                httpx.get(f"http://127.0.0.1:{port}/health", trust_env=False)
            except httpx.TransportError:
                assert time.monotonic() < give_up, (here / "error.log").read_text()
                assert process.poll() is None, (here / "error.log").read_text()
            else:
                break
        yield Front(port)
    finally:
        process.terminate()
        process.wait(PATIENCE)


def two(folder: Path, database: str) -> tuple[Replica, ...]:
    settings = {
        "POSTOFFICE_TRUSTED_PROXIES": "127.0.0.1",
        "POSTOFFICE_REGISTRATIONS_PER_HOUR": "3",
        "POSTOFFICE_WS_PING_INTERVAL": "0.5",
    }
    return tuple(Replica(folder / str(number), "--database", database, "--auth", "keys", settings=settings) for number in range(2))


@pytest.fixture(scope="module")
def pair(database: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with opened(*two(tmp_path_factory.mktemp("pair"), database)) as (one, other):
        yield one, other


@pytest.fixture(scope="module")
def front(pair: Pair, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    with nginx(tmp_path_factory.mktemp("nginx"), pair) as running:
        yield running


@pytest.fixture(scope="module")
def keys(front: Front) -> dict[str, str]:
    """Those who write to each other here."""
    return {name: asyncio.run(front.join(name, "127.0.0.9")) for name in ("alice", "bob", "carol")}


async def test_the_same_caller_is_served_by_both_replicas(front: Front, pair: Pair, keys: dict[str, str]) -> None:
    async with front.client(keys["alice"]) as alice:
        for number in range(10):
            await send(alice, "alice", str(number))
    counted = 'postoffice_requests_total{method="POST",route="/messages/send",status="201"}'
    async with pair[0].client(key=pair[0].owner_key) as owner:
        status = (await owner.post("/messages/send", json={"to": "alice", "subject": "x", "content": "x"})).status_code
    for replica in pair:
        assert await replica.metric(counted.replace("201", str(status))) >= 4


async def test_a_socket_opens_hears_and_speaks(front: Front, keys: dict[str, str]) -> None:
    async with front.client(keys["alice"]) as alice, plugged(front.ws_url, api_key=keys["bob"]) as socket:
        for number in range(4):
            sent = await send(alice, "bob", str(number))
            assert (await heard(socket))["message_id"] == sent["message_id"]
        assert await said(socket, {"type": "ping"}) == {"type": "pong"}


async def test_an_idle_socket_is_kept_by_its_pings_though_silence_is_cut(pair: Pair, keys: dict[str, str], tmp_path: Path) -> None:
    with nginx(tmp_path / "impatient", pair, **{"proxy_read_timeout 300s;": "proxy_read_timeout 2s;"}) as impatient:
        async with impatient.client(keys["alice"]) as alice, plugged(impatient.ws_url, api_key=keys["carol"]) as socket:
            begun = time.monotonic()
            # Nothing comes of this wait, and nobody pings: that is cut after two seconds.
            cut = await alice.post("/messages/wait", json={"wait": 60, "correlation_id": "nobody"})
            refused(cut, 503, "unavailable")
            again = await alice.post("/messages/wait", json={"wait": 60, "correlation_id": "nobody"})
            refused(again, 503, "unavailable")
            assert time.monotonic() - begun >= 4
            sent = await send(alice, "carol", "still there")
            assert (await heard(socket))["message_id"] == sent["message_id"]


def test_nginx_is_more_patient_than_anything_behind_it() -> None:
    settings = Settings()
    patience = 300.0
    assert f"proxy_read_timeout {patience:.0f}s;" in SITE
    assert patience > Limits().wait_most.total_seconds()
    assert patience > settings.ws_ping_interval
    assert f"client_max_body_size {settings.body_bytes >> 20}m;" in SITE


async def test_what_is_too_large_for_nginx_is_refused_as_the_office_does(front: Front, keys: dict[str, str]) -> None:
    async with front.client(keys["alice"]) as alice:
        large = {"to": "alice", "subject": "x", "content": "x" * Settings().body_bytes}
        assert "8 MiB" in refused(await alice.post("/messages/send", json=large), 413, "too_large")


async def test_a_long_poll_is_answered_as_mail_comes_and_a_hang_up_leaves_no_lease(front: Front, pair: Pair, keys: dict[str, str]) -> None:
    async def waiters() -> float:
        return sum([await replica.metric("postoffice_waiters") for replica in pair])

    async def nobody_waits() -> bool:
        return await waiters() == 0

    async def somebody_waits() -> bool:
        return await waiters() == 1

    key = await front.join("poller", "127.0.0.2")
    async with front.client(keys["alice"]) as alice, front.client(key) as poller:
        poll = asyncio.create_task(poller.post("/messages/wait", json={"wait": 60}))
        await until(somebody_waits)
        await send(alice, "poller", "now")
        (letter,) = done(await poll)["messages"]
        assert letter["content"] == "now"
        done(await poller.post(f"/messages/{letter['id']}/ack", json={"token": letter["token"]}))
        gone = asyncio.create_task(poller.post("/messages/wait", json={"wait": 60}))
        await until(somebody_waits)
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        await until(nobody_waits)
        await send(alice, "poller", "after the hang-up")
        (letter,) = done(await poller.post("/messages/receive", json={}))["messages"]
        assert (letter["content"], letter["attempt"]) == ("after the hang-up", 1)


@pytest.mark.parametrize("era", [LEGACY, MODERN])
async def test_an_mcp_wait_is_answered_as_mail_comes(front: Front, keys: dict[str, str], era: str) -> None:
    name = f"model-{era}"
    key = await front.join(name, "127.0.0.3")
    async with (
        front.client(keys["alice"]) as alice,
        httpx2.AsyncClient(headers={"X-API-Key": key}, timeout=httpx2.Timeout(PATIENCE, read=300)) as http,
        Client(streamable_http_client(f"{front.url}/mcp", http_client=http), mode=era) as client,
    ):
        waiting = asyncio.create_task(client.call_tool("mailbox_wait", {"agent_id": name, "timeout_ms": 60_000}))
        await send(alice, name, "to a model")
        result = await waiting
    assert [mail["content"] for mail in (result.structured_content or {})["messages"]] == ["to a model"]


@asynccontextmanager
async def owners_page(front: Front, pair: Pair) -> AsyncIterator[httpx.AsyncClient]:
    """A browser that a link let in, through nginx."""
    async with front.client(pair[0].owner_key) as owner:
        address = str(done(await owner.post("/page/links"), 201)["address"])
    assert address.startswith(front.url)
    async with front.client() as browser:
        same = {"Sec-Fetch-Site": "same-origin"}
        entered = await browser.post("/page/login", data={"code": address.partition("#")[2]}, headers=same)
        assert entered.status_code == 303, entered.text
        yield browser


async def test_a_page_is_told_of_each_thing_as_it_happens(front: Front, pair: Pair, keys: dict[str, str]) -> None:
    async with (
        front.client(keys["alice"]) as alice,
        owners_page(front, pair) as browser,
        browser.stream("GET", "/page/news") as stream,
        asyncio.timeout(PATIENCE),
    ):
        lines = stream.aiter_lines()
        assert await anext(lines) == "retry: 1000"
        for number in range(3):
            sent = await send(alice, "bob", str(number))
            async for line in lines:
                if line.startswith("data: ") and sent["message_id"] in json.loads(line.removeprefix("data: "))["refs"]:
                    break
            else:
                pytest.fail("the stream ended")


async def test_with_the_documents_lines_for_tls_pages_and_sockets_are_secure(pair: Pair, keys: dict[str, str], tmp_path: Path) -> None:
    words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    names = {"/etc/ssl/postoffice.pem": str(tmp_path / "cert.pem"), "/etc/ssl/postoffice.key": str(tmp_path / "key.pem")}
    files = ["-out", str(tmp_path / "cert.pem"), "-keyout", str(tmp_path / "key.pem")]
    await asyncio.to_thread(subprocess.run, [*words, *files], check=True, capture_output=True)
    (lines,) = re.findall(r"^```nginx\n(.*?)^```$", (ROOT / "docs" / "operations.md").read_text(), re.MULTILINE | re.DOTALL)
    port = free_port()
    for ours, theirs in (names | {"listen 443": f"listen 127.0.0.1:{port}"}).items():
        lines = lines.replace(ours, theirs)
    secure = ssl.create_default_context(cafile=tmp_path / "cert.pem")
    with nginx(tmp_path / "nginx", pair, **{"server_name _;": f"server_name _;\n{lines}"}):
        async with httpx.AsyncClient(base_url=f"https://localhost:{port}", verify=secure, trust_env=False) as browser:
            made = done(await browser.post("/page/links", headers={"X-API-Key": pair[0].owner_key}), 201)
            assert made["address"].startswith(f"https://localhost:{port}/")
            code = {"code": made["address"].partition("#")[2]}
            entered = await browser.post("/page/login", data=code, headers={"Origin": f"https://localhost:{port}"})
            assert entered.status_code == 303
            assert "; Secure" in entered.headers["set-cookie"]
            assert (await browser.get("/")).status_code == 200
        async with connect(f"wss://localhost:{port}/ws", ssl=secure, additional_headers={"X-API-Key": keys["bob"]}, proxy=None) as socket:
            assert await said(socket, {"type": "ping"}) == {"type": "pong"}


async def test_callers_are_told_apart_by_their_own_addresses(front: Front) -> None:
    for number in range(3):
        await front.join(f"from-five-{number}", "127.0.0.5")
    async with front.client(address="127.0.0.5") as anyone:
        for lie in ({}, {"X-Forwarded-For": "203.0.113.9"}):
            problem = refused(await anyone.post("/agents/register", json={"name": "one-more"}, headers=lie), 429, "rate_limited")
            assert problem.startswith("127.0.0.5 ")
    await front.join("from-six", "127.0.0.6")


async def test_a_body_that_is_too_large_is_refused_before_it_is_carried(front: Front, keys: dict[str, str]) -> None:
    async with front.client(keys["alice"]) as alice:
        await send(alice, "bob", payload={"large": "x" * 900_000})
        answer = await alice.post("/messages/send", content=b"x" * ((8 << 20) + 1))
    assert answer.status_code == 413


async def test_when_a_replica_is_killed_the_other_answers_and_when_both_are_nginx_says_when_to_come_again(
    database: str, tmp_path: Path
) -> None:
    with opened(*two(tmp_path / "replicas", database)) as (one, other), nginx(tmp_path / "nginx", (one, other)) as front:
        key = await front.join("survivor", "127.0.0.7")
        async with front.client(key) as client, plugged(front.ws_url, api_key=key) as socket:
            polls = [asyncio.create_task(client.post("/messages/wait", json={"wait": 60, "correlation_id": "x"})) for _ in range(4)]
            both = (one, other)

            async def all_wait() -> bool:
                return [await replica.metric("postoffice_waiters") for replica in both] == [2, 2]

            await until(all_wait)
            one.kill()
            for number in range(10):
                await send(client, "survivor", str(number), id=f"letter-{number}")
                assert (await client.get("/ready")).status_code == 200
            # Those who waited there are told that nobody answers, and may ask again; the others never notice.
            found, _ = await asyncio.wait(polls, return_when=asyncio.FIRST_COMPLETED)
            for poll in found:
                answer = poll.result()
                refused(answer, 503, "unavailable")
                assert answer.headers["retry-after"] == "1"
            assert len(done(await client.get("/messages/waiting"))["messages"]) == 10
            async with plugged(front.ws_url, api_key=key, cursor="0") as again:
                assert (await heard(again))["type"] == "new_message"
            other.kill()
            await asyncio.gather(*polls)
            last = await client.post("/messages/send", json={"to": "survivor", "subject": "x", "content": "x"})
            refused(last, 503, "unavailable")
            assert last.headers["retry-after"] == "1"
            await socket.wait_closed()
