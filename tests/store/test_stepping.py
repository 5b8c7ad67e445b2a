"""The store's clock may step back: nobody is kept waiting for as long as that step was."""

from datetime import timedelta

import pytest

from postoffice.acts.people.agents import Appear, Seen
from postoffice.core.agent import Presence
from postoffice.core.errors import RateLimited
from postoffice.store.store import Store
from tests.engines import Engine
from tests.mail import office_with, people, write

AN_HOUR = timedelta(hours=1)
A_MINUTE = timedelta(minutes=1)
LASTS = timedelta(seconds=15)


async def test_a_rate_is_over_after_its_window_though_the_clock_stepped_back(engine: Engine) -> None:
    async with office_with(engine, sends_per_minute=2) as office:
        (alice,) = await people(office, "alice")
        for _ in range(2):
            await write(office, alice, "bob")
        await engine.advance(-A_MINUTE / 2)
        with pytest.raises(RateLimited):
            await write(office, alice, "bob")
        await engine.advance(-AN_HOUR)
        for _ in range(2):
            await write(office, alice, "bob")
        with pytest.raises(RateLimited):
            await write(office, alice, "bob")


async def test_a_duty_is_free_after_the_clock_stepped_back_and_held_again(engine: Engine, store: Store) -> None:
    if engine.name == "sqlite":
        assert await store.hold("sweep", "two", LASTS), "its duties are its one process's"
        return
    assert await store.hold("sweep", "one", LASTS)
    assert not await store.hold("sweep", "two", LASTS)
    await engine.advance(-AN_HOUR)
    assert await store.hold("sweep", "two", LASTS)
    assert not await store.hold("sweep", "one", LASTS)
    await engine.advance(LASTS)
    assert await store.hold("sweep", "one", LASTS)


async def test_whoever_was_seen_before_the_clock_stepped_back_does_not_count_as_there_for_as_long(engine: Engine, store: Store) -> None:
    await store.do(Appear("alice"))
    await engine.advance(-AN_HOUR)
    await store.do(Seen({"alice": timedelta(0)}))
    await engine.advance(2 * A_MINUTE)
    alice = await store.agents.named("alice")
    assert alice is not None
    assert alice.presence is Presence.OFFLINE
