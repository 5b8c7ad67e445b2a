"""A folder that is held open: what is asked of it is asked of this very one, whatever is put in its place meanwhile."""

# ruff: noqa: PTH116, PTH119, PTH208
# As on disk: these are asked for with every message, and most of them pathlib cannot ask of an open folder.

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
"""Whether this system can hold a folder open and be asked about what is in it. Where not, it is looked at before it is used, and no more."""
_OPEN = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_NO_FOLDER = frozenset({errno.ENOTDIR, errno.ELOOP})
_GENERATION = 0x80087601  # FS_IOC_GETVERSION: which of the files that had this inode number in turn it is
_OTHER = "not the folder it was a moment ago"


class Folder:
    """Closed by whoever opened it. Where the system cannot hold folders it stands for whatever is at its path."""

    def __init__(self, path: str, descriptor: int | None) -> None:
        self.path = path
        self._at = descriptor

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let it go."""
        if self._at is not None:
            os.close(self._at)
            self._at = None

    @classmethod
    def root(cls, path: str) -> Self:
        """The folder that somebody named: a link in its path was meant. Raises FileNotFoundError."""
        return cls(path, os.open(path, _OPEN) if HELD else None)

    def inner(self, name: str) -> "Folder | None":
        """A real folder in this one; None if nothing stands there. Raises NotAMailbox for anything else."""
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
        """The same, made if nothing stands there."""
        if (child := self.inner(name)) is not None:
            return child
        try:
            disk.folder(self._spelt(name), at=self._at)
            child = self.inner(name)
        except FileNotFoundError:
            child = None
        if child is None:  # taken away as soon as it was made
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), f"{self.path}/{name}")
        return child

    @property
    def name(self) -> str:
        """What it is called in the folder it stands in."""
        return os.path.basename(self.path)

    @cached_property
    def print_(self) -> str:
        """What tells it from any other folder that comes to stand in its place, as far as the system knows."""
        status = self.status()
        born = getattr(status, "st_birthtime_ns", None) or getattr(status, "st_birthtime", None) or self._generation()
        return f"{status.st_dev:x}-{status.st_ino:x}" + (f"-{born}" if born else "")

    def status(self) -> os.stat_result:
        """What the system knows of the folder itself."""
        return os.stat(self.path if self._at is None else self._at)

    def _generation(self) -> str:
        """Inode numbers are given out again: file systems that count that tell how often."""
        if sys.platform != "linux" or self._at is None:
            return ""
        import fcntl  # noqa: PLC0415 - there is none elsewhere

        try:
            return fcntl.ioctl(self._at, _GENERATION, bytes(8)).hex()
        except OSError:
            return ""

    def names(self) -> list[str]:
        """All that stands here."""
        return os.listdir(self.path if self._at is None else self._at)

    def scan(self) -> AbstractContextManager[Iterator["os.DirEntry[str]"]]:
        """The same, each with what is known of it."""
        return os.scandir(self.path if self._at is None else self._at)

    def lstat(self, name: str) -> os.stat_result | None:
        """What stands there, links not followed; None if nothing does."""
        return disk.lstat(self._spelt(name), at=self._at)

    def read(self, name: str, limit: int) -> tuple[bytes, os.stat_result]:
        """As `disk.read`."""
        return disk.read(self._spelt(name), limit, at=self._at)

    def publish(self, name: str, data: bytes, token: str, *, sync: bool = True) -> None:
        """As `disk.publish`; without `sync`, nothing is sure to survive a power cut."""
        disk.publish(self._spelt(name), data, token, sync=sync, sync_folder=sync, at=self._at)

    def recreate(self, name: str, data: bytes, spare: str, token: str) -> None:
        """As `disk.recreate`."""
        disk.recreate(self._spelt(name), data, self._spelt(spare), token, at=self._at)

    def replace(self, source: str, target: str) -> None:
        """As `disk.replace`."""
        disk.replace(self._spelt(source), self._spelt(target), at=self._at)

    def move(self, name: str, target: "Folder", kept: str) -> None:
        """Into another folder, under another name. Raises FileNotFoundError."""
        os.rename(self._spelt(name), target._spelt(kept), src_dir_fd=self._at, dst_dir_fd=target._at)  # noqa: SLF001 - another of us

    def unlink(self, name: str) -> None:
        """Remove a file. Raises FileNotFoundError."""
        os.unlink(self._spelt(name), dir_fd=self._at)

    def sync(self) -> None:
        """Have on disk what was renamed here."""
        disk.sync_directory(self.path, at=self._at)

    def _spelt(self, name: str) -> str:
        return f"{self.path}/{name}" if self._at is None else name
