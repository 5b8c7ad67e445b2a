"""What may grow, by the disk and by the bound on all mail."""

import sqlite3
from pathlib import Path

from postoffice.acts.room import Room
from postoffice.core.errors import StoreFull
from postoffice.store.sqlite.connection import LOG_PAGES
from postoffice.store.sqlite.reserve import Reserve

_LITTLE_LOG = 256 << 10  # bytes


class Space:
    """Looked at before each group, on the connection that writes."""

    def __init__(self, path: Path, reserve: Reserve, most: int) -> None:
        self._path = path
        self._reserve = reserve
        self._most = most
        self._saving = False
        self._page_bytes = 0

    def room(self, connection: sqlite3.Connection) -> Room:
        """What may grow now, by the disk and by the bound on all mail. Asked between two groups: then the log can be copied, too."""
        size = self._page_bytes = self._page_bytes or _pragma(connection, "page_size")  # a file keeps it for good
        pages = _pragma(connection, "page_count")
        # What stands in the log alone has yet to grow in the file.
        ahead = max(0, pages * size - self._path.stat().st_size)
        room, most = self._reserve.room(ahead), self._most
        if not self._reserve.kept:
            self._save(connection, ahead)
        elif self._saving:
            self._saving = False
            connection.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES}")
        if self._reserve.endangered_by(ahead) and self._reserve.fits(ahead):
            connection.execute("PRAGMA wal_checkpoint").fetchall()
        if not most:
            return room
        kept = (pages - _pragma(connection, "freelist_count")) * size
        left = max(0, most - kept)
        return room if room.left is not None and room.left < left else Room(left, StoreFull(size=kept, limit=most))

    def _save(self, connection: sqlite3.Connection, ahead: int) -> None:
        """What is left has to last: the log is copied and cut as often as it has grown a little, and only where all of it fits."""
        if not self._saving:
            self._saving = True
            connection.execute("PRAGMA wal_autocheckpoint = 0")
        if self._reserve.log > _LITTLE_LOG and self._reserve.fits(ahead):
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    (value,) = connection.execute(f"PRAGMA {name}").fetchone()
    return int(value)
