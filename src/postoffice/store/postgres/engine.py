"""The engine for many machines: acts grouped into few statements, any number of equal processes on one PostgreSQL."""

import asyncio
import re
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import asyncpg

from postoffice.acts.act import Act
from postoffice.acts.room import Room
from postoffice.acts.rows import Row
from postoffice.core.clock import Clock
from postoffice.core.errors import (
    BadCursor,
    BadSetting,
    Closed,
    DatabaseLost,
    MailError,
    OutcomeUnknown,
    SchemaMissing,
    StoreFull,
    Unavailable,
    why,
)
from postoffice.core.limits import Limits
from postoffice.core.query import Term
from postoffice.core.seal import Seal
from postoffice.core.tally import Tally
from postoffice.store import sql
from postoffice.store.engine import Committed, Tell
from postoffice.store.migrations.upgrade import HEAD, check_program
from postoffice.store.postgres.committer import SESSION, Committer, columns
from postoffice.store.postgres.failures import LOST

_Job = tuple[Act[Any], Tell]
_GROUP_ACTS = 256
_GATHERING_TURNS = 3
_IDLE_SECONDS = 0.01  # seconds in which more is expected to be asked for
_READERS = 8
_QUERY_SECONDS = 30.0
_TRANSACTION_MILLISECONDS = "30000"  # milliseconds that a transaction may last
_ADOPTION_SECONDS = 3600.0  # seconds, for a log of many millions
_CANCEL_SECONDS = 3.0  # seconds that a server gets to answer what nobody waits for any more
_CURSOR = re.compile(r"0|[0-9]{1,19}\.[0-9]{1,18}", re.ASCII)


class PostgreSQL:
    """Mail in PostgreSQL, shared by every process that opens it."""

    shared = True
    folder: Path | None = None

    def __init__(
        self,
        url: str,
        clock: Clock | None = None,
        limits: Limits | None = None,
        *,
        seal: Seal | None = None,
        schema: str = "postoffice",
        statement_cache: int = 256,
    ) -> None:
        self.clock = clock or Clock()
        self.limits = limits or Limits()
        self.seal = seal or Seal()
        self.commits = Tally()
        self.closing = True  # until it is open
        self.url = normal_url(url)
        self.schema = schema
        # Behind a transaction pooler nothing stays with a connection: neither prepared statements nor settings.
        self.pooled = statement_cache == 0
        self._statement_cache = statement_cache
        self._sql = sql.load("postgres", {"false": "false", "true": "true", "id": "uuid", "longest": _TRANSACTION_MILLISECONDS})
        self._reads = {name: sql.numbered(text) for name, text in self._sql.items()}
        settings = (f"SET LOCAL {name} TO {value}" for name, value in {"search_path": f'"{schema}"', **SESSION}.items())
        self._local = ";".join(settings)
        self._begin = ";".join(("BEGIN", self._local, self._sql["committing_transaction"])) if self.pooled else "BEGIN"
        self._jobs: deque[_Job] = deque()
        self._under_way: list[_Job] = []
        self._arrived = asyncio.Event()
        self._committing: asyncio.Task[None] | None = None
        self._room = Room()

    async def open(self, committed: Committed) -> None:
        self._committed = committed
        try:
            self._pool = await asyncpg.create_pool(self.url, min_size=1, max_size=_READERS, reset=_leave_as_it_is, **self._options(SESSION))
        except (ValueError, OverflowError) as error:  # of an address that no server can have, before any is asked
            raise BadSetting(name="database", why=why(error).rstrip(".")) from None
        except LOST as error:
            raise DatabaseLost(why=why(error)) from None
        except asyncpg.PostgresError as error:
            raise Unavailable(why=why(error)) from None
        self.closing = False
        try:
            await self._check_schema()
            await self.adopt_log()
            await self.measure()
        except MailError:
            await self.close()
            raise
        self._committing = asyncio.create_task(self._commit_groups())

    async def close(self) -> None:
        if self.closing:
            return
        self.closing = True
        self._arrived.set()
        if self._committing is not None:
            await self._finish(self._committing)
        for _, answer in (*self._under_way, *self._jobs):  # nobody is left waiting for a server that says nothing
            answer(OutcomeUnknown(why="the office closed before the database answered"))
        with suppress(TimeoutError):  # the pool has then hung up on everybody
            async with asyncio.timeout(_CANCEL_SECONDS):
                await self._pool.close()

    async def _finish(self, committing: "asyncio.Task[None]") -> None:
        """Finish what was asked for, as long as the server goes on answering."""
        answered = None
        while not committing.done() and answered != self.commits.sum:
            answered = self.commits.sum
            await asyncio.wait({committing}, timeout=_CANCEL_SECONDS)
        committing.cancel()
        await asyncio.gather(committing, return_exceptions=True)

    async def measure(self) -> None:
        if most := self.limits.total_bytes:
            ((kept,),) = await self.fetch("bytes_kept")
            self._room = Room(max(0, most - kept), StoreFull(size=kept, limit=most))

    async def adopt_log(self) -> None:
        await self._read(self._sql["adopt_log"], (), _ADOPTION_SECONDS)

    async def _check_schema(self) -> None:
        ((made,),) = await self.fetch("has_schema")
        version = (await self.fetch("schema_version"))[0][0] if made else ""
        if version < HEAD:
            raise SchemaMissing(found=version or "none", needed=HEAD)
        check_program((await self.fetch("oldest_program"))[0][0])

    def put(self, act: Act[Any], tell: Tell) -> None:
        self._jobs.append((act, tell))
        self._arrived.set()

    async def fetch(self, name: str, **parameters: object) -> Sequence[Row]:
        statement, names = self._reads[name]
        return await self._read(statement, [parameters[key] for key in names])

    async def fetch_each(self, name: str, keys: list[Row]) -> Sequence[Row]:
        return await self._read(self._sql[name], columns(keys))

    def search_query(self, terms: Sequence[Term]) -> str:
        # Each word quoted, so that nothing a person types is an operator.
        phrases = (" <-> ".join(f"'{word}'" for word in term.words) + (":*" if term.prefix else "") for term in terms)
        return " & ".join(f"({phrase})" for phrase in phrases)

    def check_cursor(self, cursor: str) -> None:
        if not _CURSOR.fullmatch(cursor):
            raise BadCursor(cursor=cursor)

    # Connections

    def _options(self, settings: dict[str, str]) -> dict[str, Any]:
        kept = {} if self.pooled else {"search_path": f'"{self.schema}"', "application_name": "postoffice", **settings}
        return {
            "statement_cache_size": self._statement_cache,
            "max_cached_statement_lifetime": 0,
            "server_settings": kept,
            "command_timeout": _QUERY_SECONDS,
            "timeout": 10,
        }

    async def _read(self, statement: str, arguments: Sequence[object], within: float | None = None) -> Sequence[Row]:
        if self.closing:
            raise Closed
        for attempt in (1, 2):
            try:
                return await self._ask(statement, arguments, within)
            except LOST as error:
                # A pool may hand out a connection that died unnoticed; a read may be repeated on a new one.
                if attempt == 2:  # noqa: PLR2004
                    raise DatabaseLost(why=why(error)) from None
                await self._pool.expire_connections()
            except asyncpg.PostgresError as error:
                raise Unavailable(why=why(error)) from error
        raise AssertionError

    async def _ask(self, statement: str, arguments: Sequence[object], within: float | None) -> Sequence[Row]:
        connection = await self._pool.acquire()
        try:
            if self.pooled:
                await connection.execute(f"BEGIN;{self._local}")
            rows: Sequence[Row] = await connection.fetch(statement, *arguments, timeout=within)
            if self.pooled:
                await connection.execute("COMMIT")
        except BaseException as error:
            # Give up at once, without telling the server: one that does not answer would not answer that either.
            if self.pooled or isinstance(error, asyncio.CancelledError):
                connection.terminate()
            raise
        finally:
            await self._pool.release(connection, timeout=_CANCEL_SECONDS)
        return rows

    # Committing

    async def _connect(self) -> Any:
        connection = await asyncpg.connect(self.url, **self._options(SESSION))
        try:
            if not self.pooled:  # behind a pooler a setting would reach whoever gets the connection next, so each transaction makes its own
                await connection.execute(self._sql["committing_session"])
        except BaseException:
            connection.terminate()  # nobody else knows of it
            raise
        return connection

    async def _commit_groups(self) -> None:
        """What came while the last group was committed is the next group. One at a time: larger groups cost less than more of them."""
        committer = Committer(
            self._connect,
            lambda drawer: drawer.desk(self.clock, self.limits, self.clock.new_id, self._room, self.seal),
            self._sql,
            self._begin,
        )
        alone = False
        try:
            while True:
                while not self._jobs:
                    if self.closing:
                        return
                    self._arrived.clear()
                    if not committer.begun:
                        await self._arrived.wait()
                        continue
                    try:
                        async with asyncio.timeout(_IDLE_SECONDS):
                            await self._arrived.wait()
                    except TimeoutError:
                        await committer.rest()
                # Those who were answered together ask again together: one larger group costs less than two. Who was alone need not wait for others.
                for _ in range(0 if alone and len(self._jobs) == 1 else _GATHERING_TURNS):
                    await asyncio.sleep(0)
                jobs = self._under_way = [self._jobs.popleft() for _ in range(min(len(self._jobs), _GROUP_ACTS))]
                alone = len(jobs) == 1
                begun = time.perf_counter()
                outcomes, hints = await committer.commit([act for act, _ in jobs])
                self.commits.add(time.perf_counter() - begun)
                self._under_way = []
                for (_, answer), outcome in zip(jobs, outcomes, strict=True):
                    answer(outcome)
                if hints:
                    self._committed(hints)
        finally:
            committer.close()


async def _leave_as_it_is(_connection: Any) -> None:
    """Reads leave nothing behind on a connection; resetting it after each would be one more trip to the server."""


def normal_url(url: str) -> str:
    """The address as asyncpg takes it, from the forms that other tools write."""
    return re.sub(r"^postgres(ql)?(\+\w+)?://", "postgresql://", url)
