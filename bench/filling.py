"""Databases filled with mail by plain SQL, because a million sends would take the rest of the run.

Twenty agents send one real message each to the reader; every further row is a copy of one of these with its own
id and number, and the counts kept by mailbox and sessions are set to what sends would have made them.
"""

import sqlite3
from pathlib import Path
from typing import Protocol

import asyncpg

from bench.ours import SCHEMA, install
from bench.plan import BODY
from bench.scratch import progress
from bench.server import Server
from postoffice.acts.mail.send import Send
from postoffice.acts.people.agents import Appear
from postoffice.core.draft import Draft
from postoffice.core.limits import Limits
from postoffice.store import sql
from postoffice.store.postgres.engine import PostgreSQL
from postoffice.store.sqlite.engine import SQLite
from postoffice.store.sqlite.transactions import FILING
from postoffice.store.store import Store
from postoffice.wake.local import LocalWake
from postoffice.wake.postgres import PostgresWake
from postoffice.wake.protocol import Wake

READER = "reader"
SENDERS = 20
ROOMY = Limits(depth=10_000_000)
"""A mailbox that takes more mail although it holds a million."""

_SEEDS = f"""
CREATE TEMP TABLE seed_messages AS SELECT m.*, d.number AS seed FROM messages m JOIN deliveries d ON d.message_id = m.id;
CREATE TEMP TABLE seed_deliveries AS SELECT d.*, d.number AS seed FROM deliveries d;
CREATE TEMP TABLE seed_events AS SELECT e.*, e.number AS seed FROM events e WHERE e.mailbox = '{READER}';
"""
_COUNTS = f"""
UPDATE mailboxes SET counted = {{size}}, pending = {{size}} - {{flying}}, leased = {{flying}} WHERE agent = '{READER}';
UPDATE sessions SET counted = {{size}} / {SENDERS},
  unread_low = CASE WHEN low = '{READER}' THEN ({{size}} - {{flying}}) / {SENDERS} ELSE 0 END,
  unread_high = CASE WHEN high = '{READER}' THEN ({{size}} - {{flying}}) / {SENDERS} ELSE 0 END;
UPDATE deliveries SET state = 'leased', attempts = 1, token = 'token-' || number, leased_at = created_at,
  due_at = created_at + 43200000000 + number WHERE number <= {{flying}};
"""
_SCHEDULED = f"""
UPDATE deliveries SET state = 'held', deliver_at = created_at + 1000000000000000 WHERE number <= {{scheduled}};
UPDATE mailboxes SET pending = pending - {{scheduled}}, held = {{scheduled}} WHERE agent = '{READER}';
"""
# Indexes that have caught up, as they have in a database that was filled by sending.
_SQLITE_INDEXED = "INSERT OR REPLACE INTO cursors (name, value) SELECT 'search', CAST(max(n) AS TEXT) FROM events"
_POSTGRES_INDEXED = (
    "INSERT INTO cursors (name, value) SELECT 'search', max(tx)::text || '.' || max(n) FROM events"
    " ON CONFLICT (name) DO UPDATE SET value = excluded.value"
)


class Filled(Protocol):
    """One engine's filled databases, each made once."""

    name: str

    async def filled(self, size: int, in_flight: int = 0, scheduled: int = 0) -> tuple[Store, Wake]:
        """Give a store, not yet open, whose reader has so many messages, so many of them leased at the head, or waiting for their time."""


class FilledSQLite:
    """Filled SQLite files."""

    name = "SQLite"

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def filled(self, size: int, in_flight: int = 0, scheduled: int = 0) -> tuple[Store, Wake]:
        """Give a store over a filled file."""
        path = self._folder / f"{size}-{in_flight}-{scheduled}.db"
        if not path.exists():
            progress(f"filling SQLite with {size:,} messages, {in_flight:,} in flight")
            await _seed(Store(SQLite(path)))
            self._fill(path, size, in_flight, scheduled)
        return Store(SQLite(path, limits=ROOMY)), LocalWake()

    def _fill(self, path: Path, size: int, in_flight: int, scheduled: int) -> None:
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA cache_size = -262144")
        connection.executescript(f"BEGIN; {_SEEDS}")
        id = "printf('01900000-%04x-7%03x-8000-%012x', s.n / 4096, s.n % 4096, s.n)"
        series = f"(WITH RECURSIVE c (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM c WHERE n < {size - SENDERS - 1}) SELECT n FROM c) AS s"
        for table, changed in _changes(id, f"replace(t.body, t.id, {id})", id).items():
            info = connection.execute(f"PRAGMA table_info({table})").fetchall()
            columns = [name for _, name, type, _, _, key in info if not (key and type == "INTEGER")]
            connection.execute(_copy(table, columns, changed, series))
        connection.commit()
        statements = sql.load("sqlite", {"false": "0", "true": "1", "id": "text"})
        indexed = "; ".join([_SQLITE_INDEXED, *(statements[name] for name in FILING)])
        connection.executescript(
            f"{_COUNTS.format(size=size, flying=in_flight)} {_SCHEDULED.format(scheduled=scheduled)} {indexed}; PRAGMA wal_checkpoint(TRUNCATE)"
        )
        connection.close()


class FilledPostgres:
    """Filled PostgreSQL databases."""

    name = "PostgreSQL"

    def __init__(self, server: Server) -> None:
        self._server = server
        self._urls: dict[tuple[int, int, int], str] = {}

    async def filled(self, size: int, in_flight: int = 0, scheduled: int = 0) -> tuple[Store, Wake]:
        """Give a store over a filled database."""
        if (size, in_flight, scheduled) not in self._urls:
            progress(f"filling PostgreSQL with {size:,} messages, {in_flight:,} in flight")
            url = self._urls[size, in_flight, scheduled] = await self._server.database("ours", install)
            await _seed(Store(PostgreSQL(url)))
            await self._fill(url, size, in_flight, scheduled)
        url = self._urls[size, in_flight, scheduled]
        return Store(PostgreSQL(url, limits=ROOMY)), PostgresWake(url)

    async def _fill(self, url: str, size: int, in_flight: int, scheduled: int) -> None:
        settings = {"search_path": SCHEMA, "synchronous_commit": "off", "work_mem": "64MB"}
        connection = await asyncpg.connect(url, server_settings=settings)
        await connection.execute(_SEEDS)
        hexes = ((4, "s.n / 4096"), (3, "s.n % 4096"), (12, "s.n"))
        group, count, tail = (f"lpad(to_hex({value}), {digits}, '0')" for digits, value in hexes)
        id = f"('01900000-' || {group} || '-7' || {count} || '-8000-' || {tail})::uuid"
        series = f"generate_series(0, {size - SENDERS - 1}) AS s (n)"
        changes = _changes(id, f"replace(t.body::text, t.id::text, {id}::text)::json", f"{id}::text")
        changes["deliveries"]["id"] = id
        for table, changed in changes.items():
            rows = await connection.fetch(
                "SELECT column_name FROM information_schema.columns"
                " WHERE table_schema = $1 AND table_name = $2 AND is_identity = 'NO' ORDER BY ordinal_position",
                SCHEMA,
                table,
            )
            await connection.execute(_copy(table, [row[0] for row in rows], changed, series))
        await connection.execute(
            f"{_COUNTS.format(size=size, flying=in_flight)} {_SCHEDULED.format(scheduled=scheduled)} {_POSTGRES_INDEXED}"
        )
        # Autovacuum would come for the same work in the middle of the measurement.
        await connection.execute("VACUUM ANALYZE")
        await connection.execute("CHECKPOINT")
        await connection.close()


async def _seed(store: Store) -> None:
    await store.open(lambda _agents: None)
    await store.do(Appear(READER))
    for number in range(SENDERS):
        name = f"sender-{number}"
        await store.do(Appear(name))
        await store.do(Send(name, Draft(to=READER, content=BODY, priority=3, ttl=3), verified=False, strangers=True))
    await store.close()


def _changes(id: str, body: str, ref: str) -> dict[str, dict[str, str]]:
    """By table: what is not copied but made for each row."""
    number = f"s.n + {SENDERS} + 1"
    return {
        "messages": {"id": id, "body": body},
        "deliveries": {"message_id": id, "number": number, "session_number": f"s.n / {SENDERS} + 2", "filed": "1"},
        "events": {"number": number, "ref": ref, "filed": "1"},
    }


def _copy(table: str, columns: list[str], changed: dict[str, str], series: str) -> str:
    values = ", ".join(changed.get(column, f"t.{column}") for column in columns)
    return (
        f"INSERT INTO {table} ({', '.join(columns)})"
        f" SELECT {values} FROM {series} CROSS JOIN seed_{table} AS t WHERE t.seed = s.n % {SENDERS} + 1"
    )
