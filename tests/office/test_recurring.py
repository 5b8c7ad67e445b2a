"""Letters that are sent again and again: each time exactly once, and by nobody once it is stopped."""

import asyncio
from datetime import timedelta

import pytest

from postoffice.core.agent import Caller
from postoffice.core.errors import BadMessage, Invalid, NoSuchRecurring, OwnerOnly, TooManyRecurring
from postoffice.core.recurring import Missed, Recurring, Template
from postoffice.office import PostOffice
from tests.engines import Engine
from tests.mail import notices, office_with, people, taken

HOUR = timedelta(hours=1)
HOURLY = "0 * * * *"


async def begun(office: PostOffice, sender: Caller, every: str = HOURLY, missed: Missed = Missed.ONCE, to: str = "bob") -> Recurring:
    return await office.recurring.begin(sender, every, Template(to=to, subject="Stand-up", content="Where are we?"), "UTC", missed)


async def pass_until_due(engine: Engine, office: PostOffice) -> None:
    """Until its time has just come."""
    left = await office.store.mail.next_due()
    assert left is not None
    await engine.advance(left + timedelta(seconds=1))


class TestSent:
    async def test_it_is_sent_each_time_it_comes_and_not_before(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        one = await begun(office, alice)
        assert timedelta(0) < one.next_at - one.created_at <= HOUR
        assert await office.recurring.send_due() == 0
        for count in (1, 2):
            await pass_until_due(engine, office)
            assert await office.recurring.send_due() == 1
            assert await office.recurring.send_due() == 0
            assert [message.content for message in (await office.waiting(bob)).items] == ["Where are we?"] * count
        (kept,) = await office.recurring.all(alice)
        assert (kept.sent, kept.trouble) == (2, None)
        assert kept.last_at is not None
        assert timedelta(0) < kept.next_at - kept.last_at <= HOUR

    async def test_many_processes_at_once_send_it_once(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        await begun(office, alice)
        await pass_until_due(engine, office)
        assert sum(await asyncio.gather(*(office.recurring.send_due() for _ in range(8)))) == 1
        assert await taken(office, bob) == ["Where are we?"]

    @pytest.mark.parametrize(("missed", "sent"), [(Missed.ONCE, 1), (Missed.SKIP, 0)])
    async def test_what_was_missed_is_sent_once_or_skipped(self, office: PostOffice, engine: Engine, missed: Missed, sent: int) -> None:
        alice, bob = await people(office, "alice", "bob")
        one = await begun(office, alice, missed=missed)
        await pass_until_due(engine, office)
        await engine.advance(5 * HOUR + timedelta(minutes=2))
        assert await office.recurring.send_due() == 1
        assert await office.recurring.send_due() == 0
        assert len(await office.pop(bob, 10)) == sent
        (kept,) = await office.recurring.all(alice)
        assert kept.next_at > one.next_at + 5 * HOUR
        await pass_until_due(engine, office)
        await office.recurring.send_due()
        assert len(await office.pop(bob, 10)) == 1

    async def test_a_refusal_is_told_once_and_it_goes_on(self, engine: Engine) -> None:
        async with office_with(engine, depth=1) as office:
            alice, bob = await people(office, "alice", "bob")
            one = await begun(office, alice)
            for _ in range(3):
                await pass_until_due(engine, office)
                await office.recurring.send_due()
            (kept,) = await office.recurring.all(alice)
            assert kept.sent == 1
            assert "bob" in (kept.trouble or "")
            (notice,) = await notices(office, alice)
            assert notice.payload["recurring_id"] == one.id
            await office.pop(bob)
            await pass_until_due(engine, office)
            await office.recurring.send_due()
            (kept,) = await office.recurring.all(alice)
            assert (kept.sent, kept.trouble) == (2, None)

    async def test_stopped_it_is_sent_no_more(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        one = await begun(office, alice)
        await pass_until_due(engine, office)
        assert (await office.recurring.stop(alice, one.id)).id == one.id
        assert await office.recurring.send_due() == 0
        assert await taken(office, bob) == []
        with pytest.raises(NoSuchRecurring):
            await office.recurring.stop(alice, one.id)


class TestWhose:
    async def test_the_owner_sees_and_stops_any_and_nobody_else_does(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        one = await begun(office, alice)
        assert await office.recurring.all(bob) == ()
        with pytest.raises(OwnerOnly):
            await office.recurring.all(bob, everyone=True)
        with pytest.raises(NoSuchRecurring):
            await office.recurring.stop(bob, one.id)
        assert [item.sender for item in await office.recurring.all(office.owner(), everyone=True)] == ["alice"]
        await office.recurring.stop(office.owner(), one.id[-8:])
        assert await office.recurring.all(alice) == ()

    async def test_an_agent_has_a_hundred_at_most(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        await asyncio.gather(*(begun(office, alice) for _ in range(100)))
        with pytest.raises(TooManyRecurring):
            await begun(office, alice)

    async def test_what_could_never_be_sent_is_refused_at_once(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        with pytest.raises(Invalid):
            await begun(office, alice, "every day")
        with pytest.raises(BadMessage):
            await office.recurring.begin(alice, HOURLY, Template(to="bob"))
