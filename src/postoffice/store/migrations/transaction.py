"""One transaction around every step of a migration, and one migrator at a time."""

import asyncio
from pathlib import Path
from typing import Any

from alembic import context
from sqlalchemy import URL, create_engine, event, text
from sqlalchemy.engine import Connection
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

_MIGRATORS = 0x706F7374  # any number that only our migrators lock


def migrate(database: Path | str, schema: str, inbox_schema: str) -> None:
    """Run what Alembic's configuration asks for against this database: an SQLite file, or a PostgreSQL address."""
    context.config.attributes["schemas"] = (schema, inbox_schema)
    if isinstance(database, Path):
        _migrate_sqlite(database)
    else:
        asyncio.run(_migrate_postgres(database, schema))


def _migrate_sqlite(path: Path) -> None:
    """The driver begins nothing by itself; BEGIN IMMEDIATE keeps a half-way failure from leaving tables behind."""
    engine = create_engine(URL.create("sqlite", database=str(path)), poolclass=NullPool)
    event.listen(engine, "connect", lambda connection, _: setattr(connection, "isolation_level", None))
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    with engine.connect() as connection:
        _run(connection)


async def _migrate_postgres(url: str, schema: str) -> None:
    """Replicas that start together migrate one after another, and the later ones find nothing to do."""
    import asyncpg  # noqa: PLC0415 - an install without the extra has no driver

    from postoffice.store.postgres import normal_url  # noqa: PLC0415 - as above

    # The driver reads the address itself, as it does when we serve: several hosts, sslmode and the like mean the same here.
    engine = create_async_engine(
        "postgresql+asyncpg://", async_creator=lambda: asyncpg.connect(normal_url(url), statement_cache_size=0), poolclass=NullPool
    )
    async with engine.connect() as connection:
        await connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATORS})
        await connection.execute(text(f'CREATE SCHEMA IF NOT EXISTS "{schema}"'))
        await connection.execute(text(f'SET LOCAL search_path TO "{schema}", public'))
        await connection.run_sync(_run, version_table_schema=schema)
        await connection.commit()
    await engine.dispose()


def _run(connection: Connection, /, **options: Any) -> None:
    context.configure(connection=connection, transactional_ddl=True, **options)
    newest = context.script.get_current_head() or ""
    found = max((newest, *context.get_context().get_current_heads()))
    context.config.attributes["schema"] = found
    if found > newest:
        return  # a newer program was here before: its schema is its business, and says itself who may use it
    with context.begin_transaction():
        context.run_migrations()
