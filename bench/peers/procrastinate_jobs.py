"""procrastinate over its psycopg pool: defer_async, and what its worker does: fetch_job and finish_job_by_id_async."""

import procrastinate
from procrastinate.jobs import Status

from bench.clients import Sample, run, with_coroutines
from bench.plan import BODY, Plan
from bench.server import Server

_QUEUE = "bench"
_POOL = 8  # the fastest of 2, 4, 8, 16, 32 and 64, at 16 and at 64 clients


class Procrastinate:
    """All coroutines share one queue and one pool."""

    name = "procrastinate"
    durability = Server.durability

    def __init__(self, server: Server) -> None:
        self._server = server

    def measure(self, concurrency: int, plan: Plan) -> Sample:
        """Measure on a fresh database."""
        return run(self._measure(concurrency, plan))

    async def _measure(self, concurrency: int, plan: Plan) -> Sample:
        url = await self._server.database("procrastinate", _install)
        size = min(concurrency, _POOL)
        try:
            async with _app(url, size).open_async() as app:
                jobs = app.job_manager
                deferrer = app.configure_task("bench", queue=_QUEUE)
                worker = await jobs.register_worker()

                async def cycle(_client: int) -> bool:
                    await deferrer.defer_async(body=BODY)
                    # Another worker may take the row between the snapshot and the lock: then it looks again.
                    while (job := await jobs.fetch_job([_QUEUE], worker)) is None:
                        pass
                    await jobs.finish_job_by_id_async(job.id, Status.SUCCEEDED, delete_job=False)
                    return True

                return await with_coroutines(cycle, concurrency, plan, self._server.cpu)
        finally:
            await self._server.drop(url)


def _app(url: str, size: int) -> procrastinate.App:
    return procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=url, min_size=size, max_size=size))


async def _install(url: str) -> None:
    async with _app(url, 1).open_async() as app:
        await app.schema_manager.apply_schema_async()
