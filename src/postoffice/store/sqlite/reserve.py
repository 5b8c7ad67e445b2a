"""Room on the disk under the mail, and a reserve of it for what has to go on when the disk is full."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

from postoffice.acts.room import Room
from postoffice.core.clock import steady
from postoffice.store.sqlite.claim import give_to_owner_of_folder

_GROUP_BYTES = 64 << 10  # bytes that a group writes besides
_FREE_SHARE = 16  # a reserve is no more than this part of what is free
_PIECE_BYTES = 1 << 20  # bytes
_FREE_RESERVES = 2  # so many times its size has to be free before a reserve is made again
_RENEW_NANOSECONDS = 60_000_000_000  # make it again after this long in any case: an office with a quota does not see how much is free


class Reserve:
    """A file beside the mail that keeps some room on the disk. When a group finds no room, the file is removed."""

    def __init__(self, path: Path, most: int) -> None:
        self._path = path.with_name(path.name + ".reserve")
        self._log = path.with_name(path.name + "-wal")
        self._most = most
        self.size = self._wanted = self._until = 0
        self.kept = not most
        """Whether it is there; where none is wanted, none is missed."""

    @property
    def log(self) -> int:
        """How long the log is."""
        return _size(self._log)

    def keep(self) -> None:
        """Make it if the disk has room. A file that is left from the last run is used as it is."""
        if self.kept or ((free := self._free()) < self._wanted and steady() < self._until):
            return
        size = _size(self._path) or min(self._most, free // _FREE_SHARE)
        try:
            _fill(self._path, size)
        except OSError:  # the disk is fuller than it says, or no file can be made there
            self._remove()
            return
        self.size = size
        self.kept = True

    def release(self) -> bool:
        """Let it go for what has to go on. False if there is none."""
        if not self.kept or not self._most:
            return False
        self.kept = False
        self._wanted = self._free() + self.size * _FREE_RESERVES
        self._until = steady() + _RENEW_NANOSECONDS
        self._remove()
        return True

    def close(self) -> None:
        """Nobody needs it; but on a full disk the next start will."""
        if self._free() > self.size:
            self._remove()

    def room(self, ahead: int) -> Room:
        """How many bytes may be written now, if so many more are still to come; none while the reserve is in use."""
        if not self._most:
            return Room()
        self.keep()
        return Room(max(0, self._free() - ahead - _GROUP_BYTES) if self.kept else 0)

    def endangered_by(self, ahead: int) -> bool:
        """Whether so many bytes would use up most of the reserve if the disk were full now."""
        return bool(self.size) and ahead * 2 > self.size

    def fits(self, size: int) -> bool:
        """Whether the disk has so much, and some more."""
        return self._free() > size + _GROUP_BYTES

    def _free(self) -> int:
        return shutil.disk_usage(self._path.parent).free

    def _remove(self) -> None:
        with suppress(OSError):
            self._path.unlink(missing_ok=True)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _fill(path: Path, size: int) -> None:
    """Make a file that has its room on the disk, and not only its length."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:  # noqa: PTH123 - with nobody else's rights
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, max(1, size))
        else:
            file.writelines(bytes(min(_PIECE_BYTES, size - begin)) for begin in range(0, size, _PIECE_BYTES))
    give_to_owner_of_folder(path)
