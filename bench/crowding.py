"""Offices with many agents, filled by sending: everybody has written to the reader once, and to a neighbour."""

import asyncio
from collections.abc import Awaitable, Callable
from itertools import islice
from pathlib import Path
from typing import Protocol

import asyncpg

from bench.filling import READER, ROOMY
from bench.ours import install
from bench.plan import BODY
from bench.scratch import progress
from bench.server import Server
from postoffice.acts.mail.send import Send
from postoffice.acts.people.agents import Appear
from postoffice.core.draft import Draft
from postoffice.store.postgres.engine import PostgreSQL
from postoffice.store.sqlite.engine import SQLite
from postoffice.store.store import Store
from postoffice.wake.local import LocalWake
from postoffice.wake.postgres import PostgresWake
from postoffice.wake.protocol import Wake

_AT_ONCE = 500


class Crowded(Protocol):
    """One engine's offices with many agents."""

    async def crowded(self, agents: int) -> tuple[Store, Wake]:
        """Give a store, not yet open, in which so many agents have written to the reader and to each other."""


class CrowdedSQLite:
    """SQLite files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def crowded(self, agents: int) -> tuple[Store, Wake]:
        """Give a store over a filled file."""
        path = self._folder / f"crowd-{agents}.db"
        progress(f"filling SQLite with {agents:,} agents")
        # Filled without waiting for the disk; what is measured afterwards does wait.
        await _fill(Store(SQLite(path, limits=ROOMY, synchronous="OFF")), agents)
        return Store(SQLite(path, limits=ROOMY)), LocalWake()


class CrowdedPostgres:
    """PostgreSQL databases."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def crowded(self, agents: int) -> tuple[Store, Wake]:
        """Give a store over a filled database."""
        progress(f"filling PostgreSQL with {agents:,} agents")
        url = await self._server.database("ours", install)
        await _fill(Store(PostgreSQL(url, limits=ROOMY)), agents)
        connection = await asyncpg.connect(url)
        # Autovacuum would come for the same work in the middle of the measurement.
        await connection.execute("VACUUM ANALYZE")
        await connection.close()
        return Store(PostgreSQL(url, limits=ROOMY)), PostgresWake(url)


async def _fill(store: Store, agents: int) -> None:
    names = [f"agent-{number}" for number in range(agents)]
    await store.open(lambda _agents: None)
    await store.do(Appear(READER))

    def letter(sender: str, to: str) -> Awaitable[object]:
        return store.do(Send(sender, Draft(to=to, content=BODY, priority=3, ttl=3), verified=False, strangers=True))

    await _all(names, lambda name: store.do(Appear(name)))
    await _all(names, lambda name: letter(name, READER))
    neighbours = dict(zip(names, [*names[1:], names[0]], strict=True))
    await _all(names, lambda name: letter(name, neighbours[name]))
    await store.close()


async def _all(names: list[str], act: Callable[[str], Awaitable[object]]) -> None:
    left = iter(names)
    while some := list(islice(left, _AT_ONCE)):
        await asyncio.gather(*map(act, some))
