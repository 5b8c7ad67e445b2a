"""The embedded engine: one writer thread that commits whatever is waiting as one group, readers beside it."""

import asyncio
import errno
import itertools
import json
import queue
import sqlite3
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from postoffice.acts.act import Act, Pause
from postoffice.acts.rows import Row
from postoffice.core.clock import Clock
from postoffice.core.errors import BadCursor, Closed, DiskFull, OutcomeUnknown, ReadOnly
from postoffice.core.limits import Limits
from postoffice.core.query import Term
from postoffice.core.seal import Seal
from postoffice.core.tally import Tally
from postoffice.store import sql
from postoffice.store.drawer import Drawer
from postoffice.store.engine import Committed, Steps, Tell
from postoffice.store.group import close_desk, run_acts
from postoffice.store.loading import open_desk
from postoffice.store.migrations.upgrade import check_program, upgrade_sqlite
from postoffice.store.sqlite.claim import Claim
from postoffice.store.sqlite.connection import connect, translate
from postoffice.store.sqlite.readers import Readers
from postoffice.store.sqlite.reserve import Reserve
from postoffice.store.sqlite.space import Space

_Job = tuple[Act[Any], Tell]
_GROUP_ACTS = 256
_BUSY_TURN_SECONDS = 0.0001  # seconds
_GATHERING_TURNS = 8
_CURSOR_DIGITS = 18
_COMMIT_TRIES = 5
_NEWS_FILED_AT_ONCE = 512  # news, which every look at a mailbox's goes through
FILING = ("file_news", "file_mail", "note_filed")
"""The statements that put what is not filed yet into its indexes, in their order."""


class SQLite:
    """Mail in one SQLite file, owned by one process."""

    shared = False

    def __init__(
        self,
        path: Path,
        clock: Clock | None = None,
        limits: Limits | None = None,
        *,
        seal: Seal | None = None,
        synchronous: str = "FULL",
    ) -> None:
        self.clock = clock or Clock()
        self.limits = limits or Limits()
        self.seal = seal or Seal()
        self.commits = Tally()
        self.closing = True  # until it is open
        self.path = path
        self._synchronous = synchronous
        self._sql = sql.load("sqlite", {"false": "0", "id": "text"})
        self._jobs: queue.SimpleQueue[list[_Job] | None] = queue.SimpleQueue()
        self._gathered: list[_Job] = []
        self._data_version: int | None = None
        self._unfiled = _NEWS_FILED_AT_ONCE  # it may be as many
        self._drawer = Drawer()  # one process owns the file: what a group left true stays true
        self._claim: Claim | None = None
        self._reserve = Reserve(path, self.limits.disk_reserve)
        self._space = Space(path, self._reserve, self.limits.total_bytes)
        self._grown = False  # whether the group under way has asked for room

    async def open(self, committed: Committed) -> None:
        self._loop = asyncio.get_running_loop()
        self._committed = committed
        await self._loop.run_in_executor(None, self._open)
        self._readers = Readers(self.path, self.clock)
        self._writer = threading.Thread(target=self._write_groups, name="postoffice-writer", daemon=True)
        self._writer.start()
        self.closing = False

    async def close(self) -> None:
        if self.closing:
            return
        self.closing = True
        # Twice: answering what was under way may give back mail that nobody is there to take any more.
        await self._pause()
        await self._pause()
        self._jobs.put(None)
        await self._loop.run_in_executor(None, self._writer.join)
        await self._readers.close()
        self._connection.close()
        self._reserve.close()
        self._unlock()

    async def _pause(self) -> None:
        """Wait until all that was put before is answered."""
        answered: asyncio.Future[object] = self._loop.create_future()
        self.put(Pause(), answered.set_result)
        await answered

    def put(self, act: Act[Any], tell: Tell) -> None:
        if not self._gathered:
            self._loop.call_soon(self._hand_over, self._loop.time(), 0)
        self._gathered.append((act, tell))

    def _hand_over(self, begun: float, turns: int) -> None:
        """Give the writer what was asked for, once a turn of the loop had little else in it."""
        # Those who are answered together ask again together, and one group costs less than two.
        now = self._loop.time()
        if now - begun > _BUSY_TURN_SECONDS and turns < _GATHERING_TURNS:
            self._loop.call_soon(self._hand_over, now, turns + 1)
            return
        jobs, self._gathered = self._gathered, []
        self._jobs.put(jobs)

    async def fetch(self, name: str, **parameters: object) -> Sequence[Row]:
        given = {key: json.dumps(value) if isinstance(value, list) else value for key, value in parameters.items()}
        return await self._read(self._sql[name], [given])

    async def fetch_each(self, name: str, keys: list[Row]) -> Sequence[Row]:
        return await self._read(self._sql[name], keys)

    def check_cursor(self, cursor: str) -> None:
        if not cursor.isdecimal() or not cursor.isascii() or len(cursor) > _CURSOR_DIGITS:
            raise BadCursor(cursor=cursor)

    def search_query(self, terms: Sequence[Term]) -> str:
        # Each term quoted, so that nothing a person types is an operator.
        return " AND ".join(f'"{" ".join(term.words)}"{" *" if term.prefix else ""}' for term in terms)

    async def measure(self) -> None:
        """Every group looks at its disk itself."""

    async def adopt_log(self) -> None:
        """A file counts its log itself, wherever it is brought."""

    # The file

    def _open(self) -> None:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._claim = Claim(self.path)
        except OSError as error:
            self._unlock()
            raise DiskFull if error.errno == errno.ENOSPC else ReadOnly(why=f"{self.path}: {error.strerror}") from None
        try:
            upgrade_sqlite(self.path)
            self._connection = connect(self.path, self.clock)
            self._connection.execute(f"PRAGMA synchronous = {self._synchronous}")
            self._reserve.keep()
            self._count_deliveries()
            check_program(self._connection.execute(self._sql["oldest_program"]).fetchone()[0])
        except BaseException as error:
            self._unlock()
            if isinstance(error, sqlite3.Error):
                raise translate(error, committing=False) from None
            raise

    def _unlock(self) -> None:
        if self._claim is not None:
            self._claim.close()
            self._claim = None

    # Reading

    async def _read(self, statement: str, keys: Sequence[Any]) -> list[Row]:
        if self.closing:
            raise Closed
        return await self._readers.read(statement, keys)

    # Writing

    def _write_groups(self) -> None:
        """The writer thread: what came while the last group was committed is the next group."""
        more = self._jobs.get()
        while more is not None:
            jobs = more
            while len(jobs) < _GROUP_ACTS:
                try:
                    more = self._jobs.get_nowait()
                except queue.Empty:
                    break
                if more is None:
                    break
                jobs = jobs + more
            begun = time.perf_counter()
            outcomes, hints = self._commit([act for act, _ in jobs])
            self.commits.add(time.perf_counter() - begun)
            self._tell(jobs, outcomes, hints)
            if more is not None:
                more = self._jobs.get()

    def _tell(self, jobs: list[_Job], outcomes: list[Any], hints: frozenset[str]) -> None:
        def tell() -> None:
            for (_, answer), outcome in zip(jobs, outcomes, strict=True):
                answer(outcome)
            if hints:
                self._committed(hints)

        with suppress(RuntimeError):  # the loop is gone, and with it everyone who asked
            self._loop.call_soon_threadsafe(tell)

    def _commit(self, acts: list[Act[Any]], tries: int = _COMMIT_TRIES) -> tuple[list[Any], frozenset[str]]:
        """Do the acts as one transaction; where that fails as a whole, one by one, so that none harms another."""
        try:
            return self._transact(acts)
        except OutcomeUnknown as error:
            # Doing it again might do it twice: those who asked decide, with their ids.
            return [error] * len(acts), frozenset()
        except Exception as error:  # noqa: BLE001 - whatever it is, it goes to the asker and not to the thread
            if isinstance(error.__cause__, sqlite3.IntegrityError) and len(acts) == 1 and tries > 1:
                return self._commit(acts, tries - 1)  # what was made up at random was taken
            if len(acts) > 1:
                alone = [self._commit([act]) for act in acts]
                return [outcome for outcomes, _ in alone for outcome in outcomes], frozenset().union(*(hints for _, hints in alone))
            # What grows is refused; for what does not, the reserve is there.
            if isinstance(error, DiskFull) and not self._grown and self._reserve.release():
                return self._commit(acts)
            return [error], frozenset()

    def _transact(self, acts: Sequence[Act[Any]]) -> tuple[list[Any], frozenset[str]]:
        committing = False
        connection = self._connection
        try:
            self._grown = False
            room = self._space.room(connection, len(acts))
            connection.execute("BEGIN IMMEDIATE")
            self._notice_others()
            desk = self._drawer.desk(self.clock, self.limits, self._delivery_ids.__next__, room, self.seal)
            desk.now = self.clock.now()  # which is what SQL would be told, too
            self._drive(open_desk(desk, self._drawer, acts))
            outcomes = run_acts(desk, acts)
            self._grown = room.taken
            for write in close_desk(desk):
                connection.executemany(self._sql[write.name], write.rows)
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

    def _notice_others(self) -> None:
        """Somebody else may have put a backup in the file's place: then nothing at hand is true any more."""
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
