"""One connection that commits groups of acts to PostgreSQL."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from itertools import chain
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
from postoffice.store.loading import load_rest, open_desk
from postoffice.store.postgres.failures import CLASH, LOST, did_nothing
from postoffice.store.postgres.questions import questions
from postoffice.store.remembered import Remembered

_COMMIT_TRIES = 5
_JOINED_STATEMENTS_KEPT = 500  # statements made of others that are remembered, far more than are usual
_FEW_ROWS = 2  # for a statement: what one act writes
_CANCEL_SECONDS = 3.0  # seconds that a server gets to hear that a transaction is over
_DOUBT_NANOSECONDS = 1_000_000_000  # nanoseconds without memory, once others were seen at the same mail
_FRESH_NANOSECONDS = 1_000_000_000  # nanoseconds for which a server that has answered is taken to be there still
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
        self._gated = {name for name, text in statements.items() if name not in LAST and sql.gates(text)}
        self._joined: dict[object, str] = {}
        self._connection: Any = None
        self._committing = False
        self._alone = False  # whether what is under way is no COMMIT, but a statement that is a transaction by itself
        self._chained = begin == "BEGIN"  # behind a pooler a transaction's settings do not reach the next one
        self.begun = False
        """Whether a transaction has been begun ahead of the acts that will use it."""
        self._drawer = SharedDrawer()
        self._doubted_until = 0  # while others change the same mail, remembering rows is not worth the while
        self._told = (0, 0)  # the server's time, and when it was told

    async def commit(self, acts: list[Act[Any]]) -> tuple[list[Any], frozenset[str]]:
        """Do the acts as one transaction. If it fails as a whole, do them one by one, so that none harms another."""
        for attempt in range(_COMMIT_TRIES):
            try:
                return await self._transact(acts)
            except CLASH:
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
        if self._committing and not did_nothing(error, alone=self._alone):
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
        self._committing = self._alone = False
        if self._connection is None or self._connection.is_closed():
            self.begun = False
            self._connection = await self._connect()
            self._told = (0, 0)
            # Another server may have taken over, and count its transactions from before the last of this one's.
            self._drawer = SharedDrawer()
        connection = self._connection
        try:
            remembered = self._remembered(acts)
            # A server that was silent for long is asked first whether it is there: what is lost on the way to it is then known not to be done.
            if remembered is not None and steady() - self._told[1] < _FRESH_NANOSECONDS and remembered.suffices(acts):
                if (done := await self._at_once(remembered, acts)) is not None:
                    return done
                remembered = None  # the acts have changed it
            if not self.begun:
                await connection.execute(self._begin)
            self.begun = False
            desk = (remembered and await self._at_hand(remembered, acts)) or await self._loaded(acts)
            outcomes = run_acts(desk, acts)
            version = await self._write(list(close_desk(desk)))
            # The next transaction begins with the same trip.
            await self._end_transaction("COMMIT AND CHAIN" if self._chained else "COMMIT")
            self.begun = self._chained
        except BaseException:
            self.begun = False
            self._drawer = SharedDrawer()
            if not connection.is_closed() and connection.is_in_transaction() and not self._committing:
                try:
                    await connection.execute("ROLLBACK", timeout=_CANCEL_SECONDS)
                except Exception:  # noqa: BLE001 - what went wrong first is what counts
                    self.close()
            raise
        self._remember(desk, version)
        return outcomes, frozenset(desk.hints)

    async def _end_transaction(self, statement: str) -> None:
        # If the connection is lost from here on, nobody knows whether the transaction was committed.
        self._committing = not self._connection.is_closed()
        await self._connection.execute(statement)

    def _remembered(self, acts: Sequence[Act[Any]]) -> Remembered | None:
        if steady() < self._doubted_until:
            return None
        desk = self._new_desk(self._drawer)
        told, at = self._told
        desk.now = told + (steady() - at) // 1000
        return Remembered.of(desk, self._drawer, acts)

    async def _at_once(self, remembered: Remembered, acts: Sequence[Act[Any]]) -> tuple[list[Any], frozenset[str]] | None:
        """Do the acts on what is remembered. One statement locks and compares it, and writes what the acts changed if it is true.

        Outside a transaction that statement is a transaction by itself, and the group takes one trip.
        """
        desk = remembered.desk
        outcomes = run_acts(desk, acts)
        writes = list(close_desk(desk))
        alone = self._alone = self._chained and not self.begun and all(write.name in self._gated for write in writes)
        if not alone and not self.begun:
            await self._connection.execute(self._begin)
        self.begun = False
        # Whoever commits by the same word does not know either, from here on, whether it was heard.
        self._committing = alone and not self._connection.is_closed()
        doubt, _, version = await self._compare(remembered, writes if alone else [], desk.now)
        self._committing = self._alone = False
        if doubt is not None:
            self._drawer = SharedDrawer()  # whose rows the acts have changed
            await self._set_aside(doubt)
            return None
        if not alone:
            version = await self._write(writes)
            await self._end_transaction("COMMIT")
        self._remember(desk, version)
        return outcomes, frozenset(desk.hints)

    async def _at_hand(self, remembered: Remembered, acts: Sequence[Act[Any]]) -> Desk | None:
        """A desk with what is remembered, locked, if it is true, and with the rest that the acts need."""
        desk = remembered.desk
        doubt, desk.now, _ = await self._compare(remembered, [], None)
        if doubt is not None:
            # What is locked now is not what would be locked first.
            await self._set_aside(doubt)
            await self._connection.execute(self._begin)
            return None
        await self._load(load_rest(desk, remembered.needs, acts))
        return desk

    async def _compare(self, remembered: Remembered, writes: list[Write], now: int | None) -> tuple[str | None, int, int]:
        """Lock what is remembered and, if it is true, write this: what was not true, the server's time, and the version of what was written."""
        rows = {write.name: write.rows for write in writes}
        names = self._in_order(rows)
        asked = questions(remembered, self._drawer.versions, now)
        sizes = tuple(len(rows[name]) for name in names)
        few = sizes if all(size <= _FEW_ROWS for size in sizes) else None
        key = (few, *asked, *names)
        if key not in self._joined:
            self._keep_joined(key, sql.gated([self._sql[name] for name in asked], [self._sql[name] for name in names], few))
        given = [column for some in asked.values() for column in some]
        for name in names:
            given += chain(*rows[name]) if few else columns(rows[name])
        ((doubt, told, version),) = await self._connection.fetch(self._joined[key], *given)
        self._told = (told, steady())
        return doubt, told, version

    async def _set_aside(self, doubt: str) -> None:
        if doubt == "changed":
            self._doubt()
        if self._connection.is_in_transaction():
            await self._connection.execute("ROLLBACK")

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
                ((version, now),) = await self._together(sql.merged, names, (rows[name] for name in names))
                self._told = (now, steady())
        return version

    def _in_order(self, names: Iterable[str]) -> tuple[str, ...]:
        """In the order of their files, whatever order acts asked in: the same queries always make the same statement, and lock alike."""
        return tuple(sorted(names, key=self._places.__getitem__))

    async def _together(self, join: Callable[[list[str]], str], names: tuple[str, ...], rows: Iterable[Sequence[Row]]) -> list[Row]:
        """Several statements as one: trips to the server cost more than rows."""
        if (join, names) not in self._joined:
            self._keep_joined((join, names), join([self._sql[name] for name in names]))
        arguments = [column for some in rows for column in columns(some)]
        return await self._connection.fetch(self._joined[join, names], *arguments)  # type: ignore[no-any-return]

    def _keep_joined(self, key: object, statement: str) -> None:
        if len(self._joined) >= _JOINED_STATEMENTS_KEPT:
            self._joined.clear()
        self._joined[key] = statement


def columns(rows: Sequence[Row]) -> list[Any]:
    """Rows as the arrays that a statement unnests."""
    return [list(column) for column in zip(*rows, strict=True)]
