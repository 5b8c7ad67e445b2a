"""Backups: all mail as it is at one moment, taken beside a running server, and brought back into a closed one."""

import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from postoffice.config import Settings
from postoffice.core.errors import BackupFailed
from postoffice.store.claim import Claim

Progress = Callable[[int, int], None]
_PAGES = 1000


def backup(settings: Settings, file: Path, progress: Progress) -> str:
    """Write a backup. It is whole or it is not there."""
    if file.exists():
        raise BackupFailed(why=f"{file} exists already; choose another name")
    if settings.database is not None:
        try:
            _run_tool(
                "pg_dump", "--format=custom", f"--schema={settings.schema}", f"--file={file}", f"--dbname={_plain(settings.database)}"
            )
        except BackupFailed:
            file.unlink(missing_ok=True)  # half a backup is none
            raise
        return f"the database is in {file}"
    if not settings.sqlite_path.exists():
        raise BackupFailed(why=f"there is no mail in {settings.data}")
    begun = file.with_name(f"{file.name}.part")
    try:
        _copy(f"{settings.sqlite_path.absolute().as_uri()}?mode=ro", begun, progress)
        begun.chmod(0o600)
        begun.rename(file)
    except (sqlite3.Error, OSError) as error:
        raise BackupFailed(why=str(error)) from None
    finally:
        begun.unlink(missing_ok=True)
    return f"all mail is in {file}"


def restore(settings: Settings, file: Path, progress: Progress) -> str:
    """Bring a backup back where no office is open and no mail is kept."""
    if not file.is_file():
        raise BackupFailed(why=f"there is no file {file}")
    if settings.database is not None:
        _run_tool("pg_restore", "--exit-on-error", "--single-transaction", f"--dbname={_plain(settings.database)}", str(file))
        return f"{file} is restored"
    _check(file)
    try:
        settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        claim = Claim(settings.sqlite_path)
    except OSError as error:
        raise BackupFailed(why=f"{settings.data} cannot be used ({error.strerror})") from None
    with closing(claim):
        if settings.sqlite_path.exists():
            raise BackupFailed(why=f"{settings.sqlite_path} has mail in it; move it away, or choose another --data directory")
        begun = settings.sqlite_path.with_name("mailbox.part")
        try:
            _copy(f"{file.absolute().as_uri()}?mode=ro", begun, progress)
            begun.chmod(0o600)
            begun.rename(settings.sqlite_path)
        except (sqlite3.Error, OSError) as error:
            raise BackupFailed(why=str(error)) from None
        finally:
            begun.unlink(missing_ok=True)
    return f"{file} is restored into {settings.data}"


def _copy(source: str, target: Path, progress: Progress) -> None:
    """SQLite's own online backup: one moment's state, however long it takes and whoever writes meanwhile."""
    read, write = sqlite3.connect(source, uri=True), sqlite3.connect(target)
    try:
        read.backup(write, pages=_PAGES, progress=lambda _, left, total: progress(total - left, total))
        write.execute("PRAGMA journal_mode = DELETE")
        progress(1, 1)
    finally:
        write.close()
        read.close()


def _check(file: Path) -> None:
    """Refuse what is no backup of ours, or a damaged one."""
    try:
        found = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)
        try:
            (said,) = found.execute("PRAGMA quick_check").fetchone()
            found.execute("SELECT count(*) FROM mailboxes")
        finally:
            found.close()
    except sqlite3.Error as error:
        raise BackupFailed(why=f"{file} is no backup of an office ({error})") from None
    if said != "ok":
        raise BackupFailed(why=f"{file} is damaged ({said})")


def _run_tool(name: str, *arguments: str) -> None:
    if shutil.which(name) is None:
        raise BackupFailed(why=f"PostgreSQL's own {name} is needed and not installed here")
    ended = subprocess.run([name, *arguments], capture_output=True, text=True, check=False)  # noqa: S603 - a tool by name, our own words
    if ended.returncode:
        raise BackupFailed(why=(ended.stderr.strip().splitlines() or [f"{name} ended with {ended.returncode}"])[0])


def _plain(url: str) -> str:
    return url.replace("postgresql+asyncpg://", "postgresql://", 1)
