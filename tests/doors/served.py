"""An office served over a real port of this machine, with the engine and the clock of the test."""

import asyncio
import socket
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import msgspec

from postoffice.config import Settings
from postoffice.office import PostOffice
from postoffice.serve.app import create_app
from postoffice.serve.build import OWNER_KEY, build_rules
from postoffice.serve.run import web_server
from postoffice.wake.local import LocalWake
from tests.engines import Engine
from tests.tls import TLS


class Served(NamedTuple):
    """A running server and what stands behind it."""

    url: str
    office: PostOffice
    owner_key: str
    files: Path | None = None

    @property
    def ws_url(self) -> str:
        return self.url.replace("http", "ws", 1) + "/ws"

    def client(self, *, key: str | None = None, name: str | None = None, **options: Any) -> httpx.AsyncClient:
        """A client that brings this key, or this name, with every call."""
        headers = {"X-API-Key": key} if key is not None else {"X-Agent": name} if name is not None else {}
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=30, verify=TLS, **options)


@asynccontextmanager
async def serving(engine: Engine, *, tick: float = 3600, **settings: Any) -> AsyncIterator[Served]:
    """Serve the engine's office by these settings until the block ends."""
    with tempfile.TemporaryDirectory() as folder, socket.socket(proto=socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(2048)
        wanted = msgspec.convert({"data": Path(folder), **settings}, Settings)

        def build(_: Settings) -> PostOffice:
            rules = msgspec.structs.replace(build_rules(wanted), tick=tick)
            return PostOffice(engine.store(rules.limits), LocalWake(), rules)

        app = create_app(wanted, build)
        server = web_server(app, wanted)

        async def live() -> None:
            # One task opens and closes: a fixture of pytest's begins in one and ends in another.
            async with app.router.lifespan_context(app):
                await server.serve(sockets=[listener])

        running = asyncio.create_task(live())
        while not server.started and not running.done():  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(0.01)
        if running.done():
            await running
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        try:
            yield Served(url, app.state.office, (Path(folder) / OWNER_KEY).read_text().strip(), wanted.files)
        finally:
            # Not by uvicorn's own way, which takes its time a thousand times over; that way is shown in test_drain.
            app.state.office.drain()
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            for listening in server.servers:
                listening.close()
            for connection in list(server.server_state.connections):
                connection.transport.abort()
