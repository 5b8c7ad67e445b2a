"""A real PgBouncer in transaction mode, the strictest of the poolers people put before PostgreSQL."""

import os
import shutil
import subprocess
import time
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import asyncpg
import pytest

from postoffice.core.draft import Draft
from postoffice.core.names import OWNER
from postoffice.office import OfficeRules, PostOffice
from postoffice.store.postgres.engine import PostgreSQL
from postoffice.store.store import Store
from postoffice.wake.local import LocalWake
from tests.engines import PostgresServer
from tests.serve.running import PATIENCE, free_port


def pgbouncer() -> str:
    """The program, installed from Debian where that is possible."""
    found = shutil.which("pgbouncer")
    if found is None and os.geteuid() == 0 and shutil.which("apt-get"):
        subprocess.run(["apt-get", "update", "-qq"], check=True, capture_output=True)
        subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", "pgbouncer"], check=True, capture_output=True)
        found = shutil.which("pgbouncer")
    assert found is not None, "this test needs pgbouncer: install it from your system's packages"
    return found


@pytest.fixture
async def pooled(postgres: PostgresServer) -> AsyncIterator[str]:
    """The address of a fresh database behind a transaction pooler."""
    url = await postgres.copy()
    parts = urlsplit(url)
    (folder,) = parse_qs(parts.query)["host"]
    port = free_port()
    home = Path("/tmp") / f"pgbouncer-{port}"
    home.mkdir(mode=0o755)
    (home / "users.txt").write_text('"postgres" ""\n')
    (home / "pgbouncer.ini").write_text(
        f"[databases]\nmail = host={folder} dbname={parts.path.lstrip('/')} user=postgres\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n"
        f"auth_file = {home}/users.txt\npool_mode = transaction\ndefault_pool_size = 3\n"
    )
    # It does not run as root, and has to reach the server's socket: so it runs as the server does.
    owner = Path(folder).stat().st_uid if os.geteuid() == 0 else None
    process = subprocess.Popen([pgbouncer(), str(home / "pgbouncer.ini")], user=owner)
    try:
        address = f"postgresql://postgres@127.0.0.1:{port}/mail"
        await _until_it_answers(address)
        yield address
    finally:
        process.terminate()
        process.wait(PATIENCE)
        shutil.rmtree(home)
        await postgres.drop(url)


async def _until_it_answers(address: str) -> None:
    until = time.monotonic() + PATIENCE
    while True:
        try:
            connection = await asyncpg.connect(address, statement_cache_size=0)
        except (OSError, asyncpg.PostgresError):
            assert time.monotonic() < until, "pgbouncer did not answer"
            continue
        await connection.close()
        return


async def test_the_whole_life_of_mail_works_through_pgbouncer(pooled: str) -> None:
    async with PostOffice(Store(PostgreSQL(pooled, statement_cache=0)), LocalWake(), OfficeRules(tick=0.1)) as office:
        alice, bob = await office.identify(name="alice"), await office.identify(name="bob")
        for number in range(20):
            await office.send(alice, Draft(to="bob", subject="pooled", content=f"letter {number}"))
        seen = []
        while turned := await office.wait(bob, 5, within=timedelta(0)):
            if not turned.leased:
                break
            seen += [item.message.content for item in turned.leased]
            for item in turned.leased:
                await office.ack(bob, item.message.id, item.token)
        assert seen == [f"letter {number}" for number in range(20)]
        assert (await office.inbox(alice)).items[0].subject == "pooled"
        assert len((await office.search(bob, "letter")).items) == 20
        assert (await office.counts(office.owner(), of="bob")).pending == 0
        assert OWNER not in [agent.name for agent in (await office.agents()).items]
