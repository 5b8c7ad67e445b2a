"""Connections that read one SQLite file beside its writer: one for each thread that reads, and one for the loop, which reads what takes a moment."""

import asyncio
import sqlite3
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from postoffice.acts.rows import Row
from postoffice.core.clock import Clock
from postoffice.store.sqlite.connection import connect, translate
from postoffice.store.sqlite.pace import Pace

_THREADS = 2
_BRIEF = frozenset(
    [
        "agent",
        "card",
        "connection",
        "find_key",
        "find_login",
        "held_in",
        "in_hand_of",
        "inbox",
        "last_event",
        "lines",
        "look",
        "machine_of_key",
        "mailbox_outside",
        "message_by_id",
        "names_near",
        "now",
        "oldest_program",
        "question",
        "requests_with",
        "session",
        "session_number",
        "standings",
        "tasks_asked_of",
        "tasks_by_ref",
        "tasks_under_way",
        "tombstone",
        "under_way",
        "window",
    ]
)
"""Reads that find a few rows by an index, however much mail there is."""
_REPEATED = frozenset({"inbox", "list_threads"})
"""Of these, reads that give the same rows until somebody commits, as no clock is asked, and that are asked for again and again."""
_KEPT_READS = 64
_KEPT_CHARACTERS = 64 << 10


class Readers:
    """They see what is committed, and can change nothing."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self._path = path
        self._clock = clock
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._paces = {name: Pace() for name in _BRIEF}
        self._kept: dict[tuple[object, ...], tuple[int, list[Row]]] = {}
        """What the loop's connection has read lately, and at which version of the file."""
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="postoffice-reader")

    async def read(self, name: str, statement: str, keys: Sequence[Any]) -> list[Row]:
        """The rows that one statement gives for each key."""
        pace = self._paces.get(name)
        if pace is not None and pace.quick:
            return self._read_again(name, statement, keys, pace) if name in _REPEATED else self._read_now(statement, keys, pace)
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._read_now, statement, keys, pace)

    async def close(self) -> None:
        """Close once all that was asked for is answered."""
        await asyncio.get_running_loop().run_in_executor(None, self._pool.shutdown)
        for connection in self._connections:
            connection.close()

    def _read_again(self, name: str, statement: str, keys: Sequence[Any], pace: Pace) -> list[Row]:
        """The rows as they were read before, the very same list, if nothing has been committed since."""
        place = (name, *keys[0].values())
        try:
            ((version,),) = self._connection().execute("PRAGMA data_version")
        except sqlite3.Error as error:
            raise translate(error, committing=False) from None
        read_at, rows = self._kept.pop(place, (None, []))
        if read_at != version:
            rows = self._read_now(statement, keys, pace)
        if sum(len(row[-1] or "") for row in rows) <= _KEPT_CHARACTERS:
            self._kept[place] = version, rows
            if len(self._kept) > _KEPT_READS:
                del self._kept[next(iter(self._kept))]
        return rows

    def _read_now(self, statement: str, keys: Sequence[Any], pace: Pace | None) -> list[Row]:
        begun = time.perf_counter()
        try:
            connection = self._connection()
            return [row for key in keys for row in connection.execute(statement, key)]
        except sqlite3.Error as error:
            raise translate(error, committing=False) from None
        finally:
            if pace is not None:
                pace.note(time.perf_counter() - begun, 1)

    def _connection(self) -> sqlite3.Connection:
        """The connection of the thread that asks."""
        mine: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if mine is None:
            mine = self._local.connection = connect(self._path, self._clock)
            mine.execute("PRAGMA query_only = ON")
            self._connections.append(mine)
        return mine
