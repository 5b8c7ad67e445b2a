"""One transaction around every step of a migration, and one migrator at a time."""

import asyncio
from pathlib import Path
from typing import Any

from alembic import context
from sqlalchemy import URL, create_engine, event, text
from sqlalchemy.engine import Connection
from sqlalchemy.pool import NullPool

from postoffice.store.migrations.script import run_file

_MIGRATORS = 0x706F7374  # any number that only our migrators lock


def migrate(database: Path | str, schema: str, inbox_schema: str) -> None:
    """Run what Alembic's configuration asks for against this database: an SQLite file, or a PostgreSQL address."""
    context.config.attributes["schemas"] = (schema, inbox_schema)
    if isinstance(database, Path):
        _migrate_sqlite(database)
    else:
        asyncio.run(_migrate_postgres(database, schema, inbox_schema))


def _migrate_sqlite(path: Path) -> None:
    """The driver begins nothing by itself; BEGIN IMMEDIATE keeps a half-way failure from leaving tables behind."""
    engine = create_engine(URL.create("sqlite", database=str(path)), poolclass=NullPool)
    event.listen(engine, "connect", lambda connection, _: setattr(connection, "isolation_level", None))
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    with engine.connect() as connection:
        _run(connection)


async def _migrate_postgres(url: str, schema: str, inbox_schema: str) -> None:
    """Replicas that start together migrate one after another, and the later ones find nothing to do."""
    import asyncpg  # noqa: PLC0415 - an install without the extra has no driver
    from sqlalchemy.ext.asyncio import create_async_engine  # noqa: PLC0415 - nor the bridge to it

    from postoffice.store.postgres.engine import normal_url  # noqa: PLC0415 - as above

    # The driver reads the address itself, as it does when we serve: several hosts, sslmode and the like mean the same here.
    engine = create_async_engine(
        "postgresql+asyncpg://", async_creator=lambda: asyncpg.connect(normal_url(url), statement_cache_size=0), poolclass=NullPool
    )
    async with engine.connect() as connection:
        await connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATORS})
        await connection.execute(text(f'CREATE SCHEMA IF NOT EXISTS "{schema}"'))
        await connection.execute(text(f'SET LOCAL search_path TO "{schema}", public'))
        newest = await connection.run_sync(_run, version_table_schema=schema)
        if newest and inbox_schema != schema:
            await connection.run_sync(_put_view_back, schema)
        await connection.commit()
    await engine.dispose()


def _put_view_back(connection: Connection, schema: str) -> None:
    """A view in a place of its own is in no backup: where one was restored it is made anew. One beside the tables was taken away on purpose."""
    stands = text("""
        SELECT 1 FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid JOIN pg_namespace n ON n.oid = p.pronamespace
         WHERE t.tgname = 'inbox_settle' AND n.nspname = :schema""")
    if connection.execute(stands, {"schema": schema}).first() is None:
        run_file(connection, "inbox")


def _run(connection: Connection, /, **options: Any) -> bool:
    """Migrate; gives whether the schema is then this program's newest."""
    context.configure(connection=connection, transactional_ddl=True, **options)
    newest = context.script.get_current_head() or ""
    revision = max((newest, *context.get_context().get_current_heads()))
    context.config.attributes["schema"] = revision
    if revision > newest:
        return False  # a newer program was here before: its schema is its business, and says itself who may use it
    with context.begin_transaction():
        context.run_migrations()
    return True
