"""One agent's folders, and the moves between them."""

import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from postoffice_files import disk
from postoffice_files.clock import SECOND
from postoffice_files.errors import NotAMailbox
from postoffice_files.names import SUFFIX, folded


@dataclass(frozen=True)
class Home:
    """`<root>/<agent>` with what stands in it."""

    path: Path

    @cached_property
    def agent(self) -> str:
        """The agent's name as its folder spells it."""
        return self.path.name

    @cached_property
    def inbox(self) -> Path:
        """What waits."""
        return self.path / "inbox"

    @cached_property
    def processed(self) -> Path:
        """What was handled."""
        return self.path / "processed"

    @cached_property
    def bad(self) -> Path:
        """What could not be, each with its reason beside it."""
        return self.path / "bad"

    @cached_property
    def claims(self) -> Path:
        """Who has what for now."""
        return self.path / "claims"

    def build(self) -> None:
        """Make what is missing; refuse what is not a real folder."""
        disk.folder(self.path)
        self.need(self.inbox, self.processed, self.bad, self.claims)

    def need(self, *folders: Path) -> None:
        """Make sure of some of its folders: each is looked at again whenever it is used."""
        for path in folders:
            disk.folder(path)

    def holds(self, name: str) -> bool:
        """Whether a message of that name is or was here. Messages only move on, so looking in this order misses none."""
        return any(disk.lstat(f"{folder}/{name}") is not None for folder in (self.inbox, self.processed, self.bad))

    def sweep(self, now: int, stale_after: float) -> None:
        """Remove what writers that died left half written, here and among the claims."""
        for folder in (self.inbox, self.claims):
            for path in folder.glob(".*.tmp"):
                with suppress(OSError):
                    status = path.lstat()
                    if stat.S_ISREG(status.st_mode) and now - status.st_mtime_ns // 1000 > stale_after * SECOND:
                        path.unlink()


def move(name: str, source: disk.Where, target: disk.Where, kept: str) -> bool:
    """Move into another folder without replacing anything there; False if somebody else moved it first."""
    try:
        os.rename(f"{source}/{name}", f"{target}/{free(target, kept)}")  # noqa: PTH104 - as on disk
    except FileNotFoundError:
        return False
    disk.sync_directory(target)
    disk.sync_directory(source)
    return True


def free(folder: disk.Where, name: str) -> str:
    """A name nobody has there: seed 002's come again within a second."""
    found, stem, number = name, name.removesuffix(SUFFIX), 1
    while disk.lstat(f"{folder}/{found}") is not None:
        number += 1
        found = f"{stem}.{number}{SUFFIX if name.endswith(SUFFIX) else ''}"
    return found


def find(root: Path, name: str) -> Home | None:
    """The home of that agent, in whatever spelling it stands there."""
    home = _home(root, name)
    status = disk.lstat(home.path)
    if status is None:
        try:
            names = sorted(path.name for path in root.iterdir() if folded(path.name) == folded(name))
        except FileNotFoundError:
            return None
        if not names:
            return None
        home = _home(root, names[0])
        status = disk.lstat(home.path)
    if status is not None and not stat.S_ISDIR(status.st_mode):
        raise NotAMailbox(path=home.path, what=disk.kind(status) or "a file")
    return home


@lru_cache(maxsize=1024)
def _home(root: Path, name: str) -> Home:
    """Kept, because its paths are asked for with every message."""
    return Home(root / name)
