"""A file that one process has at a time."""

import os
from typing import IO


def private(path: str, flags: int) -> int:
    """Opens a file that is nobody else's to hold, whatever the umask says."""
    return os.open(path, flags, 0o600)


def took(file: IO[bytes]) -> bool:
    """Take the file for this process, unless another has it. The system lets go of it however the process ends."""
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
