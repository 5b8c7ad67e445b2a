"""Backups: copies all mail of one moment beside a running server, and restores it."""

import os
import re
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from secrets import token_hex
from urllib.parse import unquote

from postoffice.config import Settings
from postoffice.core.errors import BackupFailed
from postoffice.office.identity import REMEMBERED_SECONDS
from postoffice.serve.build import check_database
from postoffice.store.migrations.upgrade import HEAD
from postoffice.store.sqlite.claim import Claim, give_to_owner_of_folder

Progress = Callable[[int, int], None]
_PAGES_A_STEP = 1000
_LEFT = ("-wal", "-shm", "-journal")  # files that SQLite keeps beside a database and leaves there if it is killed
_PASSWORDS = (re.compile(r"(postgresql://[^:/?#]*):([^/?#]*)(?=@)"), re.compile(r"(.*[?&])password=([^&#]*)&?"))
_DETAIL = re.compile(r"(?:pg_\w+: )?detail:\s*(.*)", re.IGNORECASE)
_WRITER_SECONDS = 30.0  # how long to wait for a present writer


def backup(settings: Settings, file: Path, progress: Progress) -> str:
    """Write a backup, whole or not at all."""
    if file.exists():
        raise BackupFailed(why=f"{file} exists already; choose another name")
    if settings.database is None and not settings.sqlite_path.exists():
        raise BackupFailed(why=f"there is no mail in {settings.data}")
    begun = file.with_name(f"{file.name}.{token_hex(4)}.part")  # a name of its own, as another backup to the same name may be under way
    try:
        _begin(begun)
        if settings.database is None:
            _copy(_read_only(settings.sqlite_path), begun, progress)
        else:
            _run_at("pg_dump", settings.database, "--format=custom", f"--schema={settings.schema}", f"--file={begun}")
        begun.rename(file)
    except (sqlite3.Error, OSError) as error:
        raise BackupFailed(why=str(error)) from None
    finally:
        _clear(begun)
    return f"all mail is in {file}"


def restore(settings: Settings, file: Path, progress: Progress, *, replace: bool = False) -> str:
    """Restore a backup into an empty place or, if asked, in place of the mail there, even while a server runs."""
    if not file.is_file():
        raise BackupFailed(why=f"there is no file {file}")
    if settings.database is not None:
        check_database(settings.database)
        _check_dump(settings.schema, file)
        _restore_postgres(settings.database, file, replace=replace)
        where = ""
    else:
        _restore_sqlite(settings, file, progress, replace=replace)
        where = f" into {settings.data}"
    if replace:
        time.sleep(REMEMBERED_SECONDS)  # a running server may still remember agents that are not in the backup
    return f"{file} is restored{where}"


def _restore_postgres(database: str, file: Path, *, replace: bool) -> None:
    clean = ("--clean", "--if-exists") if replace else ()
    try:
        _run_at("pg_restore", database, "--exit-on-error", "--single-transaction", *clean, str(file))
    except BackupFailed as error:
        if replace or "already exists" not in str(error.facts["why"]):
            raise
        why = f"{error.facts['why']}; choose an empty database, or put the backup in its place with --replace"
        raise BackupFailed(why=why) from None


def _restore_sqlite(settings: Settings, file: Path, progress: Progress, *, replace: bool) -> None:
    schema = _check(file)
    if not settings.sqlite_path.exists():
        _place(settings, file, progress)
    elif replace:
        _replace(settings, file, schema, progress)
    else:
        raise BackupFailed(
            why=f"{settings.sqlite_path} has mail in it; choose another --data directory, or put the backup in its place with --replace"
        )


def _place(settings: Settings, file: Path, progress: Progress) -> None:
    try:
        settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        claim = Claim(settings.sqlite_path)
    except OSError as error:
        raise BackupFailed(why=f"{settings.data} cannot be used ({error.strerror})") from None
    begun = settings.sqlite_path.with_name("mailbox.part")
    with closing(claim):
        try:
            _begin(begun)
            give_to_owner_of_folder(begun)
            _copy(_read_only(file), begun, progress)
            for left in _LEFT:  # left by a database that is gone: SQLite would apply it to this one
                settings.sqlite_path.with_name(settings.sqlite_path.name + left).unlink(missing_ok=True)
            begun.rename(settings.sqlite_path)
        except (sqlite3.Error, OSError) as error:
            raise BackupFailed(why=str(error)) from None
        finally:
            _clear(begun)


def _replace(settings: Settings, file: Path, schema: str, progress: Progress) -> None:
    """Replace all mail in one SQLite transaction. A server beside it sees that another process has written."""
    if schema != HEAD:
        raise BackupFailed(
            why=f"{file} has schema {schema}, this program {HEAD}; restore it into an empty --data directory, which upgrades it"
        )
    try:
        _copy(_read_only(file), settings.sqlite_path, progress, journal=None)
    except sqlite3.Error as error:
        advice = "; try again when the server is less busy" if error.sqlite_errorcode == sqlite3.SQLITE_BUSY else ""
        raise BackupFailed(why=f"{settings.sqlite_path}: {error}{advice}") from None


def _begin(file: Path) -> None:
    """Create the file with the right permissions before anything is in it, so that nobody else can ever read it."""
    _clear(file)
    file.touch(mode=0o600)


def _clear(file: Path) -> None:
    for left in ("", *_LEFT):
        file.with_name(file.name + left).unlink(missing_ok=True)


def _copy(source: str, target: Path, progress: Progress, journal: str | None = "DELETE") -> None:
    """SQLite's own online backup: the state of one moment, however long it takes and whatever is written meanwhile."""
    read, write = sqlite3.connect(source, uri=True), sqlite3.connect(target, timeout=_WRITER_SECONDS)
    try:
        # Without an open read transaction it would begin again at every write, and never end beside a busy server.
        read.execute("BEGIN")
        read.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        read.backup(write, pages=_PAGES_A_STEP, progress=lambda _, left, total: progress(total - left, total))
        if journal is not None:
            write.execute(f"PRAGMA journal_mode = {journal}")
        progress(1, 1)
    finally:
        write.close()
        read.close()


def _read_only(file: Path) -> str:
    return f"{file.absolute().as_uri()}?mode=ro"


def _check(file: Path) -> str:
    """Refuse a file that is damaged or not a backup of an office. Returns its schema."""
    try:
        database = sqlite3.connect(_read_only(file), uri=True)
        try:
            (said,) = database.execute("PRAGMA quick_check").fetchone()
            (schema,) = database.execute("SELECT version_num FROM alembic_version").fetchone()
        finally:
            database.close()
    except sqlite3.Error as error:
        raise BackupFailed(why=f"{file} is not a backup of an office ({error})") from None
    if said != "ok":
        raise BackupFailed(why=f"{file} is damaged ({said})")
    return str(schema)


def _check_dump(schema: str, file: Path) -> None:
    """Refuse a dump that would not replace the office's mail: one of another PostgreSQL schema, or of another program."""
    if not re.search(rf"^\d+; \d+ \d+ TABLE {schema} alembic_version ", _run("pg_restore", "--list", str(file)), re.MULTILINE):
        raise BackupFailed(why=f"{file} is not a backup of an office in the schema {schema}; set `schema` to the one it was taken from")


def _run_at(name: str, database: str, *arguments: str) -> None:
    check_database(database)
    address, password = _apart(database)
    _run(name, f"--dbname={address}", *arguments, secret={} if password is None else {"PGPASSWORD": password})


def _run(name: str, *arguments: str, secret: Mapping[str, str] | None = None) -> str:
    """Run one of PostgreSQL's tools and return its output."""
    if shutil.which(name) is None:
        raise BackupFailed(why=f"PostgreSQL's {name} is needed but not installed here")
    command, around = [name, *arguments], os.environ | (secret or {})
    ended = subprocess.run(command, env=around, capture_output=True, text=True, check=False)  # noqa: S603 - a tool by name, with words of our own
    if ended.returncode:
        raise BackupFailed(why=_complaint(ended.stderr) or f"{name} ended with {ended.returncode}")
    return ended.stdout


def _complaint(said: str) -> str:
    """The error and detail that a PostgreSQL tool printed. The detail names the versions, or the obstacle."""
    lines = said.strip().splitlines()
    first = next((line for line in lines if ": error: " in line), lines[0] if lines else "")
    details = (match[1] for line in lines if (match := _DETAIL.match(line)))
    return first + "".join(f" ({detail})" for detail in details)


def _apart(database: str) -> tuple[str, str | None]:
    """Take the password out of an address: everybody on the machine can read a running tool's command line."""
    from postoffice.store.postgres.engine import normal_url  # noqa: PLC0415 - without the extra there is no driver

    address, password = normal_url(database), None
    for place in _PASSWORDS:
        if match := place.match(address):
            address, password = match[1] + address[match.end() :], unquote(match[2])
    return address, password
