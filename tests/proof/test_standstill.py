"""A process that stands still inside a transaction keeps nobody from the mail, and goes on itself when it can."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import pytest

from postoffice.core.draft import Draft
from postoffice.core.errors import DatabaseLost, OutcomeUnknown
from postoffice.office import PostOffice
from postoffice.store.engine import Write
from postoffice.store.postgres import engine as postgres
from postoffice.store.postgres.committer import SESSION, Committer
from postoffice.store.postgres.engine import PostgreSQL
from postoffice.store.postgres.failures import LOST
from postoffice.store.store import Store
from postoffice.wake.local import LocalWake
from tests.chaos.proxy import Rule, proxied
from tests.engines import PostgresServer, postgres_of, socket_of
from tests.proof.patience import BOUND, until

_LOCK = "SELECT 1 FROM postoffice.mailboxes WHERE agent = 'bob' FOR UPDATE"
_WAITING = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


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
    async with PostOffice(Store(PostgreSQL(url, statement_cache=statement_cache)), LocalWake()) as office:
        alice = await office.identify(name="alice")
        await office.send(alice, Draft(to="bob", content="Before."))
        still = await postgres_of(office.store)._connect()  # as a committer connects
        await still.execute(f"{postgres_of(office.store)._begin}; {_LOCK}")
        async with asyncio.timeout(BOUND):
            await office.send(alice, Draft(to="bob", content="Meanwhile."))
        with pytest.raises(LOST):
            await still.execute("COMMIT")
        bob = await office.identify(name="bob")
        assert [one.message.content for one in (await office.receive(bob, 10)).leased] == ["Before.", "Meanwhile."]


@pytest.mark.parametrize("statement_cache", [0, 100], ids=["pooled", "direct"])
async def test_one_that_stands_still_within_a_statement_is_ended_too(
    url: str, monkeypatch: pytest.MonkeyPatch, statement_cache: int
) -> None:
    monkeypatch.setattr(postgres, "_TRANSACTION_MILLISECONDS", "1000")
    async with PostOffice(Store(PostgreSQL(url, statement_cache=statement_cache)), LocalWake()) as office:
        alice = await office.identify(name="alice")
        await office.send(alice, Draft(to="bob", content="Before."))
        still = await postgres_of(office.store)._connect()
        await still.execute(f"{postgres_of(office.store)._begin}; {_LOCK}")
        await still.prepare("SELECT count(*) FROM postoffice.mailboxes WHERE agent = $1")  # half of it: the server awaits the rest
        async with asyncio.timeout(BOUND):
            await office.send(alice, Draft(to="bob", content="Meanwhile."))
        with pytest.raises(LOST):
            await still.execute("COMMIT")


async def test_an_office_that_stood_still_too_long_does_its_work_again(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SESSION, "idle_in_transaction_session_timeout", "300")
    async with PostOffice(Store(PostgreSQL(url)), LocalWake()) as office:
        alice = await office.identify(name="alice")
        await office.send(alice, Draft(to="bob", content="First."))
        async with asyncpg.create_pool(url, min_size=2, max_size=2) as others, others.acquire() as blocker, others.acquire() as onlooker:
            # The office waits for a lock, which is no standing still, and then its own process does: its loop is blocked.
            await blocker.execute(f"BEGIN; {_LOCK}")
            sending = asyncio.create_task(office.send(alice, Draft(to="bob", content="Second.")))
            await until(lambda: onlooker.fetchval(_WAITING))
            await blocker.execute("SET idle_in_transaction_session_timeout = 300")  # and so the lock ends while nobody can hear of it
            time.sleep(1.5)  # noqa: ASYNC251 - nothing of a stopped process runs
            async with asyncio.timeout(BOUND):
                await sending
        bob = await office.identify(name="bob")
        assert [one.message.content for one in (await office.receive(bob, 10)).leased] == ["First.", "Second."]


async def test_one_that_stood_still_in_a_transaction_begun_ahead_goes_on_in_another(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SESSION, "idle_in_transaction_session_timeout", "300")
    async with PostOffice(Store(PostgreSQL(url)), LocalWake()) as office:
        alice = await office.identify(name="alice")
        for content in ("First.", "Second."):
            async with asyncio.timeout(BOUND):
                await office.send(alice, Draft(to="bob", content=content))
            time.sleep(1.0)  # noqa: ASYNC251 - before it could give up the next transaction
        bob = await office.identify(name="bob")
        assert [one.message.content for one in (await office.receive(bob, 10)).leased] == ["First.", "Second."]


async def test_one_that_stood_still_while_its_commit_was_answered_does_nothing_twice(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer and the end of the transaction begun with it are read together: what was committed before is not taken for undone."""
    monkeypatch.setitem(SESSION, "idle_in_transaction_session_timeout", "300")
    execute = asyncpg.Connection.execute

    async def stand_still(connection: Any, query: str, *arguments: Any, **options: Any) -> Any:
        asking = asyncio.ensure_future(execute(connection, query, *arguments, **options))
        if query.startswith("COMMIT"):
            await asyncio.sleep(0)  # it is on its way
            time.sleep(1.0)  # noqa: ASYNC251
        return await asking

    async with PostOffice(Store(PostgreSQL(url)), LocalWake()) as office:
        alice = await office.identify(name="alice")
        monkeypatch.setattr(asyncpg.Connection, "execute", stand_still)
        for content in ("First.", "Second."):
            async with asyncio.timeout(BOUND):
                await office.send(alice, Draft(to="bob", content=content))
        monkeypatch.setattr(asyncpg.Connection, "execute", execute)
        bob = await office.identify(name="bob")
        assert [one.message.content for one in (await office.receive(bob, 10)).leased] == ["First.", "Second."]


@pytest.mark.parametrize("known", ["all of it", "half of it", "nothing yet"])
async def test_one_that_was_given_up_just_before_its_commit_knows_that_nothing_was_done(
    url: str, monkeypatch: pytest.MonkeyPatch, known: str
) -> None:
    """Whatever it has read by then of the server's last words and of the connection's end."""
    write, stood = Committer._write, 0

    async def stand_still(committer: Committer, writes: list[Write]) -> int:
        nonlocal stood
        version = await write(committer, writes)
        if not any(name == "add_message" for name, *_ in writes):
            return version  # the upkeep's
        stood += 1
        if stood > 1:
            return version
        await committer._connection.execute("SET LOCAL idle_in_transaction_session_timeout = 300")  # the second time it may take its time
        if known == "all of it":
            await until(committer._connection.is_closed)
        elif known == "nothing yet":  # the server itself stands still, and finds the time to be over before it hears more
            server = committer._connection.get_server_pid()
            os.kill(server, signal.SIGSTOP)
            time.sleep(1.0)  # noqa: ASYNC251
            asyncio.get_running_loop().call_soon(os.kill, server, signal.SIGCONT)
        else:
            time.sleep(1.0)  # noqa: ASYNC251
            committer._connection._transport._read_ready()
        return version

    async with PostOffice(Store(PostgreSQL(url)), LocalWake()) as office:
        alice = await office.identify(name="alice")
        monkeypatch.setattr(Committer, "_write", stand_still)
        async with asyncio.timeout(BOUND):
            await office.send(alice, Draft(to="bob", content="Once."))
        assert stood == 2, "it was done again"
        bob = await office.identify(name="bob")
        assert [one.message.content for one in (await office.receive(bob, 10)).leased] == ["Once."]


@pytest.mark.parametrize("statement_cache", [0, 100], ids=["pooled", "direct"])
async def test_closed_over_a_database_that_says_nothing_the_office_ends_and_leaves_nobody_waiting(url: str, statement_cache: int) -> None:
    async with proxied(socket_of(url)) as proxy:
        silent = f"postgresql://postgres@127.0.0.1:{proxy.port}{urlsplit(url).path}"
        async with PostOffice(Store(PostgreSQL(silent, statement_cache=statement_cache)), LocalWake()) as office:
            alice = await office.identify(name="alice")
            await office.send(alice, Draft(to="bob", content="Before."))
            proxy.rule = Rule(silent=True)
            under_way = asyncio.create_task(office.send(alice, Draft(to="bob", content="Who knows?")))
            await asyncio.sleep(0.1)
            behind = asyncio.create_task(office.send(alice, Draft(to="bob", content="Not begun.")))
            with pytest.raises(DatabaseLost):
                async with asyncio.timeout(BOUND):
                    await office.ping()
            begun = time.monotonic()
        assert time.monotonic() - begun < BOUND
        async with asyncio.timeout(BOUND):
            outcomes = await asyncio.gather(under_way, behind, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [OutcomeUnknown, OutcomeUnknown]
    async with PostOffice(Store(PostgreSQL(url)), LocalWake()) as office:
        bob = await office.identify(name="bob")
        assert [one.message.content for one in (await office.receive(bob, 10)).leased] == ["Before."]


async def test_closed_over_a_slow_database_the_office_first_does_what_was_asked(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "_GROUP_ACTS", 1)
    monkeypatch.setattr(postgres, "_CANCEL_SECONDS", 2.0)
    async with proxied(socket_of(url)) as proxy:
        async with PostOffice(
            Store(PostgreSQL(f"postgresql://postgres@127.0.0.1:{proxy.port}{urlsplit(url).path}")), LocalWake()
        ) as office:
            alice = await office.identify(name="alice")
            await office.send(alice, Draft(to="bob", content="Before."))
            proxy.rule = Rule(delay=0.03)
            sending = [asyncio.create_task(office.send(alice, Draft(to="bob", content=str(number)))) for number in range(40)]
            await asyncio.sleep(0.1)
            begun = time.monotonic()
        assert time.monotonic() - begun > 2.0, "all was done before patience could have ended"
        await asyncio.gather(*sending)
