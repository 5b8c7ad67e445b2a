"""A process that stands still inside a transaction keeps nobody from the mail, and goes on itself when it can."""

import asyncio
import time
from collections.abc import AsyncIterator

import asyncpg
import pytest

from postoffice.core.message import Draft
from postoffice.office import PostOffice
from postoffice.store import postgres
from postoffice.store.committer import SESSION
from postoffice.store.postgres import PostgresStore
from postoffice.wake.local import LocalWake
from tests.engines import PostgresServer
from tests.proof.patience import BOUND

_LOCK = "SELECT 1 FROM postoffice.mailboxes WHERE agent = 'bob' FOR UPDATE"


@pytest.fixture
async def url(postgres: PostgresServer) -> AsyncIterator[str]:
    url = await postgres.copy()
    yield url
    await postgres.drop(url)


@pytest.mark.parametrize("statement_cache", [0, 100], ids=["pooled", "direct"])
async def test_a_transaction_that_stands_still_is_ended_and_the_mail_goes_on(
    url: str, monkeypatch: pytest.MonkeyPatch, statement_cache: int
) -> None:
    monkeypatch.setitem(SESSION, "idle_in_transaction_session_timeout", "500")
    async with PostOffice(PostgresStore(url, statement_cache=statement_cache), LocalWake()) as office:
        alice = await office.identify(name="alice")
        await office.send(alice, Draft(to="bob", content="Before."))
        still = await office.store._connect()  # type: ignore[attr-defined]  # as a committer connects
        await still.execute(f"{office.store._begin}; {_LOCK}")  # type: ignore[attr-defined]
        async with asyncio.timeout(BOUND):
            await office.send(alice, Draft(to="bob", content="Meanwhile."))
        with pytest.raises((asyncpg.InterfaceError, asyncpg.PostgresError)):
            await still.execute("COMMIT")
        bob = await office.identify(name="bob")
        assert [one.message.content for one in (await office.receive(bob, 10)).leased] == ["Before.", "Meanwhile."]


@pytest.mark.parametrize("statement_cache", [0, 100], ids=["pooled", "direct"])
async def test_one_that_stands_still_within_a_statement_is_ended_too(
    url: str, monkeypatch: pytest.MonkeyPatch, statement_cache: int
) -> None:
    monkeypatch.setattr(postgres, "_LONGEST", "1000")
    async with PostOffice(PostgresStore(url, statement_cache=statement_cache), LocalWake()) as office:
        alice = await office.identify(name="alice")
        await office.send(alice, Draft(to="bob", content="Before."))
        still = await office.store._connect()  # type: ignore[attr-defined]
        await still.execute(f"{office.store._begin}; {_LOCK}")  # type: ignore[attr-defined]
        await still.prepare("SELECT count(*) FROM postoffice.mailboxes WHERE agent = $1")  # half of it: the server awaits the rest
        async with asyncio.timeout(BOUND):
            await office.send(alice, Draft(to="bob", content="Meanwhile."))
        with pytest.raises((asyncpg.InterfaceError, asyncpg.PostgresError)):
            await still.execute("COMMIT")


async def test_an_office_that_stood_still_too_long_does_its_work_again(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SESSION, "idle_in_transaction_session_timeout", "300")
    async with PostOffice(PostgresStore(url), LocalWake()) as office:
        alice = await office.identify(name="alice")
        async with asyncpg.create_pool(url, min_size=1, max_size=1) as other, other.acquire() as blocker:
            # The office waits for a lock, which is no standing still, and then its own process does: its loop is blocked.
            transaction = blocker.transaction()
            await transaction.start()
            await office.send(alice, Draft(to="bob", content="First."))
            await blocker.execute(_LOCK)
            sending = asyncio.create_task(office.send(alice, Draft(to="bob", content="Second.")))
            await asyncio.sleep(0.2)
            await transaction.rollback()
            time.sleep(1.0)  # noqa: ASYNC251 - nothing of a stopped process runs
            async with asyncio.timeout(BOUND):
                await sending
        bob = await office.identify(name="bob")
        assert [one.message.content for one in (await office.receive(bob, 10)).leased] == ["First.", "Second."]
