"""The engine for many machines: acts grouped into few statements, any number of equal processes on one PostgreSQL."""

import asyncio
import re
from collections import deque
from collections.abc import Sequence
from typing import Any, TypeVar

import asyncpg

from postoffice.core.clock import Clock
from postoffice.core.errors import BadCursor, Closed, DatabaseLost, MailError, OutcomeUnknown, SchemaMissing, Unavailable
from postoffice.core.event import Event
from postoffice.core.limits import Limits
from postoffice.store import sql
from postoffice.store.acts.act import Act
from postoffice.store.desk import Desk
from postoffice.store.group import close_desk, open_desk
from postoffice.store.grouped import GroupedStore
from postoffice.store.migrations.upgrade import HEAD, check_program
from postoffice.store.protocol import Committed
from postoffice.store.steps import Row, Steps, Write

R = TypeVar("R")
_Job = tuple[Act[Any], "asyncio.Future[Any]"]
_GROUP = 256
_COMMITTERS = 2
_SMALL = 4
_READERS = 8
_TRIES = 5
_TIMEOUT = 30.0
_WORD = re.compile(r"\w+")
_CURSOR = re.compile(r"[0-9]{1,19}\.[0-9]{1,18}", re.ASCII)
_LOST = (
    OSError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.TooManyConnectionsError,
    TimeoutError,
)
_CLASH = (asyncpg.IntegrityConstraintViolationError, asyncpg.DeadlockDetectedError, asyncpg.SerializationError)
# A plan is kept for as long as its connection and would still scan a table that was empty when it was made.
_PLANS = {
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "jit": "off",
    "plan_cache_mode": "force_generic_plan",
}


class PostgresStore(GroupedStore):
    """Mail in PostgreSQL, shared by every process that opens it."""

    def __init__(
        self,
        url: str,
        clock: Clock | None = None,
        limits: Limits | None = None,
        *,
        schema: str = "postoffice",
        statement_cache: int = 256,
    ) -> None:
        super().__init__(clock or Clock(), limits or Limits())
        self.url = normal_url(url)
        self.schema = schema
        # Behind a transaction pooler nothing stays with a connection: neither prepared statements nor settings.
        self.pooled = statement_cache == 0
        self._statement_cache = statement_cache
        self._sql = sql.load("postgresql", {"false": "false", "id": "uuid"})
        self._reads = {name: sql.numbered(text) for name, text in self._sql.items()}
        self._merged: dict[tuple[str, ...], str] = {}
        self._path = f'SET LOCAL search_path TO "{schema}"'
        self._jobs: deque[_Job] = deque()
        self._arrived = asyncio.Event()
        self._committers: list[asyncio.Task[None]] = []
        self._idle = _COMMITTERS

    async def open(self, committed: Committed) -> None:
        self._committed = committed
        try:
            self._pool = await asyncpg.create_pool(self.url, min_size=1, max_size=_READERS, **self._options({}))
        except _LOST as error:
            raise DatabaseLost(why=_why(error)) from None
        except asyncpg.PostgresError as error:
            raise Unavailable(why=_why(error)) from None
        self._closing = False
        try:
            await self._check_schema()
        except MailError:
            await self.close()
            raise
        self._committers = [asyncio.create_task(self._commit_groups()) for _ in range(_COMMITTERS)]

    async def close(self) -> None:
        if self._closing:
            return
        self._closing = True
        self._arrived.set()
        await asyncio.gather(*self._committers)
        await self._pool.close()

    async def ping(self) -> None:
        await self.fetch("oldest_program")

    async def _check_schema(self) -> None:
        rows: Sequence[Any] = ()
        try:
            rows = await self._pool.fetch(f'SELECT version_num FROM "{self.schema}".alembic_version')
        except (asyncpg.UndefinedTableError, asyncpg.InvalidSchemaNameError):
            pass
        found = str(rows[0][0]) if rows else "none"
        if found < HEAD or not rows:
            raise SchemaMissing(found=found, needed=HEAD)
        check_program((await self.fetch("oldest_program"))[0][0])

    def put(self, act: Act[R]) -> "asyncio.Future[R]":
        future: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._jobs.append((act, future))
        self._arrived.set()
        return future

    async def fetch(self, name: str, **parameters: object) -> Sequence[Row]:
        statement, names = self._reads[name]
        return await self._read(statement, [parameters[key] for key in names])

    async def fetch_each(self, name: str, keys: list[Row]) -> Sequence[Row]:
        return await self._read(self._sql[name], _columns(keys))

    def search_query(self, query: str) -> str | None:
        return " & ".join(_WORD.findall(query)) or None

    async def all_events(self, after: str, limit: int) -> list[Event]:
        cursor = "0.0" if after == "0" else after
        if not _CURSOR.fullmatch(cursor):
            raise BadCursor(cursor=after)
        return await super().all_events(cursor, limit)

    # Connections

    def _options(self, settings: dict[str, str]) -> dict[str, Any]:
        kept = {} if self.pooled else {"search_path": f'"{self.schema}"', "application_name": "postoffice", **settings}
        return {
            "statement_cache_size": self._statement_cache,
            "max_cached_statement_lifetime": 0,
            "server_settings": kept,
            "command_timeout": _TIMEOUT,
            "timeout": 10,
        }

    async def _read(self, statement: str, arguments: Sequence[object]) -> Sequence[Row]:
        if self._closing:
            raise Closed
        for attempt in (1, 2):
            try:
                async with self._pool.acquire() as connection:
                    if not self.pooled:
                        return await connection.fetch(statement, *arguments)  # type: ignore[no-any-return]
                    async with connection.transaction():
                        await connection.execute(self._path)
                        return await connection.fetch(statement, *arguments)  # type: ignore[no-any-return]
            except _LOST as error:
                # A pool hands out connections that died while nobody looked; a read may simply be asked again.
                if attempt == 2:  # noqa: PLR2004
                    raise DatabaseLost(why=_why(error)) from None
            except asyncpg.PostgresError as error:
                raise Unavailable(why=_why(error)) from error
        raise AssertionError

    # Committing

    async def _commit_groups(self) -> None:
        """What came while the last group was committed is the next group."""
        connection: Any = None
        try:
            while True:
                while not self._jobs:
                    if self._closing:
                        return
                    self._arrived.clear()
                    await self._arrived.wait()
                # Shared with whoever is free: while one group waits for the disk, the other is being decided.
                share = max(-(-len(self._jobs) // self._idle), _SMALL)
                jobs = [self._jobs.popleft() for _ in range(min(len(self._jobs), share, _GROUP))]
                self._idle -= 1
                outcomes, hints, connection = await self._commit([act for act, _ in jobs], connection)
                self._idle += 1
                for (act, future), outcome in zip(jobs, outcomes, strict=True):
                    self.answer(act, future, outcome)
                if hints:
                    self._committed(frozenset(hints))
        finally:
            if connection is not None:
                connection.terminate()

    async def _commit(self, acts: list[Act[Any]], connection: Any) -> tuple[list[Any], set[str], Any]:
        """Do the acts as one transaction; where that fails as a whole, one by one, so that none harms another."""
        for attempt in range(_TRIES):
            fate = _Fate()
            try:
                if connection is None or connection.is_closed():
                    connection = await asyncpg.connect(self.url, **self._options(_PLANS))
                    await connection.execute(self._sql["durable_session"])
                outcomes, hints = await self._transact(acts, connection, fate)
            except _CLASH as error:
                # Another process took the same name, code or subject first: what it committed is seen on the next try.
                if len(acts) > 1:
                    break
                if attempt == _TRIES - 1:
                    return [Unavailable(why=_why(error))], set(), connection
            except _LOST as error:
                if connection is not None:
                    connection.terminate()
                    connection = None
                if fate.committing:
                    return [OutcomeUnknown(why=_why(error)) for _ in acts], set(), None
                if attempt > 0:
                    return [DatabaseLost(why=_why(error)) for _ in acts], set(), None
            except Exception as error:  # noqa: BLE001 - whatever it is, it goes to the asker and not to this loop
                if len(acts) > 1:
                    break
                return [Unavailable(why=_why(error)) if isinstance(error, asyncpg.PostgresError) else error], set(), connection
            else:
                return outcomes, hints, connection
        everyone: list[Any] = []
        told: set[str] = set()
        for act in acts:
            outcomes, hints, connection = await self._commit([act], connection)
            everyone += outcomes
            told |= hints
        return everyone, told, connection

    async def _transact(self, acts: Sequence[Act[Any]], connection: Any, fate: "_Fate") -> tuple[list[Any], set[str]]:
        desk = Desk(self.clock, self.limits)
        outcomes: list[Any] = []
        begin = "BEGIN"
        if self.pooled:
            plans = (f"SET LOCAL {name} TO {value}" for name, value in _PLANS.items())
            begin = ";".join((begin, self._path, self._sql["durable_transaction"], *plans))
        await connection.execute(begin)
        try:
            await self._drive(open_desk(desk, acts), connection)
            for act in acts:
                try:
                    outcomes.append(act.run(desk))
                except MailError as refusal:
                    outcomes.append(refusal)
            await self._write(list(close_desk(desk)), connection)
            fate.committing = True
            await connection.execute("COMMIT")
        except BaseException:
            if not connection.is_closed() and not fate.committing:
                await connection.execute("ROLLBACK")
            raise
        return outcomes, desk.hints

    async def _drive(self, steps: Steps, connection: Any) -> None:
        try:
            step = next(steps)
            while True:
                step = steps.send(await connection.fetch(self._sql[step.name], *_columns(step.keys)))
        except StopIteration:
            return

    async def _write(self, writes: list[Write], connection: Any) -> None:
        """All writes of a group as one statement: it is the trips to the server that cost, not the rows."""
        if not writes:
            return
        names = tuple(write.name for write in writes)
        arguments: list[Any] = []
        for write in writes:
            arguments += _columns(write.rows)
            if write.name == "add_delivery":
                arguments.append([self.clock.new_id() for _ in write.rows])
        if names not in self._merged:
            self._merged[names] = sql.merged([self._sql[name] for name in names])
        await connection.execute(self._merged[names], *arguments)


class _Fate:
    """Whether COMMIT had been sent when the connection was lost: from there on, nobody knows."""

    committing = False


def normal_url(url: str) -> str:
    """The address as asyncpg takes it, from the forms that other tools write."""
    return re.sub(r"^postgres(ql)?(\+\w+)?://", "postgresql://", url)


def _columns(rows: Sequence[Row]) -> list[Any]:
    return [list(column) for column in zip(*rows, strict=True)]


def _why(error: BaseException) -> str:
    """The first line of what was said; a driver adds details and hints below it."""
    return str(error).partition("\n")[0] or type(error).__name__
