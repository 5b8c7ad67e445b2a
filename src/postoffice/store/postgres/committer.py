"""One connection that commits groups of acts to PostgreSQL."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

import asyncpg

from postoffice.acts.act import Act
from postoffice.acts.desk import Desk
from postoffice.acts.rows import Row
from postoffice.core.clock import steady
from postoffice.core.errors import DatabaseLost, DiskFull, OutcomeUnknown, Unavailable, why
from postoffice.store import sql
from postoffice.store.drawer import Drawer, SharedDrawer
from postoffice.store.engine import Loads, Steps, Write
from postoffice.store.group import LAST, close_desk, run_acts
from postoffice.store.loading import asked, load_locked, load_rest, open_desk

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
"""How a server says that it ended a transaction by itself: a COMMIT that was on its way then did nothing."""
_UNSENT = "cannot switch to state"
"""What the driver says, as for some other failures, if it read that before it could send anything more."""
_CLASH = (asyncpg.IntegrityConstraintViolationError, asyncpg.DeadlockDetectedError, asyncpg.SerializationError)
_COMMIT_TRIES = 5
_JOINED_STATEMENTS_KEPT = 500  # statements made of others that are remembered, far more than are usual
_CANCEL_SECONDS = 3.0  # seconds that a server gets to hear that a transaction is over
_DOUBT_NANOSECONDS = 1_000_000_000  # nanoseconds without memory, once others were seen at the same mail
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

    def __init__(
        self, connect: Callable[[], Awaitable[Any]], new_desk: Callable[[Drawer], Desk], statements: dict[str, str], begin: str
    ) -> None:
        self._connect = connect
        self._new_desk = new_desk
        self._sql = statements
        self._begin = begin
        self._places = {name: place for place, name in enumerate(statements)}
        self._joined: dict[object, str] = {}
        self._connection: Any = None
        self._committing = False
        self._chained = begin == "BEGIN"  # behind a pooler a transaction's settings do not reach the next one
        self.begun = False
        """Whether a transaction has been begun ahead of the acts that will use it."""
        self._drawer = SharedDrawer()
        self._doubted_until = 0  # while others change the same mail, remembering rows is not worth the while

    async def commit(self, acts: list[Act[Any]]) -> tuple[list[Any], frozenset[str]]:
        """Do the acts as one transaction. If it fails as a whole, do them one by one, so that none harms another."""
        for attempt in range(_COMMIT_TRIES):
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
        """What a failure means to the callers; None if the connection had died unnoticed, so that a new one may succeed."""
        asked_wrongly = isinstance(error, asyncpg.InterfaceError) and self._connection is not None and not self._connection.is_closed()
        if not isinstance(error, LOST) or asked_wrongly:
            if isinstance(error, asyncpg.DiskFullError):
                return DiskFull()
            return Unavailable(why=why(error)) if isinstance(error, asyncpg.PostgresError) else error
        self.close()
        if self._committing and not _did_nothing(error):
            return OutcomeUnknown(why=why(error))
        return None if again else DatabaseLost(why=why(error))

    async def rest(self) -> None:
        """Roll back the transaction that was begun ahead: nobody asks for anything."""
        self.begun = False
        try:
            await self._connection.execute("ROLLBACK", timeout=_CANCEL_SECONDS)
        except Exception:  # noqa: BLE001 - nothing was done in it
            self.close()

    def close(self) -> None:
        """Let the connection go, whatever it was doing."""
        self.begun = False
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None

    async def _transact(self, acts: Sequence[Act[Any]]) -> tuple[list[Any], frozenset[str]]:
        self._committing = False
        if self._connection is None or self._connection.is_closed():
            self.begun = False
            self._connection = await self._connect()
            # Another server may have taken over, and count its transactions from before the last of this one's.
            self._drawer = SharedDrawer()
        connection = self._connection
        if not self.begun:
            await connection.execute(self._begin)
        self.begun = False
        try:
            desk = await self._at_hand(acts) or await self._loaded(acts)
            outcomes = run_acts(desk, acts)
            version = await self._write(list(close_desk(desk)))
            # If the connection is lost from here on, nobody knows whether the transaction was committed.
            self._committing = not connection.is_closed()
            # The next transaction begins with the same trip.
            await connection.execute("COMMIT AND CHAIN" if self._chained else "COMMIT")
            self.begun = self._chained
        except BaseException:
            self._drawer = SharedDrawer()
            if not connection.is_closed() and not self._committing:
                try:
                    await connection.execute("ROLLBACK", timeout=_CANCEL_SECONDS)
                except Exception:  # noqa: BLE001 - what went wrong first is what counts
                    self.close()
            raise
        self._remember(desk, version)
        return outcomes, frozenset(desk.hints)

    async def _at_hand(self, acts: Sequence[Act[Any]]) -> Desk | None:
        """A desk with what is remembered of mail and mailboxes, locked, if that is all the acts need and nobody else has changed it."""
        if steady() < self._doubted_until:
            return None
        desk, needs = self._new_desk(self._drawer), asked(acts)
        desk.now = 1  # until the server tells it
        if needs.agents or next(load_locked(desk, self._drawer, needs), None) is not None:
            return None
        if not needs.threads <= desk.threads.keys():  # whose it is, and what would have to be locked for it, is not known
            return None
        ids, names = [row.id for row in desk.mail.values()], sorted(needs.boxes)
        (_, locked, desk.now), *boxes = await self._connection.fetch(self._sql["still_at_hand"], ids, names)
        versions = {agent: (mailbox_version, agent_version) for agent, mailbox_version, agent_version in boxes}
        if locked != len(ids) or len(versions) != len(names) or self._drawer.differs(versions):
            self._doubt()
            # What is locked now is not what would be locked first.
            await self._connection.execute("ROLLBACK")
            await self._connection.execute(self._begin)
            return None
        await self._load(load_rest(desk, needs, acts))
        return desk

    async def _loaded(self, acts: Sequence[Act[Any]]) -> Desk:
        drawer = Drawer()
        desk = self._new_desk(drawer)
        await self._load(open_desk(desk, drawer, acts))
        return desk

    def _doubt(self) -> None:
        self._drawer = SharedDrawer()
        self._doubted_until = steady() + _DOUBT_NANOSECONDS

    def _remember(self, desk: Desk, version: int) -> None:
        """Remember the rows the group leaves behind, while nobody else changes the same mail."""
        if self._drawer.differs(desk.versions):
            self._doubt()
        if desk.boxes is not self._drawer.boxes:
            self._drawer.take_in(desk.boxes, desk.threads.values(), desk.versions)
        new = {box.agent for box in desk.new_agents}
        self._drawer.note_written({*new, *desk.changed_boxes}, {*new, *desk.changed_agents}, version)
        self._drawer.put_away(desk.posted, desk.changed_mail)
        if self._drawer.full:
            self._drawer = SharedDrawer()

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
        rows_by_name: dict[str, list[Row]] = {name: [] for name in loads}
        names = self._in_order(loads)
        for number, row in await self._together(sql.united, names, (loads[name] for name in names)):
            rows_by_name[names[number]].append(row)
        return rows_by_name

    async def _write(self, writes: list[Write]) -> int:
        """Write all of it; the transaction's number, which is the version of what was written."""
        version = 0
        # If one statement writes a row twice, PostgreSQL does only one of them: writes with the last word come after the others.
        for some in ([w for w in writes if w.name not in LAST], [w for w in writes if w.name in LAST]):
            if some:
                rows = {write.name: write.rows for write in some}
                names = self._in_order(rows)
                ((version,),) = await self._together(sql.merged, names, (rows[name] for name in names))
        return version

    def _in_order(self, names: Iterable[str]) -> tuple[str, ...]:
        """In the order of their files, whatever order acts asked in: the same queries always make the same statement, and lock alike."""
        return tuple(sorted(names, key=self._places.__getitem__))

    async def _together(self, join: Callable[[list[str]], str], names: tuple[str, ...], rows: Iterable[Sequence[Row]]) -> list[Row]:
        """Several statements as one: trips to the server cost more than rows."""
        if (join, names) not in self._joined:
            if len(self._joined) >= _JOINED_STATEMENTS_KEPT:
                self._joined.clear()
            self._joined[join, names] = join([self._sql[name] for name in names])
        arguments = [column for some in rows for column in columns(some)]
        return await self._connection.fetch(self._joined[join, names], *arguments)  # type: ignore[no-any-return]


def _did_nothing(error: Exception) -> bool:
    """Whether it is certain that a COMMIT that failed so did nothing. If the connection ended, the server's last words are the cause."""
    unsent = isinstance(error, asyncpg.InternalClientError) and str(error).startswith(_UNSENT)
    return unsent or any(isinstance(said, _ENDED) for said in (error, error.__cause__))


def columns(rows: Sequence[Row]) -> list[Any]:
    """Rows as the arrays that a statement unnests."""
    return [list(column) for column in zip(*rows, strict=True)]
