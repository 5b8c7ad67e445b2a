"""Behind a transaction pooler nothing stays with a connection, and the office needs nothing to."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import asyncpg
import pytest

from postoffice.core.delivery import State
from postoffice.core.draft import Draft
from postoffice.core.task import TaskState
from postoffice.office import OfficeRules, PostOffice
from postoffice.store.postgres.engine import PostgreSQL
from postoffice.store.store import Store
from postoffice.wake.local import LocalWake
from tests.engines import PostgresServer, postgres_of
from tests.proof.books import check_books, postgres_books
from tests.proof.pooler import pooled

_BOUND = 30.0


@pytest.fixture
async def url(postgres: PostgresServer) -> AsyncIterator[str]:
    url = await postgres.copy()
    yield url
    await postgres.drop(url)


async def _live_a_life(office: PostOffice) -> None:
    """Everything that happens to mail between its sender and its end."""
    alice, bob = await office.identify(name="alice"), await office.identify(name="bob")
    accepted = await office.send(alice, Draft(to="bob", subject="Harvest", content="The apples are ripe.", client_id="one"))
    assert (await office.send(alice, Draft(to="bob", subject="Harvest", content="The apples are ripe.", client_id="one"))).duplicate
    (leased,) = (await office.receive(bob)).leased
    await office.nack(bob, leased.message.id, leased.token)
    (leased,) = (await office.receive(bob)).leased
    await office.extend(bob, leased.message.id, timedelta(minutes=1), leased.token)
    await office.ack(bob, leased.message.id, leased.token)
    (standing,) = (await office.status(alice, accepted.message_id)).standings
    assert (standing.state, standing.attempts) == (State.ACKED, 2)

    waiter = asyncio.create_task(office.wait(alice, within=timedelta(seconds=20)))
    await office.send(bob, Draft(to="alice", subject="harvest", content="I am coming.", reply_to=accepted.message_id))
    assert [one.message.content for one in (await waiter).leased] == ["I am coming."]
    (thread,) = (await office.inbox(bob)).items
    assert [line.message.content for line in thread.lines] == ["I am coming.", "The apples are ripe."]
    await office.send(bob, Draft(to="alice", content="Unread."))
    standing_session = next(thread for thread in (await office.inbox(alice)).items if thread.subject == "")
    assert standing_session.unread == 1
    await office.history(alice, standing_session.id)
    assert (await office.counts(alice)).pending == 0
    assert [found.message.id for found in (await office.search(bob, "apples")).items] == [accepted.message_id]

    asked = await office.send(alice, Draft(to="bob", type="task", subject="Pick", content="Pick them."))
    await office.update_task(bob, asked.message_id, TaskState.COMPLETED)
    assert (await office.task(alice, asked.message_id)).state is TaskState.COMPLETED
    await office.note(alice, "0.0.7", "task", "Remember the ladder.", ["bob"])
    assert len((await office.notes("0.0.7")).items) == 1
    request = await office.request_connection(alice, "bob")
    await office.approve_connection(bob, request.code)
    await office.send_many(alice, [Draft(to=("bob", "cy"), content=str(number)) for number in range(50)])
    assert (await office.totals()).pending >= 100
    assert await office.news(bob)
    assert await office.all_news(office.owner())
    await office.upkeep.tick()


async def test_the_whole_life_of_mail_without_prepared_statements_or_settings(url: str) -> None:
    async with (
        asyncio.timeout(_BOUND),
        PostOffice(Store(PostgreSQL(url, statement_cache=0)), LocalWake(), OfficeRules(tick=3600)) as office,
    ):
        await _live_a_life(office)
    plain = await asyncpg.connect(url)
    try:
        assert "postoffice" not in await plain.fetchval("SHOW search_path")
        assert (
            await plain.fetchval(
                "SELECT count(*) FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase WHERE d.datname = current_database()"
            )
            == 0
        )
    finally:
        await plain.close()
    check_books(await postgres_books(url))


async def test_the_whole_life_of_mail_where_every_transaction_gets_another_connection(url: str) -> None:
    async with asyncio.timeout(_BOUND), pooled(url) as (address, pooler):
        async with PostOffice(Store(PostgreSQL(address, statement_cache=0)), LocalWake(), OfficeRules(tick=3600)) as office:
            await _live_a_life(office)
        assert pooler.transactions > 30
    check_books(await postgres_books(url))


async def test_whoever_gets_the_connection_next_finds_it_as_it_was(url: str) -> None:
    plain = await asyncpg.connect(url)
    store = Store(PostgreSQL(url, statement_cache=0))
    committing = await postgres_of(store)._connect()
    try:
        await committing.execute(f"{postgres_of(store)._begin}; COMMIT")
        for setting in ("transaction_timeout", "synchronous_commit", "search_path"):
            assert await committing.fetchval(f"SHOW {setting}") == await plain.fetchval(f"SHOW {setting}")
    finally:
        await committing.close()
        await plain.close()


async def test_many_at_once_share_a_few_connections(url: str) -> None:
    async with (
        asyncio.timeout(_BOUND),
        pooled(url) as (address, _),
        PostOffice(Store(PostgreSQL(address, statement_cache=0)), LocalWake(), OfficeRules(tick=3600)) as office,
    ):
        senders = [await office.identify(name=f"sender-{number}") for number in range(10)]
        bob = await office.identify(name="bob")
        for _ in range(5):
            await asyncio.gather(
                *(office.send(sender, Draft(to="bob", content="x")) for sender in senders),
                *(office.counts(sender) for sender in senders),
                office.pop(bob, 5),
            )
        assert (await office.counts(bob)).counted >= 50
    check_books(await postgres_books(url))


async def test_the_pooler_of_these_tests_is_a_strict_one(url: str) -> None:
    """Settings are gone with their transaction, statements prepared earlier are not there, and nothing is set by connecting."""
    async with asyncio.timeout(_BOUND), pooled(url) as (address, _):
        connection = await asyncpg.connect(address)
        try:
            await connection.execute("SET search_path TO postoffice")
            assert "postoffice" not in await connection.fetchval("SHOW search_path")
            with pytest.raises(asyncpg.InvalidSQLStatementNameError):
                await connection.fetchval("SHOW search_path")
        finally:
            await connection.close()
        with pytest.raises(asyncpg.PostgresError, match="unsupported startup parameter"):
            await asyncpg.connect(address, server_settings={"search_path": "postoffice"})
