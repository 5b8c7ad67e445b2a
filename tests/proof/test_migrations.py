"""A database is brought to the newest schema whole or not at all, by however many at once."""

import asyncio
import random
import shutil
import signal
import sqlite3
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import asyncpg
import pytest

from postoffice.core.draft import Draft
from postoffice.core.errors import SchemaMissing, SchemaTooNew
from postoffice.office import OfficeRules, PostOffice
from postoffice.store import migrations
from postoffice.store.migrations.upgrade import HEAD, run_alembic
from postoffice.store.postgres.engine import PostgreSQL
from postoffice.store.sqlite.engine import SQLite
from postoffice.store.store import Store
from postoffice.wake.local import LocalWake
from postoffice.wake.postgres import PostgresWake
from tests.engines import Engine, PostgresEngine, PostgresServer, SQLiteEngine
from tests.proof.child import ROOT, command, running
from tests.proof.patience import until

_PATIENCE = 60.0
_SCRIPTS = Path(migrations.__file__).parent / "versions"


@pytest.fixture
async def empty(postgres: PostgresServer) -> AsyncIterator[str]:
    """The address of a database with nothing in it."""
    url = await postgres.empty()
    yield url
    await postgres.drop(url)


def _spoilt(folder: Path, engine: str, statement: str) -> Path:
    """The migration scripts with a statement of ours in the middle."""
    copy = folder / "versions"
    shutil.copytree(_SCRIPTS, copy)
    file = copy / f"0001_{engine}.sql"
    head, mark, tail = file.read_text().partition("CREATE TABLE tasks")
    assert mark
    file.write_text(f"{head}{statement};\n{mark}{tail}")
    return copy


def _migrate(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command("migrator", *arguments), cwd=ROOT, check=False, timeout=_PATIENCE, capture_output=True, text=True)


def _tables(path: Path) -> int:
    connection = sqlite3.connect(path)
    try:
        return int(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
    finally:
        connection.close()


async def _ask(url: str, query: str) -> Any:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval(query)
    finally:
        await connection.close()


async def _letter_goes_through(store: Store) -> None:
    async with PostOffice(store, LocalWake(), OfficeRules(tick=3600)) as office:
        alice, bob = await office.identify(name="alice"), await office.identify(name="bob")
        await office.send(alice, Draft(to="bob", subject="Hello", content="Does it work?"))
        (leased,) = (await office.receive(bob)).leased
        await office.ack(bob, leased.message.id, leased.token)


# SQLite


async def test_a_new_file_gets_its_tables_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "down" / "mailbox.db"
    await _letter_goes_through(Store(SQLite(path)))
    await _letter_goes_through(Store(SQLite(path)))
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(HEAD,)]
    connection.close()


async def test_a_start_whose_migration_fails_half_way_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "mailbox.db"
    failed = _migrate(path, _spoilt(tmp_path, "sqlite", "INSERT INTO nowhere VALUES (1)"))
    assert failed.returncode == 1
    assert "nowhere" in failed.stderr
    assert _tables(path) == 0
    await _letter_goes_through(Store(SQLite(path)))


@pytest.mark.parametrize("count", [0, 1, 9, 40])
async def test_a_start_killed_in_the_middle_of_its_migration_leaves_nothing_behind(tmp_path: Path, count: int) -> None:
    path = tmp_path / "mailbox.db"
    assert _migrate(path, "", count).returncode == -signal.SIGKILL
    assert _tables(path) == 0
    await _letter_goes_through(Store(SQLite(path)))


async def test_a_first_start_killed_at_any_moment_leaves_all_or_nothing(tmp_path: Path) -> None:
    chance = random.Random(7)
    for number in range(6):
        path = tmp_path / f"{number}.db"
        with running(command("migrator", path), tmp_path / "said"):
            await until(path.exists)
            await asyncio.sleep(chance.uniform(0, 0.03))
        found = _tables(path)
        await _letter_goes_through(Store(SQLite(path)))
        assert found in (0, _tables(path))


# PostgreSQL


async def test_five_processes_at_once_migrate_one_empty_database(empty: str) -> None:
    for done in await asyncio.gather(*(asyncio.to_thread(_migrate, empty) for _ in range(5))):
        assert done.returncode == 0, done.stderr
    assert await _ask(empty, "SELECT array_agg(version_num)::text FROM postoffice.alembic_version") == f"{{{HEAD}}}"
    await _letter_goes_through(Store(PostgreSQL(empty)))


async def test_a_migration_that_fails_half_way_leaves_nothing_behind_in_postgresql(empty: str, tmp_path: Path) -> None:
    failed = await asyncio.to_thread(_migrate, empty, _spoilt(tmp_path, "postgresql", "INSERT INTO nowhere VALUES (1)"))
    assert failed.returncode == 1
    assert "nowhere" in failed.stderr
    assert await _ask(empty, "SELECT count(*) FROM pg_namespace WHERE nspname = 'postoffice'") == 0
    await asyncio.to_thread(run_alembic, empty, schema="postoffice", inbox_schema="postoffice")
    await _letter_goes_through(Store(PostgreSQL(empty)))


async def test_a_migrator_killed_half_way_leaves_nothing_behind_in_postgresql(empty: str, tmp_path: Path) -> None:
    scripts = _spoilt(tmp_path, "postgresql", "SELECT pg_sleep(5)")
    with running(command("migrator", empty, scripts), tmp_path / "said") as process:
        await until(lambda: _ask(empty, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"))
        process.kill()
        process.wait(_PATIENCE)
        with pytest.raises(SchemaMissing):
            await Store(PostgreSQL(empty)).open(lambda _: None)
        # The next one waits for the server to notice, and then does all of it.
        assert (await asyncio.to_thread(_migrate, empty)).returncode == 0
    await _letter_goes_through(Store(PostgreSQL(empty)))


async def test_migrating_again_changes_nothing(empty: str) -> None:
    for _ in range(2):
        await asyncio.to_thread(run_alembic, empty, schema="postoffice", inbox_schema="postoffice")
        await _letter_goes_through(Store(PostgreSQL(empty)))
    assert await _ask(empty, "SELECT count(*) FROM postoffice.messages") == 2


async def test_an_address_means_the_same_to_the_migration_as_to_the_server(empty: str) -> None:
    (folder,) = parse_qs(urlsplit(empty).query)["host"]
    several = empty.replace(f"host={folder}", f"host=/nowhere,{folder}") + "&target_session_attrs=read-write&sslmode=prefer"
    await asyncio.to_thread(run_alembic, several, schema="postoffice", inbox_schema="postoffice")
    await _letter_goes_through(Store(PostgreSQL(several)))


async def test_an_unmigrated_database_is_refused_with_the_command_that_helps(empty: str) -> None:
    with pytest.raises(SchemaMissing, match="postoffice migrate") as refused:
        await Store(PostgreSQL(empty)).open(lambda _: None)
    assert refused.value.code == "schema_missing"


@pytest.mark.parametrize("schema", ["mail", "Mail-2"])
async def test_another_schema_name_works_beside_the_usual_one(empty: str, schema: str) -> None:
    await asyncio.to_thread(run_alembic, empty, schema="postoffice", inbox_schema="postoffice")
    await asyncio.to_thread(run_alembic, empty, schema=schema, inbox_schema=schema)
    async with PostOffice(Store(PostgreSQL(empty, schema=schema)), PostgresWake(empty, schema), OfficeRules(tick=3600)) as office:
        await office.send(await office.identify(name="alice"), Draft(to="cy", content="Here."))
    await _letter_goes_through(Store(PostgreSQL(empty, schema=schema, statement_cache=0)))
    assert await _ask(empty, f'SELECT count(*) FROM "{schema}".inbox') == 2
    assert await _ask(empty, "SELECT count(*) FROM postoffice.inbox") == 0


async def test_the_inbox_view_may_stand_in_a_schema_of_its_own(empty: str) -> None:
    await asyncio.to_thread(run_alembic, empty, schema="mail", inbox_schema="public")
    await _letter_goes_through(Store(PostgreSQL(empty, schema="mail")))
    connection = await asyncpg.connect(empty)
    try:
        await connection.execute("INSERT INTO inbox (to_agent, message_type, subject) VALUES ('alice', 'fyi', 'From SQL')")
        await connection.execute("UPDATE inbox SET processed = true WHERE subject = 'From SQL'")
        rows = [tuple(row) for row in await connection.fetch("SELECT subject, processed FROM public.inbox ORDER BY created_at")]
    finally:
        await connection.close()
    assert rows == [("Hello", True), ("From SQL", True)]


async def _view(database: str, schema: str) -> tuple[str, list[str]]:
    """What the view is, and what is done when it is written to."""
    connection = await asyncpg.connect(database)
    try:
        view = f"{schema}.inbox"
        rows = await connection.fetch(
            "SELECT pg_get_triggerdef(oid) AS said FROM pg_trigger WHERE tgrelid = $1::text::regclass ORDER BY tgname", view
        )
        return await connection.fetchval("SELECT pg_get_viewdef($1::text::regclass)", view), [row["said"] for row in rows]
    finally:
        await connection.close()


async def test_a_view_in_a_schema_of_its_own_that_a_backup_did_not_bring_is_made_again(empty: str) -> None:
    await asyncio.to_thread(run_alembic, empty, schema="mail", inbox_schema="public")
    made = await _view(empty, "public")
    await _ask(empty, "DROP VIEW public.inbox")
    for _ in range(2):
        await asyncio.to_thread(run_alembic, empty, schema="mail", inbox_schema="public")
        assert await _view(empty, "public") == made


async def test_a_view_beside_the_tables_that_somebody_took_away_stays_away(empty: str) -> None:
    await asyncio.to_thread(run_alembic, empty, schema="mail", inbox_schema="mail")
    await _ask(empty, "DROP VIEW mail.inbox")
    await asyncio.to_thread(run_alembic, empty, schema="mail", inbox_schema="mail")
    assert await _ask(empty, "SELECT to_regclass('mail.inbox')") is None


# Old and new side by side


async def _execute(engine: Engine, statement: str) -> None:
    if isinstance(engine, SQLiteEngine):
        connection = sqlite3.connect(engine.path, isolation_level=None)
        connection.execute(statement)
        connection.close()
    else:
        assert isinstance(engine, PostgresEngine)
        server = await asyncpg.connect(engine.url, server_settings={"search_path": "postoffice"})
        await server.execute(statement)
        await server.close()


@pytest.mark.parametrize("revision", [HEAD, "9999"], ids=["this revision", "a newer revision"])
async def test_a_schema_for_newer_programs_only_is_refused_and_nothing_stays_locked(engine: Engine, revision: str) -> None:
    await _letter_goes_through(engine.store())
    await _execute(engine, "UPDATE about SET value = '2' WHERE name = 'oldest_program'")
    await _execute(engine, f"UPDATE alembic_version SET version_num = '{revision}'")
    refused = engine.store()
    with pytest.raises(SchemaTooNew) as error:
        await refused.open(lambda _: None)
    assert error.value.code == "schema_too_new"
    await _execute(engine, "UPDATE about SET value = '1' WHERE name = 'oldest_program'")
    await _execute(engine, f"UPDATE alembic_version SET version_num = '{HEAD}'")
    await _letter_goes_through(engine.store())


async def test_a_newer_schema_that_still_admits_this_program_is_used_as_it_is(engine: Engine) -> None:
    await _letter_goes_through(engine.store())
    await _execute(engine, "UPDATE alembic_version SET version_num = '9999'")
    await _letter_goes_through(engine.store())
