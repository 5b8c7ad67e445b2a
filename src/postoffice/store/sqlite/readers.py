"""The threads that read one SQLite file beside its writer, each with a connection of its own."""

import asyncio
import sqlite3
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from postoffice.acts.rows import Row
from postoffice.core.clock import Clock
from postoffice.store.sqlite.connection import connect, translate

_THREADS = 2


class Readers:
    """They see what is committed, and can change nothing."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self._path = path
        self._clock = clock
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="postoffice-reader")

    async def read(self, statement: str, keys: Sequence[Any]) -> list[Row]:
        """The rows that one statement gives for each key."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._read_now, statement, keys)

    async def close(self) -> None:
        """Close once all that was asked for is answered."""
        await asyncio.get_running_loop().run_in_executor(None, self._pool.shutdown)
        for connection in self._connections:
            connection.close()

    def _read_now(self, statement: str, keys: Sequence[Any]) -> list[Row]:
        try:
            connection = self._connection()
            return [row for key in keys for row in connection.execute(statement, key)]
        except sqlite3.Error as error:
            raise translate(error, committing=False) from None

    def _connection(self) -> sqlite3.Connection:
        """The connection of the thread that asks."""
        mine: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if mine is None:
            mine = self._local.connection = connect(self._path, self._clock)
            mine.execute("PRAGMA query_only = ON")
            self._connections.append(mine)
        return mine
