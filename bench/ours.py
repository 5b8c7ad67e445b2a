"""Our two engines, used as everybody uses them: through the office's verbs, upkeep ticking."""

import asyncio
from datetime import timedelta
from pathlib import Path

from bench.clients import Sample, run, with_coroutines
from bench.plan import BODY, Plan
from bench.scratch import check_durable, scratch
from bench.server import Server
from postoffice.core.agent import Caller
from postoffice.core.draft import Draft
from postoffice.office import PostOffice
from postoffice.store.migrations.upgrade import run_alembic
from postoffice.store.postgres.engine import PostgreSQL
from postoffice.store.sqlite.engine import SQLite
from postoffice.store.store import Store
from postoffice.wake.local import LocalWake
from postoffice.wake.postgres import PostgresWake

SCHEMA = "postoffice"
_AHEAD = 4
_PATIENCE = timedelta(seconds=0.2)


class Ring:
    """Clients in a ring: each sends to the next, then leases and acks what the one before it sent."""

    def __init__(self, office: PostOffice, clients: int) -> None:
        self._office = office
        self._clients = clients
        self._callers: list[Caller] = []

    async def open(self) -> None:
        """Let everyone appear, and lay a little mail ahead so that nobody waits for a slower neighbour."""
        # Mail to oneself has no session and would be cheaper than mail is: one client alone sends under a second name.
        self._callers = [await self._office.identify(name=f"client-{number}") for number in range(max(self._clients, 2))]
        for _ in range(_AHEAD):
            await asyncio.gather(*(self._send(client) for client in range(self._clients)))

    async def cycle(self, client: int) -> bool:
        """One send, one lease, one ack; False if there was nothing to lease."""
        await self._send(client)
        caller = self._callers[client]
        turned = await self._office.receive(caller, limit=1)
        if not turned.leased:
            turned = await self._office.wait(caller, 1, within=_PATIENCE)
        for leased in turned.leased:
            await self._office.ack(caller, leased.message.id, leased.token)
        return bool(turned.leased)

    async def _send(self, client: int) -> None:
        sender, recipient = (client, (client + 1) % self._clients) if self._clients > 1 else (1, 0)
        await self._office.send(self._callers[sender], Draft(to=self._callers[recipient].name, content=BODY))


class OurSQLite:
    """The embedded engine."""

    name = "ours, SQLite"
    durability = "WAL, FULL, fsync per group"

    def measure(self, concurrency: int, plan: Plan) -> Sample:
        """Measure on a fresh file."""
        with scratch() as folder:
            return run(self._measure(folder / "mailbox.db", concurrency, plan))

    async def _measure(self, path: Path, concurrency: int, plan: Plan) -> Sample:
        engine = SQLite(path)
        store = Store(engine)
        async with PostOffice(store, LocalWake()) as office:
            check_durable(engine._connection)  # noqa: SLF001 - the pragma is the connection's own, so it is asked there
            ring = Ring(office, concurrency)
            await ring.open()
            return await with_coroutines(ring.cycle, concurrency, plan)


class OurPostgres:
    """The engine for many machines."""

    name = "ours, PostgreSQL"
    durability = Server.durability

    def __init__(self, server: Server) -> None:
        self._server = server

    def measure(self, concurrency: int, plan: Plan) -> Sample:
        """Measure on a fresh database."""
        return run(self._measure(concurrency, plan))

    async def _measure(self, concurrency: int, plan: Plan) -> Sample:
        url = await self._server.database("ours", install)
        try:
            async with PostOffice(Store(PostgreSQL(url)), PostgresWake(url)) as office:
                ring = Ring(office, concurrency)
                await ring.open()
                return await with_coroutines(ring.cycle, concurrency, plan, self._server.cpu)
        finally:
            await self._server.drop(url)


async def install(url: str) -> None:
    """Put our schema into a PostgreSQL database."""
    await asyncio.to_thread(run_alembic, url, schema=SCHEMA, inbox_schema=SCHEMA)
