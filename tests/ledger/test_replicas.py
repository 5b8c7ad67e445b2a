"""Two offices over one PostgreSQL: one speaks with the ledger, and when it is gone the other does."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from tests.engines import PostgresEngine, PostgresServer
from tests.ledger.emulator import Emulator
from tests.ledger.house import town, until


@pytest.fixture
async def engine(postgres: PostgresServer) -> AsyncIterator[PostgresEngine]:
    url = await postgres.borrow()
    yield PostgresEngine(url)
    await postgres.give_back(url)


LASTS = 5.0  # seconds: long enough that a machine which is slow today does not lose it


async def test_one_speaks_and_the_other_takes_over(engine: PostgresEngine, ledger: Emulator) -> None:
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(town(engine, ledger, role_lasts=LASTS))
        speaks = [first.bridge._speaking]

        async def first_speaks() -> bool:
            return speaks[0]()

        await until(first_speaks)
        async with town(engine, ledger, role_lasts=LASTS) as second:
            await first.settle("quinn", "mindy")
            second.accounts = first.accounts
            await asyncio.sleep(0.6)
            assert not second.bridge._speaking()
            assert (first.bridge._mirror.asked > 0, second.bridge._mirror.asked) == (True, 0)
            # Mail accepted by the one that is silent goes by the one that speaks.
            await first.confirmed("quinn", await second.send("quinn", "mindy"))
            await stack.aclose()
            id = await second.send("quinn", "mindy")
            await second.confirmed("quinn", id)
            assert second.bridge._speaking()
            assert len(await second.waiting("mindy")) == 2
    assert len(ledger.topic(first.accounts["mindy"].inbound_topic_id).messages) == 2


async def test_whoever_signs_second_submits_what_was_signed_first(engine: PostgresEngine, ledger: Emulator) -> None:
    """Both believe for a moment that they speak: the bytes that were kept first are the only ones anybody submits."""
    async with town(engine, ledger, silent=True) as first, town(engine, ledger, silent=True) as second:
        await first.settle("quinn", "mindy")
        await first.send("quinn", "mindy")
        await asyncio.gather(*(each.submit() for each in (first, second)))
        assert len(ledger.topic(first.accounts["mindy"].inbound_topic_id).messages) == 1
        for one in (first, second):
            one.bridge._network.close()
            await one.bridge._mirror.close()
