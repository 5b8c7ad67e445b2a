"""Where the benchmark keeps its databases: on the disk that holds the repository, because /tmp may be memory."""

import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

BUILD = Path("build")
_BEGAN = time.monotonic()
_WAL_FULL = ("wal", 2)


@contextmanager
def scratch() -> Iterator[Path]:
    """Make a folder that is gone afterwards."""
    BUILD.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="bench-", dir=BUILD, ignore_cleanup_errors=True) as folder:
        yield Path(folder).absolute()


def progress(what: str) -> None:
    """Say on stderr what is being done."""
    print(f"[{time.monotonic() - _BEGAN:6.1f} s] {what}", file=sys.stderr, flush=True)


def check_durable(connection: sqlite3.Connection) -> None:
    """Refuse to measure a connection that would not survive a power loss."""
    (journal,) = connection.execute("PRAGMA journal_mode").fetchone()
    (synchronous,) = connection.execute("PRAGMA synchronous").fetchone()
    if (journal, synchronous) != _WAL_FULL:
        message = f"expected WAL and synchronous=FULL (2), found {journal} and {synchronous}"
        raise RuntimeError(message)


def fdatasync_micros() -> float:
    """Time how long this disk takes to make one small write durable."""
    return median(synced_writes(200)) * 1e6


def synced_writes(count: int, pause: float = 0.0) -> list[float]:
    """The seconds that this disk takes to make small writes durable, with pauses between them."""
    times = []
    with scratch() as folder, (folder / "probe").open("wb", buffering=0) as file:
        for _ in range(count):
            time.sleep(pause)
            began = time.perf_counter()
            file.write(bytes(4096))
            os.fdatasync(file.fileno())
            times.append(time.perf_counter() - began)
    return times
