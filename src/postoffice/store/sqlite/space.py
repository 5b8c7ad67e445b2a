"""What may grow, by the disk and by the bound on all mail."""

import sqlite3
from pathlib import Path

from postoffice.acts.room import Room
from postoffice.core.clock import steady
from postoffice.core.errors import StoreFull
from postoffice.store.sqlite.reserve import Reserve

_LITTLE_LOG_BYTES = 256 << 10  # bytes
_LOOK_NANOSECONDS = 1_000_000_000  # nanoseconds after which others may have filled the disk
_LITTLE_ROOM_BYTES = 64 << 20  # bytes
_UNSEEN_BYTES = 1 << 20  # bytes that may be written between two looks
_UNSEEN_SHARE = 8  # and no more than this part of the reserve
_ACT_BYTES = 8 << 10  # bytes that an act writes, also one that asks for no room


class Space:
    """Looked at on the connection that writes: before each group where little is left, and else now and then, for a look costs as much as an act.

    What may be written between two looks is a small part of the reserve.
    """

    def __init__(self, path: Path, reserve: Reserve, most: int) -> None:
        self._path = path
        self._reserve = reserve
        self._most = most
        self.saving = False
        """Whether so little room is left that only cutting the log helps."""
        self._page_bytes = 0
        self._room = Room()
        self._least = 0
        self._until = 0

    def room(self, connection: sqlite3.Connection, acts: int) -> Room:
        """How much a group of so many acts may write. Asked between two groups, when the log can be copied too."""
        if self._looks(acts):
            self._room = self._look(connection)
            left = self._room.left or 0
            unseen = min(_UNSEEN_BYTES, self._reserve.size // _UNSEEN_SHARE)
            self._least = left - unseen if left > _LITTLE_ROOM_BYTES else left
            self._until = steady() + _LOOK_NANOSECONDS
        else:
            self._room.go_on(acts * _ACT_BYTES)
        return self._room

    def release(self) -> bool:
        """Release the reserve for acts that need little room; False if there is none."""
        return self._reserve.release()

    @property
    def looks_next(self) -> bool:
        """Whether the disk has to be looked at before the next act. That may take a while."""
        return self._looks(1)

    def _looks(self, acts: int) -> bool:
        left = self._room.left
        return not self._reserve.kept or steady() >= self._until or (left is not None and left - acts * _ACT_BYTES < self._least)

    def _look(self, connection: sqlite3.Connection) -> Room:
        """What may grow now, by the disk and by the bound on all mail."""
        size = self._page_bytes = self._page_bytes or _pragma(connection, "page_size")  # a file keeps it for good
        pages = _pragma(connection, "page_count")
        # What stands in the log alone has yet to grow in the file.
        ahead = max(0, pages * size - self._path.stat().st_size)
        room, most = self._reserve.room(ahead), self._most
        if not self._reserve.kept:
            self._save(connection, ahead)
        else:
            self.saving = False
        if self._reserve.endangered_by(ahead) and self._reserve.fits(ahead):
            connection.execute("PRAGMA wal_checkpoint").fetchall()
        if not most:
            return room
        kept = (pages - _pragma(connection, "freelist_count")) * size
        left = max(0, most - kept)
        return room if room.left is not None and room.left < left else Room(left, StoreFull(size=kept, limit=most))

    def _save(self, connection: sqlite3.Connection, ahead: int) -> None:
        """Little room is left: copy and cut the log whenever it has grown a little, if all of it fits."""
        self.saving = True
        if self._reserve.log > _LITTLE_LOG_BYTES and self._reserve.fits(ahead):
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    (value,) = connection.execute(f"PRAGMA {name}").fetchone()
    return int(value)
