"""Groups of acts as transactions, on the one connection that writes: by whichever thread has it in hand."""

import itertools
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from postoffice.acts.act import Act
from postoffice.acts.desk import Desk
from postoffice.acts.room import Room
from postoffice.acts.rows import Row
from postoffice.core.errors import DiskFull, OutcomeUnknown
from postoffice.store.drawer import Drawer
from postoffice.store.engine import Steps
from postoffice.store.group import close_desk, run_acts
from postoffice.store.loading import open_desk
from postoffice.store.sqlite.connection import translate
from postoffice.store.sqlite.space import Space

_COMMIT_TRIES = 5
_NEWS_FILED_AT_ONCE = 512  # news, which every look at a mailbox's goes through
_ROWS_LOGGED = 2000
"""How many rows are written before the log is copied: most rows are written several times by then, and copied once."""
_WAIT_MILLISECONDS = 5000  # milliseconds that a transaction waits for another program that has hold of the file
FILING = ("file_news", "file_mail", "note_filed")
"""The statements that put what is not filed yet into its indexes, in their order."""


class Transactions:
    """One at a time. Rows stay in memory from one to the next, because one process owns the file."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        statements: Mapping[str, str],
        space: Space,
        new_desk: Callable[[Drawer, Callable[[], object], Room], Desk],
    ) -> None:
        self._connection = connection
        self._sql = statements
        self._space = space
        self._new_desk = new_desk
        self._data_version: int | None = None
        self._unfiled = _NEWS_FILED_AT_ONCE  # it may be as many
        self._drawer = Drawer()
        self._grown = False  # whether the group under way has asked for room
        self._rows_logged = 0
        self._waits: bool | None = None  # whether the connection waits for others; not said yet
        self._count_deliveries()

    @property
    def housekeeping_due(self) -> bool:
        """Whether the next one may take longer than its acts: the disk is looked at before it, or the log copied after it."""
        return self._rows_logged >= _ROWS_LOGGED or self._space.looks_next

    def begins_at_once(self) -> bool:
        """Begin the next one, unless another program has hold of the file."""
        try:
            self._begin(waits=False)
        except sqlite3.Error:
            return False
        return True

    def copy_log(self) -> None:
        """Copy the log into the file if it has grown enough. Pages that somebody still reads stay in the log until the next time."""
        if self._rows_logged < _ROWS_LOGGED or self._space.saving:
            return
        self._rows_logged = 0
        with suppress(sqlite3.Error):  # what is committed stands in the log as safely
            self._connection.execute("PRAGMA wal_checkpoint").fetchall()

    def commit(self, acts: list[Act[Any]], tries: int = _COMMIT_TRIES) -> tuple[list[Any], frozenset[str]]:
        """Do the acts as one transaction. If it fails as a whole, do them one by one, so that none harms another."""
        try:
            return self._transact(acts)
        except OutcomeUnknown as error:
            # Repeating it might do it twice: callers decide whether to, and their ids keep it safe.
            return [error] * len(acts), frozenset()
        except Exception as error:  # noqa: BLE001 - whatever it is, it goes to the asker and not to the thread
            if isinstance(error.__cause__, sqlite3.IntegrityError) and len(acts) == 1 and tries > 1:
                return self.commit(acts, tries - 1)  # what was made up at random was taken
            if len(acts) > 1:
                alone = [self.commit([act]) for act in acts]
                return [outcome for outcomes, _ in alone for outcome in outcomes], frozenset().union(*(hints for _, hints in alone))
            # Acts that need room are refused; the others use the reserve.
            if isinstance(error, DiskFull) and not self._grown and self._space.release():
                return self.commit(acts)
            return [error], frozenset()

    def _transact(self, acts: Sequence[Act[Any]]) -> tuple[list[Any], frozenset[str]]:
        committing = False
        connection = self._connection
        try:
            self._grown = False
            room = self._space.room(connection, len(acts))
            if not connection.in_transaction:
                self._begin(waits=True)
            self._notice_others()
            desk = self._new_desk(self._drawer, self._delivery_ids.__next__, room)
            desk.now = desk.clock.now()  # which is what SQL would be told, too
            self._drive(open_desk(desk, self._drawer, acts))
            outcomes = run_acts(desk, acts)
            self._grown = room.taken
            for write in close_desk(desk):
                connection.executemany(self._sql[write.name], write.rows)
                self._rows_logged += len(write.rows)
            if news := desk.writes.get("add_event"):
                self._file(len(news))
            committing = True
            connection.execute("COMMIT")
        except BaseException as error:
            self._drawer = Drawer()
            with suppress(sqlite3.Error):  # what went wrong first is what counts
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            if isinstance(error, sqlite3.Error):
                raise translate(error, committing=committing) from error
            raise
        self._drawer.put_away(desk.posted, desk.changed_mail)
        if self._drawer.full:
            self._drawer = Drawer()
        return outcomes, frozenset(desk.hints)

    def _begin(self, *, waits: bool) -> None:
        if waits != self._waits:
            self._connection.execute(f"PRAGMA busy_timeout = {_WAIT_MILLISECONDS if waits else 0}")
            self._waits = waits
        self._connection.execute("BEGIN IMMEDIATE")

    def _notice_others(self) -> None:
        """Somebody may have put a backup in the file's place: then nothing in memory is true any more."""
        ((version,),) = self._connection.execute("PRAGMA data_version")
        if version != self._data_version:
            self._data_version = version
            self._drawer = Drawer()
            self._count_deliveries()

    def _file(self, news: int) -> None:
        """Put news and lines into their indexes, once there are enough."""
        self._unfiled += news
        if self._unfiled >= _NEWS_FILED_AT_ONCE:
            for name in FILING:
                self._connection.execute(self._sql[name])
            self._unfiled = 0

    def _count_deliveries(self) -> None:
        ((last,),) = self._connection.execute(self._sql["last_delivery_id"])
        self._delivery_ids = itertools.count(last + 1)

    def _drive(self, steps: Steps) -> None:
        execute = self._connection.execute
        try:
            loads = next(steps)
            while True:
                rows_by_name: dict[str, list[Row]] = {}
                for name, keys in loads.items():
                    statement = self._sql[name]
                    rows: list[Row] = []
                    for key in keys:
                        rows += execute(statement, key)
                    rows_by_name[name] = rows
                loads = steps.send(rows_by_name)
        except StopIteration:
            return
