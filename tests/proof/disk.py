"""A small disk of a test's own, which it may fill and make read-only."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


class Disk:
    """A mounted tmpfs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._filler = folder / "filler"

    def fill(self, leave: int = 0) -> None:
        """Take up all the room but so much."""
        room = os.statvfs(self.folder)
        free = room.f_bavail * room.f_frsize
        with self._filler.open("ab") as file:
            file.write(bytes(max(0, free - leave)))

    def free(self) -> None:
        """Give the room back."""
        self._filler.unlink()

    def remount(self, mode: str) -> None:
        """Make it `ro` or `rw`."""
        _mount("-o", f"remount,{mode}", str(self.folder))


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Disk]:
    """A disk that is gone afterwards, whatever the test did."""
    folder.mkdir()
    _mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder))
    try:
        yield Disk(folder)
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True, timeout=30)


def _mount(*words: str) -> None:
    done = subprocess.run(["mount", *words], check=False, timeout=30, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.fail(f"a disk that can be filled has to be mounted, which takes root: mount {' '.join(words)}: {done.stderr.strip()}")
