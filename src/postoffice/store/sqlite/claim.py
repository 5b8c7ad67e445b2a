"""One process's claim on a database file. It dies with the process, however that dies."""

import os
from pathlib import Path
from typing import IO

from postoffice.core.errors import DatabaseInUse


class Claim:
    """Held from its making to its closing."""

    def __init__(self, path: Path) -> None:
        self._file = open(path.with_name(path.name + ".lock"), "a+", opener=_private)  # noqa: SIM115 - a path takes no opener
        if not _lock(self._file):
            self._file.seek(0)
            pid = self._file.read().strip() or "unknown"
            self._file.close()
            raise DatabaseInUse(path=path, pid=pid)
        try:
            give_to_owner_of_folder(path.with_name(path.name + ".lock"))
            self._file.truncate(0)
            os.write(self._file.fileno(), str(os.getpid()).encode())
        except OSError:
            self._file.close()
            raise

    def close(self) -> None:
        """Let go."""
        self._file.close()


def _private(path: str, flags: int) -> int:
    """Nobody else's to read or to hold, whatever the umask says."""
    descriptor = os.open(path, flags, 0o600)
    if os.name == "posix" and os.fstat(descriptor).st_uid == os.geteuid():
        os.fchmod(descriptor, 0o600)  # one that an earlier program left open to others
    return descriptor


def give_to_owner_of_folder(path: Path) -> None:
    """Give a file that root makes in an office's folder to the folder's owner, as SQLite does: the office could not use it otherwise."""
    if os.name == "posix" and os.geteuid() == 0:
        folder = path.parent.stat()
        os.chown(path, folder.st_uid, folder.st_gid)


def _lock(file: IO[str]) -> bool:
    try:
        import fcntl  # noqa: PLC0415 - not on every platform
    except ImportError:
        import msvcrt  # noqa: PLC0415

        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
