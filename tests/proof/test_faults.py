"""When the ground gives way: a full disk, a read-only one, a second owner, a database that is gone. Told clearly, and over by itself."""

import asyncio
import signal
import sqlite3
from collections.abc import Awaitable
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import asyncpg
import pytest

from postoffice.acts.act import Act
from postoffice.acts.people.agents import Appear
from postoffice.core.draft import Draft
from postoffice.core.errors import DatabaseInUse, DatabaseLost, DiskFull, MailError, OutcomeUnknown, ReadOnly
from postoffice.core.message import Accepted
from postoffice.office import OfficeRules, PostOffice
from postoffice.store.postgres.engine import PostgreSQL
from postoffice.store.sqlite.engine import SQLite
from postoffice.store.store import Store
from postoffice.wake.local import LocalWake
from postoffice.wake.postgres import PostgresWake
from tests.engines import PostgresServer, postgres_of, sqlite_of
from tests.proof.books import check_books, check_office, postgres_books, sqlite_books
from tests.proof.child import command, running, wait_for
from tests.proof.cluster import running_cluster
from tests.proof.disk import small_disk
from tests.proof.patience import BOUND, until

T = TypeVar("T")
_LARGE = "x" * 100_000


async def _soon(verb: Awaitable[T]) -> T:
    """Every verb answers, whatever has happened."""
    async with asyncio.timeout(BOUND):
        return await verb


def _office(path: Path, tick: float = 3600) -> PostOffice:
    return PostOffice(Store(SQLite(path)), LocalWake(), OfficeRules(tick=tick))


async def _send_until_full(office: PostOffice, content: str) -> list[str]:
    alice = await office.identify(name="alice")
    accepted: list[str] = []
    for _ in range(1000):
        try:
            accepted.append((await _soon(office.send(alice, Draft(to="bob", content=content)))).message_id)
        except DiskFull:
            return accepted
    pytest.fail("the disk never became full")


async def test_on_a_full_disk_sends_are_refused_and_nothing_accepted_is_lost(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "8m") as disk:
        path = disk.folder / "mailbox.db"
        disk.fill(leave=2_000_000)
        async with _office(path) as office:
            accepted = await _send_until_full(office, _LARGE)
            accepted += await _send_until_full(office, "small")
            assert accepted
            alice, bob = await office.identify(name="alice"), await office.identify(name="bob")
            for _ in range(3):
                with pytest.raises(DiskFull) as full:
                    await _soon(office.send(alice, Draft(to="bob", content=_LARGE)))
                assert full.value.code == "disk_full"
            assert (await _soon(office.counts(bob))).pending == len(accepted)

            disk.free()  # and nobody has to be told
            accepted.append((await _soon(office.send(alice, Draft(to="bob", content="There is room again.")))).message_id)
            taken: list[str] = []
            for _ in range(1000):
                leased = await _soon(office.pop(bob, 5))
                if not leased:
                    break
                taken += [one.message.id for one in leased]
            assert taken == accepted
        books = sqlite_books(path)
        check_books(books)
        assert sorted(books.ids) == sorted(accepted)


async def test_what_was_accepted_before_the_disk_was_full_is_there_after_a_restart_on_the_full_disk(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "4m") as disk:
        path = disk.folder / "mailbox.db"
        async with _office(path) as office:
            accepted = await _send_until_full(office, _LARGE)
            assert accepted
            disk.fill()
        async with _office(path) as office:
            books = sqlite_books(path)
            check_books(books)
            assert sorted(books.ids) == sorted(accepted)
            await check_office(office, books, ["bob"])


async def test_a_message_too_large_for_the_disk_does_not_harm_its_neighbours_in_the_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with small_disk(tmp_path / "disk", "4m") as disk:
        path = disk.folder / "mailbox.db"
        async with _office(path) as office:
            groups: list[int] = []
            engine = sqlite_of(office.store)
            transact = engine._transactions._transact

            def counted(acts: list[Act[Any]]) -> Any:
                groups.append(len(acts))
                return transact(acts)

            monkeypatch.setattr(engine._transactions, "_transact", counted)
            alice = await office.identify(name="alice")
            await office.send(alice, Draft(to="bob", content="before"))
            disk.fill(leave=700_000)
            drafts = [Draft(to="bob", content=("x" * 1_000_000 if number == 5 else f"small {number}")) for number in range(11)]
            # While somebody else holds the file, the writer is stuck with the first and the others gather behind it.
            blocker = sqlite3.connect(path, isolation_level=None)
            blocker.execute("BEGIN IMMEDIATE")
            begun = len(groups)
            first = asyncio.create_task(office.send(alice, Draft(to="bob", content="first")))
            await until(lambda: len(groups) > begun)
            together = asyncio.create_task(office.send_many(alice, drafts))
            await until(lambda: not engine._jobs.empty())
            blocker.execute("ROLLBACK")
            blocker.close()
            await _soon(first)
            outcomes = await _soon(together)
            assert 11 in groups, "they were not one group"
            assert [isinstance(outcome, Accepted) for outcome in outcomes] == [number != 5 for number in range(11)]
            assert isinstance(outcomes[5], DiskFull)
            disk.free()
            await _soon(office.send(alice, drafts[5]))
            bob = await office.identify(name="bob")
            contents = [leased.message.content for leased in (await office.receive(bob, 100)).leased]
            assert contents == ["before", "first", *(f"small {number}" for number in range(11) if number != 5), "x" * 1_000_000]
        check_books(sqlite_books(path))


async def test_opening_a_new_mailbox_on_a_full_disk_says_so_and_works_once_there_is_room(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "2m") as disk:
        disk.fill(leave=65_536)
        refused = Store(SQLite(disk.folder / "mailbox.db"))
        with pytest.raises(DiskFull):
            await _soon(refused.open(lambda _: None))
        disk.free()
        async with _office(disk.folder / "mailbox.db") as office:
            await office.send(await office.identify(name="alice"), Draft(to="bob", content="There is room."))


async def test_opening_on_a_disk_without_a_single_free_byte_is_a_mail_error_and_leaves_no_lock_behind(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "2m") as disk:
        disk.fill()
        refused = Store(SQLite(disk.folder / "mailbox.db"))
        with pytest.raises(DiskFull):
            await _soon(refused.open(lambda _: None))
        disk.free()
        async with _office(disk.folder / "mailbox.db") as office:
            await office.send(await office.identify(name="alice"), Draft(to="bob", content="There is room."))


@pytest.mark.parametrize("existing", [False, True], ids=["new", "existing"])
async def test_a_read_only_disk_is_one_clear_error_and_a_writable_one_works_again(tmp_path: Path, *, existing: bool) -> None:
    with small_disk(tmp_path / "disk", "4m") as disk:
        path = disk.folder / "mailbox.db"
        if existing:
            async with _office(path) as office:
                await office.send(await office.identify(name="alice"), Draft(to="bob", content="before"))
        disk.remount("ro")
        with pytest.raises(ReadOnly) as refused:
            async with _office(path):
                pass
        assert refused.value.code == "read_only"
        assert str(path) in str(refused.value)
        disk.remount("rw")
        async with _office(path) as office:
            await office.send(await office.identify(name="alice"), Draft(to="bob", content="after"))
            taken = (await office.receive(await office.identify(name="bob"))).leased
        assert [leased.message.content for leased in taken] == (["before"] if existing else []) + ["after"]


async def test_a_data_directory_that_cannot_be_made_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a directory")
    for path in (tmp_path / "file" / "mailbox.db", tmp_path / "file" / "deeper" / "mailbox.db"):
        with pytest.raises(ReadOnly, match="file"):
            await Store(SQLite(path)).open(lambda _: None)


async def test_a_directory_where_the_database_should_be_is_one_clear_error_and_leaves_no_lock_behind(tmp_path: Path) -> None:
    path = tmp_path / "mailbox.db"
    path.mkdir()
    refused = Store(SQLite(path))
    with pytest.raises(ReadOnly):
        await refused.open(lambda _: None)
    path.rmdir()
    async with _office(path) as office:
        await office.identify(name="alice")


async def test_a_file_that_is_no_database_is_a_mail_error_and_is_left_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "mailbox.db"
    path.write_text("Dear diary, " * 1000)
    refused = Store(SQLite(path))
    with pytest.raises(MailError):
        await refused.open(lambda _: None)
    assert path.read_text() == "Dear diary, " * 1000
    path.unlink()
    async with _office(path) as office:
        await office.identify(name="alice")


async def test_a_second_process_is_told_who_owns_the_file_and_takes_over_when_the_first_is_killed(tmp_path: Path) -> None:
    path, said = tmp_path / "mailbox.db", tmp_path / "said"
    with running(command("writer", path, 0), said) as process:
        await asyncio.to_thread(wait_for, "ready", said, process)
        for _ in range(2):
            with pytest.raises(DatabaseInUse) as refused:
                await Store(SQLite(path)).open(lambda _: None)
            assert refused.value.facts["pid"] == str(process.pid)
            assert str(process.pid) in str(refused.value)
            assert str(path) in str(refused.value)
        process.send_signal(signal.SIGKILL)
        process.wait(BOUND)
        async with _office(path) as office:
            alice = await office.identify(name="alice")
            await office.send(alice, Draft(to="bob", content="It is mine now."))
    check_books(sqlite_books(path))


async def _answers_lost(verb: Awaitable[object]) -> None:
    with pytest.raises((DatabaseLost, OutcomeUnknown)) as lost:
        await _soon(verb)
    assert lost.value.code in ("database_lost", "outcome_unknown")


@pytest.mark.parametrize("end", ["stop", "kill"])
async def test_a_lost_database_is_told_to_everyone_and_the_same_office_goes_on_when_it_is_back(end: str) -> None:
    with running_cluster() as cluster:
        await cluster.migrate()
        wake = PostgresWake(cluster.url)
        async with PostOffice(Store(PostgreSQL(cluster.url)), wake, OfficeRules(tick=0.1)) as office:
            alice, bob, cy = [await office.identify(name=name) for name in ("alice", "bob", "cy")]
            kept = await office.send(alice, Draft(to="bob", content="before"))
            waiter = asyncio.create_task(office.wait(cy, within=timedelta(seconds=60)))
            listener = asyncio.create_task(office.news(cy, within=timedelta(seconds=60)))
            await asyncio.sleep(0.2)
            await asyncio.to_thread(cluster.stop if end == "stop" else cluster.kill)

            for _ in range(2):
                await _answers_lost(office.send(alice, Draft(to="bob", content="during", client_id="during")))
                await _answers_lost(office.receive(bob))
                await _answers_lost(office.counts(bob))
                await _answers_lost(office.inbox(bob))
                await _answers_lost(office.search(bob, "before"))
                await _answers_lost(office.status(alice, kept.message_id))
                await _answers_lost(office.identify(name="newcomer"))
                await _answers_lost(office.store.ping())
            await asyncio.sleep(0.5)  # a few ticks without a database
            assert not waiter.done()
            assert not listener.done()
            assert not wake.healthy

            await asyncio.to_thread(cluster.start)
            again = await _soon(office.send(alice, Draft(to="bob", content="during", client_id="during")))
            after = await _soon(office.send(bob, Draft(to="cy", content="after")))
            assert [leased.message.id for leased in (await _soon(waiter)).leased] == [after.message_id]
            assert [event.ref for event in await _soon(listener)] == [after.message_id]
            taken = (await _soon(office.receive(bob))).leased
            assert [leased.message.id for leased in taken] == [kept.message_id, again.message_id]
            for leased in taken:
                await _soon(office.ack(bob, leased.message.id, leased.token))
            assert len((await _soon(office.search(bob, "before"))).items) == 1
            await until(lambda: wake.healthy)
            check_books(await postgres_books(cluster.url))


async def test_an_office_closes_in_time_although_its_database_is_gone() -> None:
    with running_cluster() as cluster:
        await cluster.migrate()
        async with asyncio.timeout(BOUND):
            async with PostOffice(Store(PostgreSQL(cluster.url)), PostgresWake(cluster.url), OfficeRules(tick=0.1)) as office:
                await office.send(await office.identify(name="alice"), Draft(to="bob", content="before"))
                await asyncio.to_thread(cluster.kill)


async def test_opening_without_a_database_server_is_one_clear_error_and_works_once_it_is_there() -> None:
    with running_cluster() as cluster:
        await cluster.migrate()
        await asyncio.to_thread(cluster.stop)
        store = Store(PostgreSQL(cluster.url))
        with pytest.raises(DatabaseLost):
            await _soon(store.open(lambda _: None))
        await asyncio.to_thread(cluster.start)
        await _soon(store.open(lambda _: None))
        try:
            await _soon(store.ping())
        finally:
            await _soon(store.close())


async def test_a_connection_that_a_server_does_not_make_ready_is_not_left_open(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[asyncpg.Connection] = []
    connect = asyncpg.connect

    async def noted(*where: Any, **how: Any) -> asyncpg.Connection:
        made.append(await connect(*where, **how))
        return made[-1]

    store = Store(PostgreSQL(await postgres.copy()))
    postgres_of(store)._sql["committing_session"] = "SELECT pg_sleep(10)"
    await store.open(lambda _: None)
    monkeypatch.setattr(asyncpg, "connect", noted)
    asking = asyncio.create_task(store.do(Appear("alice")))
    await until(lambda: made)
    await _soon(store.close())
    with pytest.raises(OutcomeUnknown):
        await asking
    assert [connection.is_closed() for connection in made] == [True]
