"""Where the machine runs: offices over one database that can be killed and opened again."""

import asyncio
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol

import asyncpg

from postoffice.core.limits import Limits
from postoffice.office import OfficeRules, PostOffice
from postoffice.store.engine import Tell
from postoffice.store.store import Store
from postoffice.wake.local import LocalWake
from tests.engines import Engine, PostgresEngine, PostgresServer, SQLiteEngine

_TERMINATE = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"


class Door:
    """One open office, and how many acts it has under way."""

    def __init__(self, store: Store, limits: Limits) -> None:
        self.under_way = 0
        put = store.engine.put

        def counted(act: Any, tell: Tell) -> None:
            def told(outcome: Any) -> None:
                tell(outcome)
                self.under_way -= 1

            put(act, told)
            self.under_way += 1

        vars(store.engine).update(put=counted)
        self.office = PostOffice(store, LocalWake(), OfficeRules(tick=3600, limits=limits))

    async def drained(self) -> None:
        """Wait until every act is answered, those nobody waits for included."""
        async with asyncio.timeout(30):
            while self.under_way:  # noqa: ASYNC110 - counted, not signalled
                await asyncio.sleep(0.001)


class Ground(Protocol):
    """One database and the doors into it."""

    doors: list[Door]

    @property
    def engine(self) -> Engine: ...

    async def open(self) -> None: ...
    async def close(self) -> None: ...

    async def reopen(self) -> None:
        """Close everything in good order and open it again."""

    async def arm(self) -> None:
        """Get ready to crash without delay."""

    async def crash(self) -> None:
        """Lose everything that is not on disk."""


async def open_door(engine: Engine, limits: Limits) -> Door:
    door = Door(engine.store(limits), limits)
    await door.office.__aenter__()
    return door


async def close_doors(doors: list[Door]) -> None:
    for door in doors:
        await door.office.__aexit__(None, None, None)
    doors.clear()


class SQLiteGround:
    """A crash is a copy of the file and its log as they stand: what a killed process leaves behind."""

    def __init__(self, folder: Path, limits: Limits) -> None:
        self._folder = folder
        self._limits = limits
        self._lives = 0
        self.doors: list[Door] = []
        self.engine = SQLiteEngine(self._next_life())

    def _next_life(self) -> Path:
        self._lives += 1
        folder = self._folder / str(self._lives)
        folder.mkdir()
        return folder

    async def open(self) -> None:
        self.doors.append(await open_door(self.engine, self._limits))

    async def close(self) -> None:
        await close_doors(self.doors)
        shutil.rmtree(self._folder)

    async def reopen(self) -> None:
        await close_doors(self.doors)
        await self.open()

    async def arm(self) -> None:
        pass

    async def crash(self) -> None:
        after = SQLiteEngine(self._next_life())
        after.clock = self.engine.clock
        log = self.engine.path.with_name(self.engine.path.name + "-wal")
        with closing(sqlite3.connect(self.engine.path, isolation_level=None)) as reader:
            # As long as somebody reads, the log is only added to: file and log belong together.
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM mailboxes").fetchone()
            shutil.copy(self.engine.path, after.path)
            shutil.copy(log, after.path.with_name(log.name))
            reader.execute("ROLLBACK")
        await close_doors(self.doors)
        self.engine = after
        await self.open()


class PostgresGround:
    """Two replicas. A crash is the server ending every connection, whatever it was doing."""

    def __init__(self, server: PostgresServer, limits: Limits) -> None:
        self._server = server
        self._limits = limits
        self.doors: list[Door] = []
        self.engine: PostgresEngine

    async def open(self) -> None:
        self.engine = PostgresEngine(await self._server.copy())
        await self._open_replicas()

    async def _open_replicas(self) -> None:
        for _ in range(2):
            self.doors.append(await open_door(self.engine, self._limits))

    async def close(self) -> None:
        await close_doors(self.doors)
        await self._server.drop(self.engine.url)

    async def reopen(self) -> None:
        await close_doors(self.doors)
        await self._open_replicas()

    async def arm(self) -> None:
        self._killer = await asyncpg.connect(self.engine.url)

    async def crash(self) -> None:
        await self._killer.execute(_TERMINATE)
        await self._killer.close()
