"""Decision 1: accepted means durable."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from postoffice.acts.mail.send import Send
from postoffice.acts.people.agents import Appear
from postoffice.core.draft import Draft
from postoffice.core.errors import Closed, OutcomeUnknown
from postoffice.store.postgres.engine import PostgreSQL
from postoffice.store.sqlite.engine import SQLite
from postoffice.store.store import Store
from tests.engines import Engine, PostgresServer, postgres_of, sqlite_of


async def send(store: Store, content: str, client_id: str | None = None) -> str:
    draft = Draft(to="bob", content=content, priority=3, client_id=client_id)
    return (await store.do(Send("alice", draft, verified=False, strangers=True))).message_id


async def waiting(store: Store) -> list[str | None]:
    return [message.content for message in (await store.mail.waiting("bob", None, 200)).items]


class TestDecision1Durability:
    async def test_what_was_accepted_is_there_after_a_restart(self, engine: Engine) -> None:
        first = engine.store()
        await first.open(lambda _: None)
        await first.do(Appear("alice"))
        await send(first, "kept")
        await first.close()
        second = engine.store()
        await second.open(lambda _: None)
        assert await waiting(second) == ["kept"]
        await second.close()

    async def test_a_closed_store_begins_nothing(self, engine: Engine) -> None:
        store = engine.store()
        await store.open(lambda _: None)
        await store.close()
        with pytest.raises(Closed):
            await store.do(Appear("alice"))

    async def test_a_hint_comes_after_the_commit_and_names_who_has_mail(self, engine: Engine) -> None:
        heard: list[tuple[frozenset[str], asyncio.Task[list[str | None]]]] = []
        store = engine.store()
        await store.open(lambda agents: heard.append((agents, asyncio.ensure_future(waiting(store)))))
        await store.do(Appear("alice"))
        heard.clear()
        await send(store, "seen by whoever looks")
        ((agents, look),) = heard
        assert agents == {"bob"}
        assert await look == ["seen by whoever looks"]
        await store.close()

    async def test_what_was_refused_gives_no_hint(self, engine: Engine) -> None:
        heard: list[frozenset[str]] = []
        store = engine.store()
        await store.open(heard.append)
        await store.do(Appear("alice"))
        heard.clear()
        with suppress(Exception):
            await store.do(Send("alice", Draft(to="bob", content="x", priority=3), verified=False, strangers=False))
        assert heard == []
        await store.close()


class FailingCommit:
    """A connection whose commit takes place but whose answer is lost."""

    def __init__(self, real: sqlite3.Connection) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def execute(self, statement: str, *parameters: Any) -> Any:
        answer = self._real.execute(statement, *parameters)
        if statement == "COMMIT":
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorname = "SQLITE_IOERR_FSYNC"
            raise error
        return answer


class TestDecision1OnSQLite:
    """What only the embedded engine can be made to show."""

    @pytest.fixture
    async def store(self, tmp_path: Path) -> AsyncIterator[Store]:
        store = Store(SQLite(tmp_path / "mailbox.db"))
        await store.open(lambda _: None)
        await store.do(Appear("alice"))
        await store.do(Appear("bob"))
        yield store
        await store.close()

    def test_every_commit_reaches_the_disk(self, store: Store) -> None:
        assert sqlite_of(store)._transactions._connection.execute("PRAGMA synchronous").fetchone() == (2,)

    async def test_a_commit_of_unknown_fate_is_told_and_the_same_id_finds_out(self, store: Store) -> None:
        real = sqlite_of(store)._transactions._connection
        sqlite_of(store)._transactions._connection = FailingCommit(real)  # type: ignore[assignment]
        with pytest.raises(OutcomeUnknown):
            await send(store, "perhaps", "id-1")
        sqlite_of(store)._transactions._connection = real
        await send(store, "perhaps", "id-1")
        assert await waiting(store) == ["perhaps"]

    async def test_a_group_of_unknown_fate_is_told_so_and_not_done_again(self, store: Store) -> None:
        real = sqlite_of(store)._transactions._connection
        sqlite_of(store)._transactions._connection = FailingCommit(real)  # type: ignore[assignment]
        outcomes = await asyncio.gather(*(send(store, f"letter {n}") for n in range(20)), return_exceptions=True)
        sqlite_of(store)._transactions._connection = real
        assert {type(outcome) for outcome in outcomes} == {OutcomeUnknown}
        assert sorted(text or "" for text in await waiting(store)) == sorted(f"letter {n}" for n in range(20))

    async def test_a_full_disk_refuses_what_does_not_fit_and_nothing_else(self, store: Store) -> None:
        pages = sqlite_of(store)._transactions._connection.execute("PRAGMA page_count").fetchone()[0]
        sqlite_of(store)._transactions._connection.execute(f"PRAGMA max_page_count = {pages + 60}")
        texts = ["small 1", "x" * 900_000, "small 2", "small 3"]
        outcomes = await asyncio.gather(*(send(store, text) for text in texts), return_exceptions=True)
        assert [getattr(outcome, "code", "accepted") for outcome in outcomes] == ["accepted", "disk_full", "accepted", "accepted"]
        assert await waiting(store) == ["small 1", "small 2", "small 3"]


class TestDecision1OnPostgreSQL:
    """What only the server engine can be made to show."""

    @pytest.fixture
    async def store(self, postgres: PostgresServer) -> AsyncIterator[Store]:
        url = await postgres.copy()
        store = Store(PostgreSQL(url))
        await store.open(lambda _: None)
        await store.do(Appear("alice"))
        await store.do(Appear("bob"))
        yield store
        await store.close()
        await postgres.drop(url)

    async def test_every_commit_reaches_the_disk(self, store: Store) -> None:
        connection = await asyncpg.connect(postgres_of(store).url)
        assert await connection.fetchval("SHOW synchronous_commit") == "on"
        await connection.close()

    async def test_a_commit_of_unknown_fate_is_told_and_the_same_id_finds_out(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        execute = asyncpg.Connection.execute

        async def lose_the_answer(self: Any, query: str, *arguments: Any, **options: Any) -> Any:
            answer = await execute(self, query, *arguments, **options)
            if query.startswith("COMMIT"):
                raise ConnectionResetError
            return answer

        monkeypatch.setattr(asyncpg.Connection, "execute", lose_the_answer)
        outcomes = await asyncio.gather(*(send(store, f"letter {n}", f"id-{n}") for n in range(5)), return_exceptions=True)
        monkeypatch.undo()
        assert {type(outcome) for outcome in outcomes} == {OutcomeUnknown}
        await asyncio.gather(*(send(store, f"letter {n}", f"id-{n}") for n in range(5)))
        assert sorted(text or "" for text in await waiting(store)) == [f"letter {n}" for n in range(5)]
