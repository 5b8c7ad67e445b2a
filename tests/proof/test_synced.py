"""No success before the data is on disk, seen from outside the process that says so."""

import asyncio
import sqlite3
import subprocess
from pathlib import Path

import asyncpg
import pytest

from postoffice.core.draft import Draft
from postoffice.office import OfficeRules, PostOffice
from postoffice.store.postgres.engine import PostgreSQL
from postoffice.store.sqlite.engine import SQLite
from postoffice.store.store import Store
from postoffice.wake.local import LocalWake
from tests.engines import PostgresServer
from tests.proof.child import ROOT, command
from tests.proof.trace import Call, acks, left_by_power_loss, read_calls, strace_command, told_too_early

_MESSAGES = 90  # and large enough for the log to be moved into the database on the way


class Run:
    """One sender process, watched: the file as it was before, and every call that touched it."""

    def __init__(self, folder: Path, synchronous: str) -> None:
        self.path = folder / "mailbox.db"
        asyncio.run(self._make())
        self.wal = f"{self.path}-wal"
        self.before = {str(self.path): self.path.read_bytes(), self.wal: b""}
        log = folder / "calls"
        words = [*strace_command(log), *command("sender", self.path, synchronous, _MESSAGES)]
        done = subprocess.run(words, cwd=ROOT, check=False, timeout=90, capture_output=True)
        assert done.returncode == 0, done.stderr.decode()
        with log.open() as lines:
            self.calls: list[Call] = read_calls(lines)
        assert len(acks(self.calls)) == _MESSAGES

    async def _make(self) -> None:
        store = Store(SQLite(self.path))
        await store.open(lambda _: None)
        await store.close()

    def lost(self, folder: Path) -> list[str]:
        """Messages that a power loss right after their acknowledgement would have taken, or an earlier one's."""
        lost: list[str] = []
        acknowledged: list[str] = []
        for number, (at, id) in enumerate(acks(self.calls)):
            acknowledged.append(id)
            copy = folder / f"after-{number}"
            copy.mkdir()
            for path, content in left_by_power_loss(self.calls, self.before, at).items():
                (copy / Path(path).name).write_bytes(content)
            connection = sqlite3.connect(copy / self.path.name)
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            found = {found for (found,) in connection.execute("SELECT message_id FROM deliveries WHERE state = 'pending'")}
            connection.close()
            lost += [id for id in acknowledged if id not in found]
        return lost


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return Run(tmp_path_factory.mktemp("full"), "FULL")


@pytest.fixture(scope="module")
def normal(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return Run(tmp_path_factory.mktemp("normal"), "NORMAL")


def test_every_message_is_synced_before_it_is_acknowledged(full: Run) -> None:
    assert told_too_early(full.calls, full.wal) == []


def test_with_synchronous_lowered_messages_are_acknowledged_too_early_and_this_test_sees_it(normal: Run) -> None:
    assert len(told_too_early(normal.calls, normal.wal)) > _MESSAGES // 2


def test_a_power_loss_after_any_acknowledgement_takes_nothing_acknowledged(full: Run, tmp_path: Path) -> None:
    assert any(call.path == str(full.path) for call in full.calls), "the log was never moved into the database"
    assert full.lost(tmp_path) == []


def test_with_synchronous_lowered_a_power_loss_takes_acknowledged_messages_and_this_test_sees_it(normal: Run, tmp_path: Path) -> None:
    assert normal.lost(tmp_path)


def test_the_check_is_not_fooled_by_a_sync_that_failed_came_early_or_was_of_another_file() -> None:
    wal, other = "7</d/m.db-wal>", "8</d/m.db>"
    write, ack = f'1 pwrite64({wal}, "x", 1, 0) = 1', '2 write(1</out>, "ACK a\\x0a", 6) = 6'
    good = [write, f"1 fdatasync({wal}) = 0", ack]
    assert told_too_early(read_calls(good), "/d/m.db-wal") == []
    for bad in (
        [write, ack],
        [write, f"1 fdatasync({wal}) = -1 EIO (Input/output error)", ack],
        [f"1 fdatasync({wal}) = 0", write, ack],
        [write, f"1 fdatasync({other}) = 0", ack],
        [write, f"1 fdatasync({wal} <unfinished ...>", ack, "1 <... fdatasync resumed>) = 0"],
        [f"1 fdatasync({wal}) = 0", ack],
    ):
        assert told_too_early(read_calls(bad), "/d/m.db-wal") == ["a"], bad


async def _watch_commits(url: str, *, off: bool) -> None:
    """Have every transaction that stores a message write down, as it commits, how it commits."""
    connection = await asyncpg.connect(url)
    try:
        await connection.execute("""
            CREATE TABLE public.commits (synchronous_commit text);
            CREATE FUNCTION public.watch_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
              INSERT INTO public.commits VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$;
            CREATE CONSTRAINT TRIGGER watch_commit AFTER INSERT OR UPDATE ON postoffice.deliveries DEFERRABLE INITIALLY DEFERRED
              FOR EACH ROW EXECUTE FUNCTION public.watch_commit();
        """)
        if off:
            name = await connection.fetchval("SELECT quote_ident(current_database())")
            await connection.execute(f"ALTER DATABASE {name} SET synchronous_commit = off")
    finally:
        await connection.close()


@pytest.mark.parametrize("cache", [256, 0], ids=["direct", "pooled"])
@pytest.mark.parametrize("off", [False, True], ids=["as the server comes", "switched off for the database"])
async def test_postgresql_commits_with_synchronous_commit_on(postgres: PostgresServer, cache: int, *, off: bool) -> None:
    """With `synchronous_commit` on, COMMIT is answered after the server's log with all its records is flushed to disk (and
    the server's `fsync` is on), and the store answers after COMMIT is: so it is enough to see the setting under which each
    transaction commits. A database whose owner lowered it for other programs must not lower it for mail."""
    url = await postgres.copy()
    try:
        await _watch_commits(url, off=off)
        async with PostOffice(Store(PostgreSQL(url, statement_cache=cache)), LocalWake(), OfficeRules(tick=3600)) as office:
            alice, bob = await office.identify(name="alice"), await office.identify(name="bob")
            await office.send(alice, Draft(to="bob", content="Is it on disk?"))
            (leased,) = (await office.receive(bob)).leased
            await office.ack(bob, leased.message.id, leased.token)
        connection = await asyncpg.connect(url)
        try:
            settings = [setting for (setting,) in await connection.fetch("SELECT synchronous_commit FROM public.commits")]
        finally:
            await connection.close()
        assert settings == ["on"] * 3
    finally:
        await postgres.drop(url)
