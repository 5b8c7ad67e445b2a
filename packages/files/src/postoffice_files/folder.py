"""A folder that is held open: all calls reach this very folder, even if another is put in its place."""

# ruff: noqa: PTH116, PTH119, PTH208
# As in disk.py: used with every message, and pathlib mostly cannot work with an open folder.

import errno
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import cached_property
from typing import Self

from postoffice_files import disk
from postoffice_files.errors import NotAMailbox

_ASKED: set[Callable[..., object]] = {os.open, os.stat, os.mkdir, os.rename, os.link, os.unlink}
HELD = (
    hasattr(os, "O_DIRECTORY")
    and hasattr(os, "O_NOFOLLOW")
    and os.supports_dir_fd >= _ASKED
    and os.supports_fd >= {os.listdir, os.scandir}
    and os.link in os.supports_follow_symlinks
)
"""Whether this system can hold folders open and work inside them. If not, a folder is only checked before it is used."""
_OPEN = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_NO_FOLDER = frozenset({errno.ENOTDIR, errno.ELOOP})
_GENERATION = 0x80087601  # FS_IOC_GETVERSION: counts the files that have had this inode number
_OTHER = "not the folder it was a moment ago"


class Folder:
    """An open folder. Its opener closes it. If the system cannot hold folders open, it means whatever is at its path."""

    def __init__(self, path: str, descriptor: int | None) -> None:
        self.path = path
        self._at = descriptor

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the folder."""
        if self._at is not None:
            os.close(self._at)
            self._at = None

    @classmethod
    def root(cls, path: str) -> Self:
        """Open the folder that a user named; links in its path are followed. Raises FileNotFoundError."""
        return cls(path, os.open(path, _OPEN) if HELD else None)

    def inner(self, name: str) -> "Folder | None":
        """A real folder in this one; None if nothing is there. Raises NotAMailbox for anything else."""
        path = f"{self.path}/{name}"
        if not HELD:
            status = disk.lstat(path)
            if status is not None and not stat.S_ISDIR(status.st_mode):
                raise NotAMailbox(path=path, what=disk.kind(status) or "a file")
            return None if status is None else Folder(path, None)
        try:
            return Folder(path, os.open(name, _OPEN | _NO_LINK, dir_fd=self._at))
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno not in _NO_FOLDER:
                raise
            status = self.lstat(name)
            what = _OTHER if status is None or stat.S_ISDIR(status.st_mode) else disk.kind(status) or "a file"
            raise NotAMailbox(path=path, what=what) from None

    def made(self, name: str) -> "Folder":
        """The same, made if nothing is there."""
        if (child := self.inner(name)) is not None:
            return child
        try:
            disk.folder(self._spelt(name), at=self._at)
            child = self.inner(name)
        except FileNotFoundError:
            child = None
        if child is None:  # removed again at once by somebody else
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), f"{self.path}/{name}")
        return child

    @property
    def name(self) -> str:
        """The folder's own name."""
        return os.path.basename(self.path)

    @cached_property
    def print_(self) -> str:
        """Identifies the folder, so that another in its place is noticed, as far as the system allows."""
        status = self.status()
        born = getattr(status, "st_birthtime_ns", None) or getattr(status, "st_birthtime", None) or self._generation()
        return f"{status.st_dev:x}-{status.st_ino:x}" + (f"-{born}" if born else "")

    def status(self) -> os.stat_result:
        """The folder's status."""
        return os.stat(self.path if self._at is None else self._at)

    def _generation(self) -> str:
        """Inode numbers are reused; some file systems count how often."""
        if sys.platform != "linux" or self._at is None:
            return ""
        import fcntl  # noqa: PLC0415 - only on Unix

        try:
            return fcntl.ioctl(self._at, _GENERATION, bytes(8)).hex()
        except OSError:
            return ""

    def names(self) -> list[str]:
        """The names of everything in it."""
        return os.listdir(self.path if self._at is None else self._at)

    def scan(self) -> AbstractContextManager[Iterator["os.DirEntry[str]"]]:
        """The same as entries, each with what the system knows of it."""
        return os.scandir(self.path if self._at is None else self._at)

    def lstat(self, name: str) -> os.stat_result | None:
        """The status of what is there, links not followed; None if nothing is."""
        return disk.lstat(self._spelt(name), at=self._at)

    def read(self, name: str, limit: int) -> tuple[bytes, os.stat_result]:
        """As `disk.read`."""
        return disk.read(self._spelt(name), limit, at=self._at)

    def publish(self, name: str, data: bytes, token: str, *, sync: bool = True) -> None:
        """As `disk.publish`; without `sync` the file may not survive a power cut."""
        disk.publish(self._spelt(name), data, token, sync=sync, sync_folder=sync, at=self._at)

    def recreate(self, name: str, data: bytes, spare: str, token: str) -> None:
        """As `disk.recreate`."""
        disk.recreate(self._spelt(name), data, self._spelt(spare), token, at=self._at)

    def replace(self, source: str, target: str) -> None:
        """As `disk.replace`."""
        disk.replace(self._spelt(source), self._spelt(target), at=self._at)

    def move(self, name: str, target: "Folder", kept: str) -> None:
        """Move a file into another folder, under another name. Raises FileNotFoundError."""
        os.rename(self._spelt(name), target._spelt(kept), src_dir_fd=self._at, dst_dir_fd=target._at)  # noqa: SLF001 - another instance of this class

    def unlink(self, name: str) -> None:
        """Remove a file. Raises FileNotFoundError."""
        os.unlink(self._spelt(name), dir_fd=self._at)

    def sync(self) -> None:
        """Make renames in this folder durable."""
        disk.sync_directory(self.path, at=self._at)

    def _spelt(self, name: str) -> str:
        return f"{self.path}/{name}" if self._at is None else name
