"""One agent cannot take all the waits there are: it has so many lines open at a time, and others have theirs."""

import asyncio
from datetime import timedelta

import pytest

from postoffice.config import Settings
from postoffice.core.errors import TooManyWaits
from postoffice.core.limits import Limits
from postoffice.doors.faults import fault
from postoffice.serve.run import sharing
from tests.engines import Engine
from tests.mail import office_with, people, write

A_MINUTE = timedelta(minutes=1)


async def test_an_agent_has_so_many_lines_open_whichever_they_are_and_others_have_theirs(engine: Engine) -> None:
    async with office_with(engine, waits=3) as office:
        alice, bob = await people(office, "alice", "bob")
        watched = office.watch(alice, None)
        await anext(watched)
        waiting = asyncio.create_task(office.wait(alice, within=A_MINUTE))
        listening = asyncio.create_task(office.news(alice, 0, within=A_MINUTE))
        await asyncio.sleep(0)
        for refused in (office.wait(alice, within=A_MINUTE), office.news(alice, 0, within=A_MINUTE), anext(office.watch(alice, None))):
            with pytest.raises(TooManyWaits, match="3"):
                await refused
        assert (await office.news(alice, 0)) == []  # which waits for nothing
        others = asyncio.create_task(office.wait(bob, within=A_MINUTE))
        await asyncio.sleep(0)
        assert not others.done()
        await write(office, bob, "alice")
        assert len((await waiting).leased) == len(await listening) == 1
        await watched.aclose()  # type: ignore[attr-defined]
        await write(office, alice, "bob")
        assert len((await others).leased) == 1
        assert office.places._taken == {}


def test_no_agent_has_more_than_a_share_of_the_descriptors() -> None:
    assert sharing(Settings(), 256).limits.waits == 32
    assert sharing(Settings(), 1 << 20).limits.waits == 1000
    assert sharing(Settings(limits=Limits(waits=5)), 256).limits.waits == 5
    assert sharing(Settings(), None).limits.waits == 1000


def test_a_socket_too_many_is_closed_with_the_code_of_what_is_limited() -> None:
    refused = fault(TooManyWaits(name="alice", count=3))
    assert (refused.status, refused.close_code) == (429, 4029)
