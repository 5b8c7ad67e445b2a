"""Letters that an earlier program indexed as they were written are found as today's are."""

import sqlite3
from importlib import import_module

import asyncpg
import pytest
from sqlalchemy import URL, create_engine
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from postoffice.office import PostOffice
from tests.engines import Engine, PostgresEngine, SQLiteEngine
from tests.mail import office_with, people, write

_REVISION = import_module("postoffice.store.migrations.versions.0017_search")
_OLD = ("Das CAFÉ in der Straße", "部署失败了", "plain words")
_NOW = {"cafe": 0, "strasse": 0, "失败": 1, "plain": 2}
_SET = "UPDATE search SET text = {0} WHERE {1} = (SELECT {2} FROM messages WHERE id = {3})"


async def _index_as_before(engine: Engine, texts: dict[str, str]) -> None:
    """Nothing folded, as programs before the revision wrote it."""
    if isinstance(engine, SQLiteEngine):
        connection = sqlite3.connect(engine.path, isolation_level=None)
        for id, text in texts.items():
            connection.execute(_SET.format("?", "rowid", "n", "?"), (text, id))
        connection.close()
    else:
        assert isinstance(engine, PostgresEngine)
        server = await asyncpg.connect(engine.url, server_settings={"search_path": "postoffice"})
        for id, text in texts.items():
            await server.execute(_SET.format("$1", "message_id", "id", "$2::uuid"), text, id)
        await server.close()


async def _migrate(engine: Engine) -> None:
    if isinstance(engine, SQLiteEngine):
        with create_engine(URL.create("sqlite", database=str(engine.path)), poolclass=NullPool).begin() as connection:
            _REVISION.fold_index(connection)
    else:
        assert isinstance(engine, PostgresEngine)
        url, settings = engine.url, {"search_path": "postoffice"}
        server = create_async_engine(
            "postgresql+asyncpg://", async_creator=lambda: asyncpg.connect(url, server_settings=settings), poolclass=NullPool
        )
        async with server.begin() as connection:
            await connection.run_sync(_REVISION.fold_index)
        await server.dispose()


async def test_what_was_indexed_before_is_found_as_what_is_indexed_now(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_REVISION, "_AT_ONCE", 2)
    async with office_with(engine) as office:
        alice, _ = await people(office, "alice", "bob")
        ids = [(await write(office, alice, "bob", text)).message_id for text in _OLD]
        await office.search(alice, "word")  # from here on they are indexed
    await _index_as_before(engine, dict(zip(ids, _OLD, strict=True)))
    await _migrate(engine)
    async with office_with(engine) as office:
        assert await _found(office) == {word: [ids[at]] for word, at in _NOW.items()}


async def _found(office: PostOffice) -> dict[str, list[str]]:
    alice = await office.identify(name="alice")
    return {word: [hit.message.id for hit in (await office.search(alice, word)).items] for word in _NOW}
