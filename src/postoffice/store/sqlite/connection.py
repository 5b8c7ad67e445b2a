"""Connections to an SQLite file, and what their errors mean to whoever asked."""

import sqlite3
from pathlib import Path

from postoffice.core.clock import Clock
from postoffice.core.errors import Damaged, DiskFull, MailError, OutcomeUnknown, ReadOnly, Unavailable

_LOG_BYTES = 32 << 20


def connect(path: Path, clock: Clock) -> sqlite3.Connection:
    """A connection as each of ours is set up."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, cached_statements=512)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA fullfsync = ON")  # where fsync alone does not reach the disk (macOS)
    connection.execute("PRAGMA wal_autocheckpoint = 0")  # the writer copies the log between two groups
    connection.execute(f"PRAGMA journal_size_limit = {_LOG_BYTES}")  # one large group does not leave it large
    connection.create_function("office_now", 0, clock.now)
    return connection


def translate(error: sqlite3.Error, *, committing: bool) -> MailError:
    """What a failure of SQLite is called here."""
    name = getattr(error, "sqlite_errorname", None) or ""
    if name.startswith("SQLITE_FULL"):
        return DiskFull()
    if committing and name.startswith("SQLITE_IOERR"):
        return OutcomeUnknown(why=str(error))
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN")):
        return ReadOnly(why=str(error))
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return Damaged(why=str(error))  # which trying again does not mend
    return Unavailable(why=f"{error} ({name})" if name else str(error))
