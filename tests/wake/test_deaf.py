"""Every hint is dropped, and nothing changes but latency: each office also looks, once a tick."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from postoffice.core.delivery import State
from postoffice.core.draft import Draft
from postoffice.core.event import Kind
from postoffice.office import OfficeRules, PostOffice
from postoffice.wake.protocol import Heard
from tests.engines import Engine
from tests.wake.patience import PATIENCE, until

LONG = timedelta(seconds=PATIENCE)


class DeafWake:
    """Carries nothing to nobody."""

    healthy = False
    trouble: str | None = None

    def __init__(self) -> None:
        self.dropped = 0

    async def open(self, heard: Heard) -> None:
        pass

    def hint(self, agents: frozenset[str]) -> None:
        self.dropped += bool(agents)

    async def close(self) -> None:
        pass


@pytest.fixture
async def office(engine: Engine) -> AsyncIterator[PostOffice]:
    async with PostOffice(engine.store(), DeafWake(), OfficeRules(tick=0.05)) as opened:
        yield opened


def waits(office: PostOffice, name: str) -> bool:
    return name in office._bells.names()


def dropped(office: PostOffice) -> int:
    assert isinstance(office.wake, DeafWake)
    return office.wake.dropped


async def test_a_waiter_still_gets_its_mail(office: PostOffice) -> None:
    alice, bob = await office.identify(name="alice"), await office.identify(name="bob")
    waiter = asyncio.create_task(office.wait(bob, within=LONG))
    await until(lambda: waits(office, "bob"))
    accepted = await office.send(alice, Draft(to="bob", content="hello"))
    (leased,) = (await waiter).leased
    assert leased.message.id == accepted.message_id
    assert dropped(office)


async def test_news_still_comes(office: PostOffice) -> None:
    alice, bob = await office.identify(name="alice"), await office.identify(name="bob")
    waiter = asyncio.create_task(office.news(bob, within=LONG))
    await until(lambda: waits(office, "bob"))
    accepted = await office.send(alice, Draft(to="bob", content="hello"))
    (event,) = await waiter
    assert (event.kind, event.ref) == (Kind.NEW_MESSAGE, accepted.message_id)
    later = asyncio.create_task(office.news(bob, event.number, within=LONG))
    await office.send(alice, Draft(to="bob", content="again"))
    assert [event.kind for event in await later] == [Kind.NEW_MESSAGE]


async def test_every_waiter_gets_its_own_mail(office: PostOffice) -> None:
    sender = await office.identify(name="sender")
    names = [f"agent-{n}" for n in range(10)]
    callers = [await office.identify(name=name) for name in names]
    waiters = [asyncio.create_task(office.wait(caller, within=LONG)) for caller in callers]
    await until(lambda: all(waits(office, name) for name in names))
    for name in names:
        await office.send(sender, Draft(to=name, content=f"for {name}"))
    taken = [[leased.message.content for leased in turned.leased] for turned in await asyncio.gather(*waiters)]
    assert taken == [[f"for {name}"] for name in names]


async def test_one_of_many_waiters_of_a_mailbox_gets_the_message_and_the_others_go_on_waiting(office: PostOffice) -> None:
    alice, bob = await office.identify(name="alice"), await office.identify(name="bob")
    waiters = [asyncio.create_task(office.wait(bob, within=LONG)) for _ in range(5)]
    await until(lambda: waits(office, "bob"))
    for n in range(5):
        await office.send(alice, Draft(to="bob", content=str(n)))
        await until(lambda n=n: sum(waiter.done() for waiter in waiters) > n)  # type: ignore[misc]
    taken = [leased.message.content for turned in await asyncio.gather(*waiters) for leased in turned.leased]
    assert sorted(str(content) for content in taken) == ["0", "1", "2", "3", "4"]


async def test_mail_given_back_reaches_whoever_waits(office: PostOffice) -> None:
    alice, bob = await office.identify(name="alice"), await office.identify(name="bob")
    await office.send(alice, Draft(to="bob", content="hello"))
    (first,) = (await office.receive(bob)).leased
    waiter = asyncio.create_task(office.wait(bob, within=LONG))
    await until(lambda: waits(office, "bob"))
    await office.nack(bob, first.message.id, first.token)
    (second,) = (await waiter).leased
    assert (second.message, second.attempt) == (first.message, 2)


async def test_a_lease_that_ran_out_reaches_whoever_waits(office: PostOffice, engine: Engine) -> None:
    alice, bob = await office.identify(name="alice"), await office.identify(name="bob")
    await office.send(alice, Draft(to="bob", content="hello"))
    (first,) = (await office.receive(bob, visible_for=timedelta(hours=1))).leased
    waiter = asyncio.create_task(office.wait(bob, within=LONG))
    await until(lambda: waits(office, "bob"))
    await engine.advance(timedelta(hours=2))
    (second,) = (await waiter).leased
    assert second.message == first.message


async def test_mail_whose_delay_is_over_reaches_whoever_waits(office: PostOffice, engine: Engine) -> None:
    alice, bob = await office.identify(name="alice"), await office.identify(name="bob")
    await office.send(alice, Draft(to="bob", content="hello"))
    (first,) = (await office.receive(bob)).leased
    held = await office.nack(bob, first.message.id, first.token, delay=timedelta(hours=1))
    assert held.state is State.HELD
    waiter = asyncio.create_task(office.wait(bob, within=LONG))
    await until(lambda: waits(office, "bob"))
    await engine.advance(timedelta(hours=2))
    (second,) = (await waiter).leased
    assert second.message == first.message


async def test_a_waiter_nobody_writes_to_goes_home_empty_handed(office: PostOffice) -> None:
    bob = await office.identify(name="bob")
    assert not (await office.wait(bob, within=timedelta(milliseconds=200))).leased
    assert not await office.news(bob, within=timedelta(milliseconds=200))
    assert not office._bells.names()
