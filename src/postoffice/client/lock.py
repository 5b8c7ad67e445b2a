"""A file lock between processes."""

import os
from typing import IO


def private(path: str, flags: int) -> int:
    """An opener for files that no other user can open, whatever the umask is."""
    return os.open(path, flags, 0o600)


def took(file: IO[bytes]) -> bool:
    """Lock the file for this process; False if another has it. The system unlocks it however the process ends."""
    try:
        if os.name == "posix":
            import fcntl  # noqa: PLC0415 - not on every platform

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            import msvcrt  # noqa: PLC0415

            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    except OSError:
        return False
    return True
