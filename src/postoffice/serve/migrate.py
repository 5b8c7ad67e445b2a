"""Migrates the database in the settings to this program's schema."""

from pathlib import Path

from postoffice.config import Settings
from postoffice.core.errors import MigrationFailed, why
from postoffice.serve.build import check_database
from postoffice.store.migrations.upgrade import run_alembic


def migrate(settings: Settings) -> str:
    """Migrate, and print the result. It is safe to run from several places at once."""
    if settings.database is not None:
        check_database(settings.database)
    try:
        schema = run_alembic(*migration_target(settings))
    except Exception as error:  # noqa: BLE001 - each driver raises its own errors; the user gets one line for all
        raise MigrationFailed(why=why(error)) from None
    return f"the database has schema {schema}"


def migration_target(settings: Settings) -> tuple[Path | str, str, str]:
    """The file or the address, and the schemas to migrate."""
    if settings.database is None:
        settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    return settings.database or settings.sqlite_path, settings.schema, settings.inbox_schema or settings.schema
