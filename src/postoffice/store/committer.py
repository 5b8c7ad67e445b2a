"""One connection that commits groups of acts to PostgreSQL."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

import asyncpg

from postoffice.core.errors import DatabaseLost, OutcomeUnknown, Unavailable, why
from postoffice.store import sql
from postoffice.store.acts.act import Act
from postoffice.store.desk import Desk
from postoffice.store.group import LAST, close_desk, open_desk, run_acts
from postoffice.store.steps import Loads, Row, Steps, Write

LOST = (
    OSError,
    TimeoutError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # the next word on a connection that was just cut off
    asyncpg.PostgresConnectionError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.TransactionTimeoutError,
    asyncpg.TooManyConnectionsError,
)
"""How a driver says that the server is not there."""
_ENDED = (asyncpg.IdleInTransactionSessionTimeoutError, asyncpg.TransactionTimeoutError)
"""How a server says that it has ended a transaction of its own accord: a COMMIT that was on its way then did nothing."""
_UNSENT = "cannot switch to state"
"""What the driver says, in a way shared by other failures, where it had read that before it could send anything more."""
_CLASH = (asyncpg.IntegrityConstraintViolationError, asyncpg.DeadlockDetectedError, asyncpg.SerializationError)
_TRIES = 5
_LAST_WORDS = 3.0  # seconds that a server gets to hear that a transaction is over
SESSION = {
    # A process that stands still inside a transaction must not keep all others from the mail it has locked.
    "idle_in_transaction_session_timeout": "10000",
    # A plan is kept for as long as its connection and would still scan a table that was empty when it was made.
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "jit": "off",
    "plan_cache_mode": "force_generic_plan",
}


class Committer:
    """Does groups of acts, one after another, connecting again whenever it has to."""

    def __init__(self, connect: Callable[[], Awaitable[Any]], new_desk: Callable[[], Desk], statements: dict[str, str], begin: str) -> None:
        self._connect = connect
        self._new_desk = new_desk
        self._sql = statements
        self._begin = begin
        self._joined: dict[object, str] = {}
        self._connection: Any = None
        self._committing = False

    async def commit(self, acts: list[Act[Any]]) -> tuple[list[Any], frozenset[str]]:
        """Do the acts as one transaction; where that fails as a whole, one by one, so that none harms another."""
        for attempt in range(_TRIES):
            try:
                return await self._transact(acts)
            except _CLASH:
                # Another process took the same name, code or subject first: what it committed is seen on the next try.
                if len(acts) > 1:
                    break
            except Exception as error:  # noqa: BLE001 - whatever it is, it goes to the askers and not to the committer
                answer = self._judge(error, again=attempt == 0)
                if isinstance(answer, OutcomeUnknown | DatabaseLost) or (answer is not None and len(acts) == 1):
                    return [answer] * len(acts), frozenset()
                if answer is not None:
                    break
        if len(acts) == 1:
            return [Unavailable(why="others kept changing the same mail")], frozenset()
        alone = [await self.commit([act]) for act in acts]
        return [outcome for outcomes, _ in alone for outcome in outcomes], frozenset().union(*(hints for _, hints in alone))

    def _judge(self, error: Exception, *, again: bool) -> Exception | None:
        """What a failure is to those who asked; None if the connection had died while nobody looked, and another may do."""
        asked_wrongly = isinstance(error, asyncpg.InterfaceError) and self._connection is not None and not self._connection.is_closed()
        if not isinstance(error, LOST) or asked_wrongly:
            return Unavailable(why=why(error)) if isinstance(error, asyncpg.PostgresError) else error
        self.close()
        if self._committing and not _did_nothing(error):
            return OutcomeUnknown(why=why(error))
        return None if again else DatabaseLost(why=why(error))

    def close(self) -> None:
        """Let the connection go, whatever it was doing."""
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None

    async def _transact(self, acts: Sequence[Act[Any]]) -> tuple[list[Any], frozenset[str]]:
        self._committing = False
        if self._connection is None or self._connection.is_closed():
            self._connection = await self._connect()
        connection = self._connection
        desk = self._new_desk()
        await connection.execute(self._begin)
        try:
            await self._load(open_desk(desk, acts))
            outcomes = run_acts(desk, acts)
            await self._write(list(close_desk(desk)))
            # From here on a lost connection leaves the transaction's fate unknown.
            self._committing = not connection.is_closed()
            await connection.execute("COMMIT")
        except BaseException:
            if not connection.is_closed() and not self._committing:
                try:
                    await connection.execute("ROLLBACK", timeout=_LAST_WORDS)
                except Exception:  # noqa: BLE001 - what went wrong first is what counts
                    self.close()
            raise
        return outcomes, frozenset(desk.hints)

    async def _load(self, steps: Steps) -> None:
        try:
            loads = next(steps)
            while True:
                loads = steps.send(await self._fetch(loads))
        except StopIteration:
            return

    async def _fetch(self, loads: Loads) -> dict[str, list[Row]]:
        if len(loads) == 1:
            ((name, keys),) = loads.items()
            return {name: await self._connection.fetch(self._sql[name], *columns(keys))}
        found: dict[str, list[Row]] = {name: [] for name in loads}
        names = tuple(loads)
        for number, row in await self._together(sql.united, names, loads.values()):
            found[names[number]].append(row)
        return found

    async def _write(self, writes: list[Write]) -> None:
        # Of two writes to one row in one statement PostgreSQL does either: what has the last word comes after the others.
        for some in ([w for w in writes if w.name not in LAST], [w for w in writes if w.name in LAST]):
            if some:
                await self._together(sql.merged, tuple(write.name for write in some), (write.rows for write in some))

    async def _together(self, join: Callable[[list[str]], str], names: tuple[str, ...], rows: Iterable[Sequence[Row]]) -> list[Row]:
        """Several statements as one: it is the trips to the server that cost, not the rows."""
        if (join, names) not in self._joined:
            self._joined[join, names] = join([self._sql[name] for name in names])
        arguments = [column for some in rows for column in columns(some)]
        return await self._connection.fetch(self._joined[join, names], *arguments)  # type: ignore[no-any-return]


def _did_nothing(error: Exception) -> bool:
    """Whether that is known of a COMMIT that failed so. Of a connection that has ended, the server's last words are the cause."""
    unsent = isinstance(error, asyncpg.InternalClientError) and str(error).startswith(_UNSENT)
    return unsent or any(isinstance(said, _ENDED) for said in (error, error.__cause__))


def columns(rows: Sequence[Row]) -> list[Any]:
    """Rows as the arrays that a statement unnests."""
    return [list(column) for column in zip(*rows, strict=True)]
