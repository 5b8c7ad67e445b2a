"""What waits in a mailbox and what is sent in a minute is bounded in bytes as it is in messages, and all mail together."""

import sqlite3
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path

import asyncpg
import pytest

from postoffice.core.agent import Caller
from postoffice.core.draft import Draft
from postoffice.core.errors import BytesLimited, DiskFull, MailboxHeavy, StoreFull
from postoffice.core.limits import Limits
from postoffice.core.task import TaskState
from postoffice.office import OfficeRules, PostOffice
from postoffice.store.sqlite.engine import SQLite
from postoffice.store.store import Store
from postoffice.wake.local import LocalWake
from tests.engines import Engine, PostgresEngine, SQLiteEngine
from tests.mail import ask, kill, office_with, people, take, write
from tests.proof.books import check_books, postgres_books, sqlite_books
from tests.proof.disk import small_disk

A_MINUTE = timedelta(minutes=1)
LARGE = "é" * 5_000


async def _check(engine: Engine) -> None:
    """Counted on every write, the bytes are what counting them now gives."""
    if isinstance(engine, SQLiteEngine):
        check_books(sqlite_books(engine.path))
    elif isinstance(engine, PostgresEngine):
        check_books(await postgres_books(engine.url))


async def test_a_mailbox_with_too_many_bytes_takes_no_more_until_some_is_settled(engine: Engine) -> None:
    async with office_with(engine, mailbox_bytes=25_000) as office:
        alice, bob = await people(office, "alice", "bob")
        for _ in range(3):
            await write(office, alice, "bob", LARGE)
        with pytest.raises(MailboxHeavy) as refused:
            await write(office, alice, "bob", "small")
        assert refused.value.facts["limit"] == 25_000
        leased = await take(office, bob)
        with pytest.raises(MailboxHeavy):
            await write(office, alice, "bob", "small")
        await _check(engine)
        await office.ack(bob, leased.message.id, leased.token)
        await write(office, alice, "bob", "small")
        await write(office, alice, "carol", LARGE)
        await _check(engine)


async def test_reports_of_a_task_fill_no_mailbox_with_bytes(engine: Engine) -> None:
    async with office_with(engine, mailbox_bytes=25_000) as office:
        alice, bob = await people(office, "alice", "bob")
        asked = await ask(office, alice, "bob")
        for _ in range(3):
            await office.update_task(bob, asked.message_id, TaskState.WORKING, Draft(to="alice", content=LARGE))
        with pytest.raises(MailboxHeavy):
            await office.update_task(bob, asked.message_id, TaskState.WORKING, Draft(to="alice", content="small"))
        await office.update_task(bob, asked.message_id, TaskState.COMPLETED)
        await _check(engine)


async def test_bytes_are_counted_through_every_move(engine: Engine) -> None:
    async with office_with(engine, max_attempts=1) as office:
        alice, bob = await people(office, "alice", "bob")
        for content in ("one", LARGE, "three", "four"):
            await write(office, alice, "bob", content)
        dead = await kill(office, bob)
        await office.requeue(bob, dead.message.id)
        await _check(engine)
        again = await kill(office, bob)
        await office.discard(bob, again.message.id)
        await office.pop(bob)
        leased = await take(office, bob, visible_for=A_MINUTE)
        await engine.advance(2 * A_MINUTE)
        await office.upkeep.sweep()
        await _check(engine)
        assert leased.message.content is not None


async def test_an_agent_sends_so_many_bytes_a_minute(engine: Engine) -> None:
    async with office_with(engine, sent_bytes_per_minute=25_000) as office:
        alice, bob = await people(office, "alice", "bob")
        for _ in range(3):
            await write(office, alice, "bob", LARGE)
        with pytest.raises(BytesLimited) as refused:
            await write(office, alice, "carol", "small")
        assert 0 < refused.value.facts["retry_after"] <= 60  # type: ignore[operator]
        await write(office, bob, "alice", LARGE)
        await engine.advance(A_MINUTE)
        await write(office, alice, "carol", "small")


async def test_all_mail_takes_no_more_than_it_may_and_what_is_there_is_taken(engine: Engine) -> None:
    async with office_with(engine) as office:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob", LARGE, client_id="a-1")
    async with office_with(engine, total_bytes=100_000) as office:
        alice, bob = await people(office, "alice", "bob")
        for refused in (
            write(office, alice, "bob", "more"),
            office.identify(name="newcomer"),
            office.update_card(alice, {"description": "more"}),
        ):
            with pytest.raises(StoreFull, match="100000"):
                await refused
        assert (await write(office, alice, "bob", LARGE, client_id="a-1")).duplicate
        leased = await take(office, bob)
        await office.nack(bob, leased.message.id, leased.token)
        leased = await take(office, bob)
        await office.ack(bob, leased.message.id, leased.token)
    async with office_with(engine, total_bytes=100_000_000_000) as office:
        (alice,) = await people(office, "alice")
        await write(office, alice, "bob", "there is room")


async def test_what_was_counted_by_no_older_program_is_counted_by_the_migration(engine: Engine) -> None:
    async with office_with(engine) as office:
        alice, bob = await people(office, "alice", "bob")
        for content in ("one", LARGE, "three"):
            await write(office, alice, "bob", content)
        await office.pop(bob)
    script = "0011_sqlite.sql" if isinstance(engine, SQLiteEngine) else "0011_postgresql.sql"
    counting = _counting(script)
    if isinstance(engine, SQLiteEngine):
        file = sqlite3.connect(engine.path)
        file.executescript(";".join(("UPDATE deliveries SET size = 0", "UPDATE mailboxes SET waiting_bytes = 0", *counting)))
        file.close()
    elif isinstance(engine, PostgresEngine):
        connection = await asyncpg.connect(engine.url, server_settings={"search_path": "postoffice"})
        await connection.execute(";".join(("UPDATE deliveries SET size = 0", "UPDATE mailboxes SET waiting_bytes = 0", *counting)))
        await connection.close()
    books = sqlite_books(engine.path) if isinstance(engine, SQLiteEngine) else await postgres_books(engine.url)  # type: ignore[attr-defined]
    assert [bytes for agent, bytes, _ in books.sizes if agent == "bob"] > [len(LARGE)]
    check_books(books)


def _counting(script: str) -> list[str]:
    """The statements of the migration that count what waits."""
    from postoffice.store import migrations  # noqa: PLC0415

    text = (Path(migrations.__file__).parent / "versions" / script).read_text()
    return [statement for statement in text.partition("-- What comes")[0].split(";") if statement.strip().startswith("UPDATE")]


def _office(folder: Path) -> PostOffice:
    return PostOffice(Store(SQLite(folder / "mailbox.db", limits=Limits(disk_reserve=2 << 20))), LocalWake(), OfficeRules(tick=3600))


async def _fill(office: PostOffice, alice: Caller) -> int:
    sent = 0
    while True:
        try:
            await office.send(alice, Draft(to="bob", content=LARGE * 20))
        except DiskFull:
            return sent
        sent += 1


async def test_on_a_disk_that_others_have_filled_mail_is_taken_settled_and_read_and_only_growth_is_refused(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "48m") as disk:
        async with _office(disk.folder) as office:
            alice, bob = await people(office, "alice", "bob")
            letters = [(await write(office, alice, "bob", f"letter {number}")).message_id for number in range(200)]
        async with _office(disk.folder) as office:  # its log is short, and gives back little
            alice, bob = await people(office, "alice", "bob")
            disk.fill()  # to the last byte
            refused: list[Callable[[], Awaitable[object]]] = [
                lambda: write(office, alice, "bob", "more"),
                lambda: office.identify(name="newcomer"),
            ]
            for number in range(200):
                leased = await take(office, bob)
                assert leased.message.id == letters[number]
                if number % 10 == 0:
                    await office.nack(bob, leased.message.id, leased.token)
                    leased = await take(office, bob)
                    for growth in refused:
                        with pytest.raises(DiskFull):
                            await growth()
                await office.ack(bob, leased.message.id, leased.token)
            assert len((await office.inbox(bob)).items) == 1
            await office.upkeep.sweep()
            disk.free()
            await write(office, alice, "bob", "There is room again.")
        check_books(sqlite_books(disk.folder / "mailbox.db"))


async def test_mail_itself_leaves_room_on_the_disk_for_taking_and_settling_all_of_it(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "48m") as disk:
        async with _office(disk.folder) as office:
            alice, bob = await people(office, "alice", "bob")
            sent = await _fill(office, alice)
            assert sent > 50
            for _ in range(sent):
                leased = await take(office, bob)
                await office.ack(bob, leased.message.id, leased.token)
            assert (await office.counts(bob)).pending == 0
        check_books(sqlite_books(disk.folder / "mailbox.db"))


async def test_a_restart_on_a_full_disk_has_its_reserve(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "48m") as disk:
        for begun in (True, False):
            async with _office(disk.folder) as office:
                alice, bob = await people(office, "alice", "bob")
                if begun:
                    await write(office, alice, "bob", "before")
                    disk.fill()
                else:
                    leased = await take(office, bob)
                    await office.ack(bob, leased.message.id, leased.token)
                    assert leased.message.content == "before"
        disk.free()
        async with PostOffice(Store(SQLite(disk.folder / "mailbox.db")), LocalWake(), OfficeRules(tick=3600)):
            pass
        assert not (disk.folder / "mailbox.db.reserve").exists()
