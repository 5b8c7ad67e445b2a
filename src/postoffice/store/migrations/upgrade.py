"""Bring a database to the newest schema, whole or not at all."""

import sqlite3
from pathlib import Path
from typing import Final

from postoffice.core.errors import SchemaTooNew

HEAD: Final = "0034"
PROGRAM: Final = 1
"""The generation of this program. A schema names the oldest generation that may use it, so old and new run side by side."""


def check_program(oldest: str) -> None:
    """Refuse a schema made for a newer program."""
    if int(oldest) > PROGRAM:
        raise SchemaTooNew(oldest=oldest, program=PROGRAM)


def upgrade_sqlite(path: Path) -> None:
    """Upgrade an SQLite file, or make it."""
    revision = _revision(path)
    if revision is not None and revision >= HEAD:
        return
    from sqlalchemy.exc import DBAPIError  # noqa: PLC0415 - as below

    try:
        run_alembic(path)
    except DBAPIError as error:
        raise error.orig or error from None


def run_alembic(database: Path | str, schema: str = "", inbox_schema: str = "") -> str:
    """`alembic upgrade head`; gives the schema there is then. Imported here: most starts find nothing to do and need not pay for it."""
    from alembic import command  # noqa: PLC0415
    from alembic.config import Config  # noqa: PLC0415

    if isinstance(database, Path) and not database.exists():
        database.touch(mode=0o600)  # SQLite would let everybody read it, and the folder it is in may be open
    config = Config(attributes={"target": (database, schema, inbox_schema)})
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.set_main_option("path_separator", "os")
    command.upgrade(config, "head")
    return str(config.attributes["schema"])


def _revision(path: Path) -> str | None:
    if not path.exists():
        return None
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True)
    try:
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.OperationalError:
        return None
    finally:
        connection.close()
    return None if row is None else str(row[0])
