"""A log that was written by another PostgreSQL server goes on where it was brought to."""

import asyncpg

from postoffice.core.event import Kind
from postoffice.office import OfficeRules, PostOffice
from postoffice.store.postgres.engine import PostgreSQL
from postoffice.store.store import Store
from postoffice.wake.local import LocalWake
from tests.engines import PostgresServer
from tests.mail import people, write

AHEAD = 1_000_000


def opened(url: str) -> PostOffice:
    return PostOffice(Store(PostgreSQL(url)), LocalWake(), OfficeRules(tick=3600))


async def move(url: str) -> None:
    """As if that server had done many more transactions than this one has."""
    moved = await asyncpg.connect(url, server_settings={"search_path": "postoffice"})
    await moved.execute(f"UPDATE events SET tx = (tx::text::bigint + {AHEAD})::text::xid8")
    place = "(split_part(value, '.', 1)::bigint + $1)::text || '.' || split_part(value, '.', 2)"
    await moved.execute(f"UPDATE cursors SET value = {place} WHERE name = 'search'", AHEAD)
    await moved.close()


async def test_what_happens_after_the_move_comes_after_what_happened_before(postgres: PostgresServer) -> None:
    url = await postgres.copy()
    async with opened(url) as office:
        alice, _ = await people(office, "alice", "bob")
        sent = [await write(office, alice, "bob", text) for text in ("first", "second")]
        assert (await office.search(alice, "second")).items
    await move(url)
    for text in ("third", "fourth"):
        async with opened(url) as office:
            alice, _ = await people(office, "alice", "bob")
            sent.append(await write(office, alice, "bob", text))
    async with opened(url) as office:
        for text in ("first", "second", "third", "fourth"):
            assert len((await office.search(alice, text)).items) == 1
        log = await office.all_news(office.owner())
        assert [event.ref for event in log if event.kind is Kind.NEW_MESSAGE] == [one.message_id for one in sent]
    await postgres.drop(url)


async def test_a_log_that_takes_the_place_of_one_that_is_served_goes_on_too(postgres: PostgresServer) -> None:
    url = await postgres.copy()
    async with opened(url) as office:
        alice, _ = await people(office, "alice", "bob")
        sent = [await write(office, alice, "bob", "first")]
        assert (await office.search(alice, "first")).items
        await move(url)
        sent.append(await write(office, alice, "bob", "second"))
        await office.upkeep.sweep()
        sent.append(await write(office, alice, "bob", "third"))
        for text in ("first", "second", "third"):
            assert len((await office.search(alice, text)).items) == 1
        log = await office.all_news(office.owner())
        assert [event.ref for event in log if event.kind is Kind.NEW_MESSAGE] == [one.message_id for one in sent]
    await postgres.drop(url)
