"""A lock between processes that ends with its holder."""

import os
import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from postoffice_files.disk import kind
from postoffice_files.errors import Busy, NotAMailbox

if sys.platform == "win32":
    import msvcrt

    def _try(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

    def _release(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    # flock, not lockf: it also separates two threads of one process, and closing another descriptor does not end it.
    def _try(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _release(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


@contextmanager
def locked(path: Path, timeout: float) -> Iterator[None]:
    """Hold this file's lock. The file itself is never removed: two holders could then lock two different files."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(path, flags, 0o600)
    except (IsADirectoryError, NotADirectoryError):
        raise
    except OSError as error:
        if path.is_symlink():
            raise NotAMailbox(path=path, what="a symbolic link") from error
        raise
    try:
        if (what := kind(os.fstat(descriptor))) is not None:
            raise NotAMailbox(path=path, what=what)
        _wait(descriptor, path, timeout)
        try:
            yield
        finally:
            # Unlock explicitly: a child forked meanwhile also has the descriptor, so closing ours would not unlock it.
            _release(descriptor)
    finally:
        os.close(descriptor)


def _wait(descriptor: int, path: Path, timeout: float) -> None:
    # Poll instead of blocking: a holder that was stopped but not killed must not stop everybody.
    end = time.monotonic() + timeout
    while True:
        try:
            return _try(descriptor)
        except (BlockingIOError, PermissionError):
            if time.monotonic() >= end:
                raise Busy(path=path, seconds=timeout) from None
        time.sleep(random.uniform(0.0005, 0.004))  # noqa: S311 - for spreading, not for secrecy
