"""`alembic upgrade head` in a checkout does what `postoffice migrate` does."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import asyncpg

from postoffice.store.migrations.upgrade import HEAD
from tests.engines import PostgresServer
from tests.serve.running import PATIENCE, environment, run

ROOT = Path(__file__).parent.parent.parent


def upgrade(extra: dict[str, str]) -> None:
    command = [sys.executable, "-m", "alembic", "upgrade", "head"]
    subprocess.run(command, cwd=ROOT, env=environment(extra), capture_output=True, timeout=PATIENCE, check=True)


def test_sqlite_is_migrated(tmp_path: Path) -> None:
    upgrade({"POSTOFFICE_DATA": str(tmp_path)})
    connection = sqlite3.connect(tmp_path / "mailbox.db")
    assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(HEAD,)]
    connection.close()
    again = run("migrate", "--data", str(tmp_path), here=tmp_path)
    assert (again.returncode, again.stdout) == (0, f"the database has schema {HEAD}\n")


async def test_postgresql_is_migrated(postgres: PostgresServer) -> None:
    url = await postgres.empty()
    upgrade({"DATABASE_URL": url, "POSTOFFICE_SCHEMA": "mail", "POSTOFFICE_INBOX_SCHEMA": "public"})
    connection = await asyncpg.connect(url)
    try:
        assert await connection.fetchval("SELECT version_num FROM mail.alembic_version") == HEAD
        assert await connection.fetchval("SELECT count(*) FROM public.inbox") == 0
    finally:
        await connection.close()
