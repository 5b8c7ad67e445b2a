"""One agent's folders, held open for one call, and moves between them."""

import stat
from contextlib import suppress
from pathlib import Path
from typing import Self

from postoffice_files.clock import SECOND
from postoffice_files.errors import NotAMailbox
from postoffice_files.folder import Folder
from postoffice_files.names import SUFFIX, folded

INBOX, PROCESSED, BAD, CLAIMS = "inbox", "processed", "bad", "claims"


class Home:
    """`<root>/<agent>` and its folders. Each is opened when first used and stays that very folder."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._rooms: dict[str, Folder] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all folders."""
        for folder in (*self._rooms.values(), self._folder):
            folder.close()

    @property
    def agent(self) -> str:
        """The agent's name as its folder is spelt."""
        return self._folder.name

    @property
    def inbox(self) -> Folder:
        """The waiting mail. This and the other folders are made if missing. Anything there that is not a folder is refused."""
        return self._made(INBOX)

    @property
    def processed(self) -> Folder:
        """The handled mail."""
        return self._made(PROCESSED)

    @property
    def bad(self) -> Folder:
        """The mail that could not be handled, each file with its reason beside it."""
        return self._made(BAD)

    @property
    def claims(self) -> Folder:
        """The claims on waiting mail."""
        return self._made(CLAIMS)

    def room(self, name: str) -> Folder | None:
        """One of its folders; None if it is missing."""
        if name not in self._rooms and (folder := self._folder.inner(name)) is not None:
            self._rooms[name] = folder
        return self._rooms.get(name)

    def has_inbox(self) -> bool:
        """Whether there is an inbox already."""
        return self.room(INBOX) is not None

    def build(self) -> None:
        """Make missing folders; refuse anything there that is not a real folder."""
        for name in (INBOX, PROCESSED, BAD, CLAIMS):
            self._made(name)

    def holds(self, name: str) -> bool:
        """Whether a message of that name is or was here. Messages only move on, so this order misses none."""
        rooms = map(self._room_if_any, (INBOX, PROCESSED, BAD))
        return any(room is not None and room.lstat(name) is not None for room in rooms)

    def sweep(self, now: int, stale_after: float) -> None:
        """Remove half-written files of writers that died, here and among the claims."""
        for folder in (self.inbox, self.claims):
            for name in folder.names():
                if name.startswith(".") and name.endswith(".tmp"):
                    with suppress(OSError):
                        status = folder.lstat(name)
                        old = status is not None and now - status.st_mtime_ns // 1000 > stale_after * SECOND
                        if old and status is not None and stat.S_ISREG(status.st_mode):
                            folder.unlink(name)

    def _made(self, name: str) -> Folder:
        if name not in self._rooms:
            self._rooms[name] = self._folder.made(name)
        return self._rooms[name]

    def _room_if_any(self, name: str) -> Folder | None:
        """One of its folders; anything there that is not a folder counts as empty."""
        with suppress(NotAMailbox):
            return self.room(name)
        return None


def move(name: str, source: Folder, target: Folder, kept: str) -> bool:
    """Move a file into another folder without replacing anything; False if somebody else moved it first."""
    try:
        source.move(name, target, free(target, kept))
    except FileNotFoundError:
        return False
    target.sync()
    source.sync()
    return True


def free(folder: Folder, name: str) -> str:
    """A free name in a folder, as seed 002 repeats names within a second."""
    candidate, stem, number = name, name.removesuffix(SUFFIX), 1
    while folder.lstat(candidate) is not None:
        number += 1
        candidate = f"{stem}.{number}{SUFFIX if name.endswith(SUFFIX) else ''}"
    return candidate


def find(root: Path, name: str) -> Home | None:
    """Open an agent's home, in whatever spelling it has there."""
    try:
        top = Folder.root(str(root))
    except FileNotFoundError:
        return None
    with top:
        try:
            if (folder := top.inner(name)) is not None:
                return Home(folder)
            names = sorted(other for other in top.names() if folded(other) == folded(name))
        except FileNotFoundError:
            return None
        folder = top.inner(names[0]) if names else None
        return None if folder is None else Home(folder)


def spelling(root: Path, name: str) -> str | None:
    """The spelling of an agent's folder; None if it has none."""
    if (home := find(root, name)) is None:
        return None
    with home:
        return home.agent


def make(root: Path, name: str) -> Home:
    """Make the home of a new agent."""
    with Folder.root(str(root)) as top:
        return Home(top.made(name))
