"""One process's claim on a database file. It dies with the process, however that dies."""

import os
from pathlib import Path
from typing import IO

from postoffice.core.errors import DatabaseInUse


class Claim:
    """Held from its making to its closing."""

    def __init__(self, path: Path) -> None:
        self._file = path.with_name(path.name + ".lock").open("a+")
        if not _lock(self._file):
            self._file.seek(0)
            pid = self._file.read().strip() or "unknown"
            self._file.close()
            raise DatabaseInUse(path=path, pid=pid)
        try:
            self._file.truncate(0)
            os.write(self._file.fileno(), str(os.getpid()).encode())
        except OSError:
            self._file.close()
            raise

    def close(self) -> None:
        """Let go."""
        self._file.close()


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
