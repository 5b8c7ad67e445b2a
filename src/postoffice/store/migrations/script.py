"""Run a revision's SQL file inside the migration's transaction."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from alembic import context, op
from sqlalchemy.engine import Connection

_VERSIONS = Path(__file__).parent / "versions"


def run_script(revision: str) -> None:
    """Run `<revision>_<engine>.sql`."""
    run_file(op.get_bind(), revision)


def run_file(connection: Connection, name: str) -> None:
    """Run `<name>_<engine>.sql`."""
    engine = connection.dialect.name
    script = (_VERSIONS / f"{name}_{engine}.sql").read_text(encoding="utf-8")
    if engine == "sqlite":
        for statement in _statements(script):
            connection.exec_driver_sql(statement)
        return
    schema, inbox_schema = context.config.attributes["schemas"]
    script = script.replace("{schema}", schema).replace("{inbox_schema}", inbox_schema)
    # Only the driver itself takes several statements at once.
    connection.connection.dbapi_connection.run_async(lambda driver: driver.execute(script))  # type: ignore[union-attr]


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
