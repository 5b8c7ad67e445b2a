"""Hints between the processes of one PostgreSQL. No office here ticks: what wakes a waiter is the hint."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from urllib.parse import urlsplit

import asyncpg
import pytest

from postoffice.core.draft import Draft
from postoffice.core.event import Kind
from postoffice.office import OfficeRules, PostOffice
from postoffice.store.postgres.engine import PostgreSQL
from postoffice.store.store import Store
from postoffice.wake.postgres import PostgresWake
from tests.chaos.proxy import PASS, Rule, proxied
from tests.engines import PostgresServer, socket_of
from tests.wake.patience import PATIENCE, until

LONG = timedelta(seconds=PATIENCE)
NO_TICK = OfficeRules(tick=3600)


class WatchedWake(PostgresWake):
    """Remembers how its health changed, however short a change was. It takes nobody's word to be alone."""

    answer = 3600.0

    def __init__(self, url: str) -> None:
        self.changes: list[bool] = []
        super().__init__(url)

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)
        if name == "healthy" and self.changes[-1:] != [value]:
            self.changes.append(bool(value))


class Ear:
    """What one process heard."""

    def __init__(self) -> None:
        self.calls: list[frozenset[str]] = []

    def __call__(self, agents: frozenset[str]) -> None:
        self.calls.append(agents)

    @property
    def names(self) -> set[str]:
        return set().union(*self.calls)


@pytest.fixture
async def url(postgres: PostgresServer) -> AsyncIterator[str]:
    address = await postgres.copy()
    yield address
    await postgres.drop(address)


@asynccontextmanager
async def listening(url: str) -> AsyncIterator[tuple[WatchedWake, Ear]]:
    wake, ear = WatchedWake(url), Ear()
    await wake.open(ear)
    try:
        await until(lambda: wake.healthy)
        yield wake, ear
    finally:
        await wake.close()


@asynccontextmanager
async def replica(url: str) -> AsyncIterator[PostOffice]:
    wake = WatchedWake(url)
    async with PostOffice(Store(PostgreSQL(url)), wake, NO_TICK) as office:
        await until(lambda: wake.healthy)
        yield office


async def kill_listeners(url: str) -> int:
    """Terminate every other connection to the database, as a failing server would."""
    connection = await asyncpg.connect(url)
    try:
        rows = await connection.fetch(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    finally:
        await connection.close()
    return len(rows)


# Between offices


async def test_a_waiter_at_one_office_wakes_for_mail_sent_at_another(url: str) -> None:
    async with replica(url) as here, replica(url) as there:
        alice, bob = await here.identify(name="alice"), await there.identify(name="bob")
        waiter = asyncio.create_task(there.wait(bob, within=LONG))
        await until(lambda: there._bells.names() == ["bob"])
        accepted = await here.send(alice, Draft(to="Bob", content="hello"))
        (leased,) = (await waiter).leased
        assert leased.message.id == accepted.message_id


async def test_news_at_one_office_comes_from_another(url: str) -> None:
    async with replica(url) as here, replica(url) as there:
        alice, bob = await here.identify(name="alice"), await there.identify(name="bob")
        waiter = asyncio.create_task(there.news(bob, within=LONG))
        await until(lambda: there._bells.names() == ["bob"])
        accepted = await here.send(alice, Draft(to="bob", content="hello"))
        assert [(event.kind, event.ref) for event in await waiter] == [(Kind.NEW_MESSAGE, accepted.message_id)]


async def test_a_receipt_wakes_the_sender_at_its_own_office(url: str) -> None:
    async with replica(url) as here, replica(url) as there:
        alice, bob = await here.identify(name="alice"), await there.identify(name="bob")
        accepted = await here.send(alice, Draft(to="bob", content="hello"))
        waiter = asyncio.create_task(here.news(alice, within=LONG))
        await until(lambda: here._bells.names() == ["alice"])
        (leased,) = (await there.receive(bob)).leased
        await there.ack(bob, leased.message.id, leased.token)
        assert [(event.kind, event.ref) for event in await waiter] == [(Kind.RECEIPT, accepted.message_id)]


async def test_one_waiter_for_many_messages_gets_them_all_and_in_order(url: str) -> None:
    async with replica(url) as here, replica(url) as there:
        alice, bob = await here.identify(name="alice"), await there.identify(name="bob")
        taken: list[str | None] = []

        async def take() -> None:
            while len(taken) < 100:
                leased = (await there.wait(bob, 100, within=LONG)).leased
                assert leased
                taken.extend(item.message.content for item in leased)

        taker = asyncio.create_task(take())
        await until(lambda: there._bells.names() == ["bob"])
        for n in range(100):
            await here.send(alice, Draft(to="bob", content=str(n)))
        await taker
        assert taken == [str(n) for n in range(100)]


async def test_a_key_given_at_one_office_locks_the_name_at_another(url: str) -> None:
    async with replica(url) as here, replica(url) as there:
        await there.identify(name="bob")
        assert "name:bob" in there._identities._known
        await here.add_key(here.owner(), of="bob")
        await until(lambda: "name:bob" not in there._identities._known)


# The carrier itself


async def test_a_hint_is_heard_by_every_process_and_at_home_before_anything_is_sent(url: str) -> None:
    async with listening(url) as (one, mine), listening(url) as (_, theirs):
        one.hint(frozenset({"bob"}))
        assert mine.calls == [{"bob"}]
        await until(lambda: theirs.names == {"bob"})


async def test_hints_given_together_are_carried_as_one_notification(url: str) -> None:
    async with listening(url) as (one, _), listening(url) as (_, theirs):
        names = {f"agent-{n}" for n in range(100)}
        for name in sorted(names):
            one.hint(frozenset({name}))
            one.hint(frozenset({name}))
        await until(lambda: theirs.names == names)
        assert theirs.calls == [names]


async def test_hints_larger_than_a_notification_still_wake_everyone(url: str) -> None:
    names = frozenset(f"{n:03d}-" + "long" * 24 for n in range(200))
    async with listening(url) as (one, _), listening(url) as (_, theirs):
        one.hint(names)
        await until(lambda: bool(theirs.calls))
        assert "*" in theirs.names or names <= theirs.names
        one.hint(frozenset({"bob"}))
        await until(lambda: "bob" in theirs.names)


@pytest.mark.parametrize("size", [7898, 7899, 7900, 7901, 7999, 8000, 8001])
async def test_no_size_of_hint_breaks_the_carrier(url: str, size: int) -> None:
    names = [f"{n:099d}" for n in range(size // 100)]
    names.append("z" * (size - len(",".join([*names, ""]))))
    assert len(",".join(names)) == size
    async with listening(url) as (one, _), listening(url) as (_, theirs):
        one.hint(frozenset(names))
        await until(lambda: bool(theirs.calls))
        assert "*" in theirs.names or theirs.names == set(names)
        assert one.changes == [False, True]


async def test_mail_to_very_many_at_once_wakes_a_waiter_at_another_office(url: str) -> None:
    async with replica(url) as here, replica(url) as there:
        alice = await here.identify(name="alice")
        names = [f"{n:03d}-" + "long" * 24 for n in range(120)]
        last = await there.identify(name=names[-1])
        waiter = asyncio.create_task(there.wait(last, within=LONG))
        await until(lambda: there._bells.names() == [names[-1]])
        await here.send(alice, Draft(to=tuple(names), content="to all of you"))
        (leased,) = (await waiter).leased
        assert leased.message.content == "to all of you"


class Candid(WatchedWake):
    """Takes silence for being alone, at once."""

    answer = 0.0


async def test_whoever_is_alone_troubles_nobody_with_hints(url: str) -> None:
    wake, ear = Candid(url), Ear()
    connection = await asyncpg.connect(url)
    heard: list[object] = []
    await connection.add_listener("postoffice", lambda *told: heard.append(told[-1]))
    try:
        await wake.open(ear)
        await until(lambda: wake.healthy and heard == [""])
        wake.hint(frozenset({"bob"}))
        assert ear.calls == [{"bob"}]
        wake.hint(frozenset({"keys:bob"}))
        await until(lambda: heard == ["", "keys:bob"])
    finally:
        await wake.close()
        await connection.close()


async def test_whoever_comes_is_heard_of_and_told_that_it_is_not_alone(url: str) -> None:
    first, second, mine, theirs = Candid(url), Candid(url), Ear(), Ear()
    await first.open(mine)
    await until(lambda: first.healthy and first.alone)
    await second.open(theirs)
    await until(lambda: second.healthy and not first.alone and not second.alone)
    first.hint(frozenset({"alice"}))
    second.hint(frozenset({"bob"}))
    await until(lambda: "alice" in theirs.names and "bob" in mine.names)
    await second.close()
    await first.close()


async def test_whoever_says_nothing_any_more_is_gone(url: str) -> None:
    class Forgetful(Candid):
        memory = 0.5

    first, second, ear = Forgetful(url), Candid(url), Ear()
    await first.open(ear)
    await second.open(ear)
    await until(lambda: second.healthy and not first.alone)
    await second.close()
    await until(lambda: first.alone)
    await first.close()


async def test_it_reconnects_after_its_connection_is_killed(url: str) -> None:
    async with listening(url) as (one, _), listening(url) as (other, theirs):
        assert await kill_listeners(url) == 2
        await until(lambda: one.changes == other.changes == [False, True, False, True])
        one.hint(frozenset({"after"}))
        await until(lambda: "after" in theirs.names)


async def test_whoever_only_listens_notices_that_its_connection_has_died_without_a_word(url: str) -> None:
    class Impatient(WatchedWake):
        quiet = patience = 0.3

    async with proxied(socket_of(url)) as proxy:
        wake, ear = Impatient(f"postgresql://postgres@127.0.0.1:{proxy.port}{urlsplit(url).path}"), Ear()
        await wake.open(ear)
        await until(lambda: wake.healthy)
        proxy.rule = Rule(silent=True)
        await until(lambda: not wake.healthy)
        proxy.rule = PASS
        await until(lambda: wake.healthy)
        async with listening(url) as (other, _):
            other.hint(frozenset({"after"}))
            await until(lambda: "after" in ear.names)
        await wake.close()


async def test_a_waiter_survives_the_loss_of_every_connection(url: str) -> None:
    async with replica(url) as here, replica(url) as there:
        alice, bob = await here.identify(name="alice"), await there.identify(name="bob")
        waiter = asyncio.create_task(there.wait(bob, within=LONG))
        await until(lambda: there._bells.names() == ["bob"])
        await there.identify(name="carol")  # after which its first look is over: cut off in its midst, it would be told so
        await kill_listeners(url)
        for office in (here, there):
            wake = office.wake
            assert isinstance(wake, WatchedWake)
            await until(lambda wake=wake: wake.changes[-2:] == [False, True] and len(wake.changes) >= 4)  # type: ignore[misc]
        accepted = await here.send(alice, Draft(to="bob", content="hello"))
        (leased,) = (await waiter).leased
        assert leased.message.id == accepted.message_id


async def test_without_a_server_hints_are_still_heard_at_home() -> None:
    wake, ear = WatchedWake("postgresql://nobody@127.0.0.1:1/none"), Ear()
    await wake.open(ear)
    wake.hint(frozenset({"bob"}))
    assert ear.calls == [{"bob"}]
    assert not wake.healthy
    await wake.close()
    assert wake.changes == [False]


async def test_a_hint_given_while_the_connection_is_down_goes_out_with_the_next(url: str) -> None:
    async with listening(url) as (_, theirs):
        late, ear = WatchedWake(url), Ear()
        await late.open(ear)
        late.hint(frozenset({"early"}))
        assert not late.healthy
        await until(lambda: "early" in theirs.names)
        await late.close()


async def test_closing_leaves_no_connection_behind(postgres: PostgresServer, url: str) -> None:
    async with listening(url) as (one, _):
        one.hint(frozenset({"bob"}))
    connection = await asyncpg.connect(postgres.url("postgres"))
    try:
        name = url.partition("?")[0].rpartition("/")[2]
        async with asyncio.timeout(PATIENCE):
            while await connection.fetchval("SELECT count(*) FROM pg_stat_activity WHERE datname = $1", name):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
    finally:
        await connection.close()
