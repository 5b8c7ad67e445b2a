"""pgqueuer over an asyncpg pool: enqueue, and what its worker does: dequeue and log_jobs."""

import uuid
from datetime import timedelta

import asyncpg
from pgqueuer.ports.repository import EntrypointExecutionParameter
from pgqueuer.queries import Queries

from bench.clients import Sample, run, with_coroutines
from bench.plan import BODY, Plan
from bench.server import Server

_DATA = BODY.encode()
_ENTRYPOINT = "bench"
_POOL = 8  # the fastest of 2, 4, 8, 16, 32 and 64, at 16 and at 64 clients
_STALE = timedelta(seconds=30)


class PgQueuer:
    """All coroutines share one entrypoint and one pool."""

    name = "pgqueuer"
    durability = Server.durability

    def __init__(self, server: Server) -> None:
        self._server = server

    def measure(self, concurrency: int, plan: Plan) -> Sample:
        """Measure on a fresh database."""
        return run(self._measure(concurrency, plan))

    async def _measure(self, concurrency: int, plan: Plan) -> Sample:
        url = await self._server.database("pgqueuer", _install)
        size = min(concurrency, _POOL)
        try:
            async with asyncpg.create_pool(url, min_size=size, max_size=size) as pool:
                queries = Queries.from_asyncpg_pool(pool)
                worker = uuid.uuid4()

                async def cycle(_client: int) -> bool:
                    await queries.enqueue(_ENTRYPOINT, _DATA)
                    # Another worker may take the row between the snapshot and the lock: then it looks again.
                    while not (jobs := await queries.dequeue(1, {_ENTRYPOINT: EntrypointExecutionParameter(0)}, worker, None, _STALE)):
                        pass
                    await queries.log_jobs([(jobs[0], "successful", None)])
                    return True

                return await with_coroutines(cycle, concurrency, plan, self._server.cpu)
        finally:
            await self._server.drop(url)


async def _install(url: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        await Queries.from_asyncpg_connection(connection).install()
    finally:
        await connection.close()
