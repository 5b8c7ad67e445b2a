"""PostgreSQL ends every connection while something is under way, at every moment of it."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from postoffice.core.draft import Draft
from postoffice.core.errors import DatabaseLost, OutcomeUnknown
from postoffice.core.message import Accepted
from postoffice.office import PostOffice
from tests.engines import PostgresServer
from tests.machine.ground import PostgresGround
from tests.machine.machine import LIMITS, asked_again

ROUNDS = 60


@pytest.fixture
async def ground(postgres: PostgresServer) -> AsyncIterator[PostgresGround]:
    opened = PostgresGround(postgres, LIMITS)
    await opened.open()
    yield opened
    await opened.close()


async def a_moment(length: int) -> None:
    for _ in range(length):
        await asyncio.sleep(0.0002)


async def test_a_send_is_accepted_or_refused_in_our_own_words_and_asking_again_makes_it_one(ground: PostgresGround) -> None:
    office: PostOffice = ground.doors[0].office
    alice, bob = await office.identify(name="alice"), await office.identify(name="bob")
    for n in range(ROUNDS):
        draft = Draft(to="bob", content=str(n), client_id=str(n))
        await ground.arm()
        sending = asyncio.create_task(office.send(alice, draft))
        await a_moment(n % 20)
        await ground.crash()
        (answer,) = await asyncio.gather(sending, return_exceptions=True)
        assert isinstance(answer, Accepted | OutcomeUnknown | DatabaseLost), repr(answer)
        again, unsure = await asked_again(office, alice, draft)
        assert again.duplicate or not isinstance(answer, Accepted)
        assert not (again.duplicate and isinstance(answer, DatabaseLost) and not unsure), "what was said not to be stored was stored"
        assert [taken.message.content for taken in await office.pop(bob, 10)] == [str(n)]


async def test_a_read_is_asked_again_and_answered(ground: PostgresGround) -> None:
    office: PostOffice = ground.doors[0].office
    bob = await office.identify(name="bob")
    for n in range(ROUNDS):
        await ground.arm()
        reading = [asyncio.create_task(office.counts(bob)) for _ in range(4)]
        await a_moment(n % 10)
        await ground.crash()
        for answer in await asyncio.gather(*reading, return_exceptions=True):
            assert not isinstance(answer, BaseException) or isinstance(answer, DatabaseLost), repr(answer)
        assert (await office.counts(bob)).pending == 0
