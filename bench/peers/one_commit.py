"""The plainest SQLite queue: one table, one transaction for each call, no group commit."""

import sqlite3
import threading
from pathlib import Path

from bench.clients import Sample, with_threads
from bench.plan import BODY, Plan
from bench.scratch import check_durable, scratch

_SCHEMA = """
CREATE TABLE mail (id INTEGER PRIMARY KEY, body TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'pending');
CREATE INDEX mail_waiting ON mail (id) WHERE state = 'pending';
"""
_LEASE = """
UPDATE mail SET state = 'leased' WHERE id = (SELECT id FROM mail WHERE state = 'pending' ORDER BY id LIMIT 1) RETURNING id, body
"""


class OneCommit:
    """One connection behind a lock: writers that queue here wait less than in SQLite's busy handler."""

    name = "one commit per call"
    durability = "WAL, FULL, fsync per call"

    def measure(self, concurrency: int, plan: Plan) -> Sample:
        """Measure on a fresh file."""
        with scratch() as folder:
            queue = _Queue(folder / "plain.db")
            try:
                return with_threads(queue.cycle, concurrency, plan)
            finally:
                queue.close()


class _Queue:
    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.executescript(_SCHEMA)
        check_durable(self._connection)

    def cycle(self, _client: int) -> None:
        with self._lock:
            self._connection.execute("INSERT INTO mail (body) VALUES (?)", (BODY,))
        with self._lock:
            ((id, _body),) = self._connection.execute(_LEASE).fetchall()
        with self._lock:
            self._connection.execute("UPDATE mail SET state = 'acked' WHERE id = ?", (id,))

    def close(self) -> None:
        self._connection.close()
