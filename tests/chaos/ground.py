"""What an office stands on: an SQLite file of its own, or a PostgreSQL database for any number of replicas."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final, Protocol

import asyncpg

from tests.chaos.office import Replica
from tests.proof.books import Books, postgres_books, sqlite_books

_COLUMNS: Final = "SELECT column_name FROM information_schema.columns WHERE table_schema = 'postoffice' AND table_name = $1"


class Ground(Protocol):
    """Where the mail is."""

    engine: str
    place: tuple[str, str]
    """How commands are told where it is."""

    def replicas(self, **settings: str) -> list[Replica]:
        """As many servers over it as it can bear, not yet started."""

    async def books(self) -> Books:
        """What its tables say; SQLite's when nobody serves it."""

    async def columns(self, table: str) -> list[str]:
        """The columns of a table; none where there is no such table."""


class SQLiteGround:
    engine = "SQLite"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "data" / "mailbox.db"
        self.place = ("--data", str(self._file.parent))

    def replicas(self, **settings: str) -> list[Replica]:
        return [Replica(self._folder, self.engine, **settings)]

    async def books(self) -> Books:
        return sqlite_books(self._file)

    async def columns(self, table: str) -> list[str]:
        with closing(sqlite3.connect(self._file)) as connection:
            return [name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))]


class PostgresGround:
    engine = "PostgreSQL"

    def __init__(self, folder: Path, url: str) -> None:
        self._folder = folder
        self.url = url
        self.place = ("--database", url)

    def replicas(self, **settings: str) -> list[Replica]:
        database = {"POSTOFFICE_DATABASE": self.url} | settings
        return [Replica(self._folder / f"replica-{number}", self.engine, **database) for number in (1, 2)]

    async def books(self) -> Books:
        return await postgres_books(self.url)

    async def columns(self, table: str) -> list[str]:
        connection = await asyncpg.connect(self.url)
        try:
            found = await connection.fetch(_COLUMNS, table)
        finally:
            await connection.close()
        return [name for (name,) in found]
