"""The embedded engine: one writer thread that commits whatever is waiting as one group, readers beside it.

An act that comes alone, while the disk is quick and the writer has nothing to do, is committed on the loop's own thread.
"""

import asyncio
import errno
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
from postoffice.core.errors import BadCursor, Closed, DiskFull, ReadOnly
from postoffice.core.limits import Limits
from postoffice.core.query import Term
from postoffice.core.seal import Seal
from postoffice.core.tally import Tally
from postoffice.store import sql
from postoffice.store.engine import Committed, Tell
from postoffice.store.migrations.upgrade import check_program, upgrade_sqlite
from postoffice.store.sqlite.claim import Claim
from postoffice.store.sqlite.connection import connect, translate
from postoffice.store.sqlite.pace import Pace
from postoffice.store.sqlite.readers import Readers
from postoffice.store.sqlite.reserve import Reserve
from postoffice.store.sqlite.space import Space
from postoffice.store.sqlite.transactions import Transactions

_Job = tuple[Act[Any], Tell]
_GROUP_ACTS = 256
_BUSY_TURN_SECONDS = 0.0001
_GATHERING_TURNS = 8
_CURSOR_DIGITS = 18


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
        self.folder: Path | None = path.parent
        self._synchronous = synchronous
        self._sql = sql.load("sqlite", {"false": "0", "true": "1", "id": "text"})
        self._jobs: queue.SimpleQueue[list[_Job] | None] = queue.SimpleQueue()
        self._gathered: list[_Job] = []
        self._handed_over = 0  # groups that the writer has not answered yet
        self._pace = Pace()
        self._claim: Claim | None = None
        self._reserve = Reserve(path, self.limits.disk_reserve)

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
        # Twice: answering what was under way may give back mail whose taker is gone.
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
        """Hand the writer the gathered acts, once a turn of the loop brought few more."""
        # Those who are answered together ask again together, and one group costs less than two.
        now = self._loop.time()
        if now - begun > _BUSY_TURN_SECONDS and turns < _GATHERING_TURNS:
            self._loop.call_soon(self._hand_over, now, turns + 1)
            return
        jobs, self._gathered = self._gathered, []
        if self._may_stand_for(jobs):
            self._answer(jobs, *self._commit_group(jobs))
        else:
            self._handed_over += 1
            self._jobs.put(jobs)

    def _may_stand_for(self, jobs: list[_Job]) -> bool:
        """Whether the loop may do this group itself: the writer sleeps, and waking it would take longer than the acts."""
        if self._handed_over or len(jobs) > 1 or not jobs[0][0].brief or not self._pace.quick:
            return False
        return not self._transactions.housekeeping_due and self._transactions.begins_at_once()

    async def fetch(self, name: str, **parameters: object) -> Sequence[Row]:
        values = {key: json.dumps(value) if isinstance(value, list) else value for key, value in parameters.items()}
        return await self._read(name, [values])

    async def fetch_each(self, name: str, keys: list[Row]) -> Sequence[Row]:
        return await self._read(name, keys)

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
            space = Space(self.path, self._reserve, self.limits.total_bytes)
            self._transactions = Transactions(
                self._connection,
                self._sql,
                space,
                lambda drawer, new_id, room: drawer.desk(self.clock, self.limits, new_id, room, self.seal),
            )
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

    async def _read(self, name: str, keys: Sequence[Any]) -> list[Row]:
        if self.closing:
            raise Closed
        return await self._readers.read(name, self._sql[name], keys)

    # Writing

    def _write_groups(self) -> None:
        """The writer thread: what came while the last group was committed is the next group."""
        more = self._jobs.get()
        while more is not None:
            jobs, taken = more, 1
            while len(jobs) < _GROUP_ACTS:
                try:
                    more = self._jobs.get_nowait()
                except queue.Empty:
                    break
                if more is None:
                    break
                jobs, taken = jobs + more, taken + 1
            outcomes, hints = self._commit_group(jobs)
            self._transactions.copy_log()
            with suppress(RuntimeError):  # the loop is gone, and with it everyone who asked
                self._loop.call_soon_threadsafe(self._answer_handed_over, taken, jobs, outcomes, hints)
            if more is not None:
                more = self._jobs.get()

    def _commit_group(self, jobs: list[_Job]) -> tuple[list[Any], frozenset[str]]:
        begun = time.perf_counter()
        outcomes, hints = self._transactions.commit([act for act, _ in jobs])
        took = time.perf_counter() - begun
        self.commits.add(took)
        self._pace.note(took, len(jobs))
        return outcomes, hints

    def _answer_handed_over(self, groups: int, jobs: list[_Job], outcomes: list[Any], hints: frozenset[str]) -> None:
        self._handed_over -= groups
        self._answer(jobs, outcomes, hints)

    def _answer(self, jobs: list[_Job], outcomes: list[Any], hints: frozenset[str]) -> None:
        for (_, answer), outcome in zip(jobs, outcomes, strict=True):
            answer(outcome)
        if hints:
            self._committed(hints)
