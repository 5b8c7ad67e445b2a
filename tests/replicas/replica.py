"""Equal server processes over one PostgreSQL, any of which may be killed."""

import asyncio
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx
import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from postoffice.core.agent import KEY_PREFIX
from tests.runner.office import until as until_now
from tests.serve.running import COMMAND, answers, environment, free_port
from tests.tls import TLS
from tests.warm import start

ROOT = Path(__file__).parents[2]
NEVER = 3600.0
PATIENCE = 90.0
"""Seconds: several servers start at once here, and others may be at work on the same machine."""
_PAUSE = 0.03


async def until(check: Callable[[], Awaitable[object]]) -> None:
    """Look again and again until it is so; fail if it never is."""
    async with asyncio.timeout(PATIENCE):
        while not await check():  # noqa: ASYNC110 - what is waited for happens in another process
            await asyncio.sleep(_PAUSE)


_CODES_KEY = f"{KEY_PREFIX}{0:064x}"


class Replica:
    """One server. Without a tick of the test's choosing it is the command as anybody runs it."""

    def __init__(self, here: Path, *flags: str, tick: float | None = None, settings: Mapping[str, str] | None = None) -> None:
        (here / "kept").mkdir(parents=True)
        (here / "kept" / "codes.key").write_text(_CODES_KEY)  # which replicas share
        self.here = here
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.ws_url = f"ws://127.0.0.1:{self.port}/ws"
        command = COMMAND if tick is None else (sys.executable, "-W", "error", "-m", "tests.replicas.ticking", str(tick))
        self._command = [*command, "serve", "--data", "kept", "--port", str(self.port), *flags]
        self._settings = ({} if tick is None else {"PYTHONPATH": str(ROOT)}) | dict(settings or {})
        self._process: subprocess.Popen[bytes] | None = None

    def begin(self) -> None:
        """Start it. Several start together: each is waited for afterwards."""
        with (self.here / "said").open("ab") as said:
            self._process = start.popen(self._command, cwd=self.here, env=environment(self._settings), stdout=said, stderr=said)

    def answers(self) -> None:
        """Wait until it does."""
        assert self._process is not None
        process = self._process
        until_now(lambda: answers(self.port) or process.poll() is not None, PATIENCE, lambda: self.said)
        assert process.poll() is None, self.said

    def ends(self) -> int:
        """Wait until it is over, and give how it ended."""
        assert self._process is not None
        return self._process.wait(PATIENCE)

    def terminate(self) -> None:
        """Tell it to stop."""
        assert self._process is not None
        self._process.terminate()

    def kill(self) -> None:
        """As kill -9 does it."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(PATIENCE)

    @property
    def said(self) -> str:
        return (self.here / "said").read_text()

    @property
    def owner_key(self) -> str:
        return (self.here / "kept" / "owner.key").read_text().strip()

    def client(self, name: str | None = None, *, key: str | None = None) -> httpx.AsyncClient:
        """A client that brings this name, or this key, with every call."""
        headers = {"X-API-Key": key} if key is not None else {} if name is None else {"X-Agent": name}
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=PATIENCE, verify=TLS, trust_env=False)

    @asynccontextmanager
    async def mcp(self, agent: str, era: str) -> AsyncIterator[Client]:
        """The official MCP client at an agent's address."""
        address = f"{self.url}/agents/{agent}/mcp?tools=all&structured=1"
        async with (
            httpx2.AsyncClient(timeout=httpx2.Timeout(PATIENCE, read=300), verify=TLS) as http,
            Client(streamable_http_client(address, http_client=http), mode=era) as opened,
        ):
            yield opened

    async def ready(self) -> httpx.Response:
        async with self.client() as anyone:
            return await anyone.get("/ready")

    async def hints(self) -> str:
        return str((await self.ready()).json().get("hints"))

    async def metric(self, name: str) -> float:
        """What Prometheus would be told."""
        async with self.client(key=self.owner_key) as owner:
            shown = await owner.get("/metrics")
        found = re.search(rf"^{re.escape(name)} (\S+)$", shown.text, re.MULTILINE)
        assert found is not None, shown.text
        return float(found[1])

    async def shows(self, name: str, wanted: float) -> None:
        """Wait until it does."""

        async def there() -> bool:
            return await self.metric(name) == wanted

        await until(there)

    async def hears(self) -> None:
        """Wait until hints are carried to it."""

        async def there() -> bool:
            return await self.hints() == "carried"

        await until(there)


@contextmanager
def opened(*replicas: Replica) -> Iterator[tuple[Replica, ...]]:
    """Servers that answer; whatever befell them, they are gone afterwards."""
    try:
        for replica in replicas:
            replica.begin()
        for replica in replicas:
            replica.answers()
        yield replicas
    finally:
        for replica in replicas:
            replica.kill()


async def send(sender: httpx.AsyncClient, to: str, content: str = "hello", **fields: Any) -> dict[str, Any]:
    """A letter that must be accepted."""
    answer = await sender.post("/messages/send", json={"to": to, "content": content, "subject": "work"} | fields)
    assert answer.is_success, answer.text
    return dict(answer.json())
