"""A small file that others write, read again only once it has changed."""

import os
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
_MOST_FILES = 256
_TICK_NS = 100_000_000
"""Two changes within one tick of a file system's clock look like one: what was written so lately is read again."""


def glance(path: Path, parse: Callable[[bytes], T], *, own: bool = False) -> T | None:
    """What it says; None where there is none, nobody may read it, or (where it has to be ours) it is another user's."""
    try:
        status = path.lstat() if own else path.stat()
        if own and status.st_uid != os.getuid():
            return None
        if time.time_ns() - status.st_ctime_ns < _TICK_NS:
            return parse(path.read_bytes())
        said: T = _parsed(path, parse, (status.st_dev, status.st_ino, status.st_size, status.st_ctime_ns))
    except OSError:
        return None
    return said


@lru_cache(maxsize=_MOST_FILES)
def _parsed(path: Path, parse: Callable[[bytes], T], _: tuple[int, ...]) -> T:
    return parse(path.read_bytes())
