"""Decisions 4 and 5: the order in which mail is given out, and pop."""

import asyncio
from datetime import timedelta

import pytest

from postoffice.core.delivery import State
from postoffice.core.errors import LeaseLost
from postoffice.office import PostOffice
from tests.engines import Engine
from tests.mail import people, standing, take, taken, write


class TestDecision4Order:
    async def test_without_priorities_mail_is_first_in_first_out(self, office: PostOffice) -> None:
        alice, carol, bob = await people(office, "alice", "carol", "bob")
        for n in range(6):
            await write(office, (alice, carol)[n % 2], "bob", f"letter {n}")
        assert await taken(office, bob) == [f"letter {n}" for n in range(6)]

    async def test_priority_comes_before_age_and_age_decides_within_one(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        for text, priority in (("normal 1", None), ("late", 5), ("urgent 1", 1), ("normal 2", 3), ("urgent 2", 1)):
            await write(office, alice, "bob", text, priority=priority)
        assert await taken(office, bob) == ["urgent 1", "urgent 2", "normal 1", "normal 2", "late"]

    async def test_what_waits_is_listed_in_the_order_it_is_given_out(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        for text, priority in (("second", 3), ("third", 4), ("first", 1)):
            await write(office, alice, "bob", text, priority=priority)
        listed = [message.content for message in (await office.waiting(bob)).items]
        assert listed == await taken(office, bob) == ["first", "second", "third"]

    async def test_a_nacked_message_keeps_its_place(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        for text in ("one", "two", "three"):
            await write(office, alice, "bob", text)
        leased = await take(office, bob)
        await office.nack(bob, leased.message.id, leased.token)
        assert await taken(office, bob) == ["one", "two", "three"]

    async def test_a_message_whose_lease_ran_out_keeps_its_place(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        for text in ("one", "two"):
            await write(office, alice, "bob", text)
        await take(office, bob)
        await engine.advance(timedelta(minutes=1))
        assert await taken(office, bob) == ["one", "two"]

    async def test_each_mailbox_counts_its_own_mail(self, office: PostOffice) -> None:
        alice, bob, carol = await people(office, "alice", "bob", "carol")
        for recipient in ("bob", "carol", "bob"):
            await write(office, alice, recipient)
        assert [leased.number for leased in (await office.receive(bob)).leased] == [1, 2]
        assert [leased.number for leased in (await office.receive(carol)).leased] == [1]

    async def test_numbers_given_to_senders_at_once_have_no_gap_and_no_double(self, office: PostOffice) -> None:
        senders = await people(office, *(f"sender-{n}" for n in range(10)))
        (bob,) = await people(office, "bob")
        await asyncio.gather(*(write(office, sender, "bob", f"{sender.name} {n}") for sender in senders for n in range(5)))
        leased = (await office.receive(bob, 100)).leased
        assert [item.number for item in leased] == list(range(1, 51))

    async def test_one_senders_letters_keep_their_order_among_many_senders(self, office: PostOffice) -> None:
        senders = await people(office, *(f"sender-{n}" for n in range(5)))
        (bob,) = await people(office, "bob")

        async def write_ten(sender: int) -> None:
            for n in range(10):
                await write(office, senders[sender], "bob", f"{sender}:{n}")

        await asyncio.gather(*(write_ten(sender) for sender in range(5)))
        texts = await taken(office, bob)
        for sender in range(5):
            assert [text for text in texts if (text or "").startswith(f"{sender}:")] == [f"{sender}:{n}" for n in range(10)]

    async def test_a_resume_cursor_is_the_number_of_the_mail(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob", "one")
        await write(office, alice, "bob", "two")
        first, second = (await office.receive(bob)).leased
        (event,) = await office.news(bob, after=first.number)
        assert (event.number, event.ref) == (second.number, second.message.id)


class TestDecision5Pop:
    async def test_a_popped_message_is_taken_and_settled_at_once(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        accepted = await write(office, alice, "bob")
        (popped,) = await office.pop(bob)
        assert popped.message.id == accepted.message_id
        assert (await standing(office, alice, accepted.message_id)).state is State.ACKED

    async def test_popped_mail_never_comes_back(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        await office.pop(bob)
        await engine.advance(timedelta(days=1))
        await office.upkeep.sweep()
        assert await office.pop(bob) == ()

    async def test_popped_mail_stays_in_history(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        accepted = await write(office, alice, "bob")
        await office.pop(bob)
        assert accepted.session_id is not None
        (line,) = (await office.history(bob, accepted.session_id)).lines
        assert line.message.content == "hello"
        assert line.is_read

    async def test_popping_takes_in_order_and_no_more_than_asked(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        for text, priority in (("two", 3), ("three", 3), ("one", 1)):
            await write(office, alice, "bob", text, priority=priority)
        assert [leased.message.content for leased in await office.pop(bob, 2)] == ["one", "two"]
        assert [leased.message.content for leased in await office.pop(bob)] == ["three"]

    async def test_an_empty_mailbox_pops_nothing(self, office: PostOffice) -> None:
        (bob,) = await people(office, "bob")
        assert await office.pop(bob) == ()

    async def test_what_was_popped_cannot_be_given_back(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        (popped,) = await office.pop(bob)
        with pytest.raises(LeaseLost):
            await office.nack(bob, popped.message.id, popped.token)

    async def test_many_pops_at_once_never_share_a_message(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        for n in range(30):
            await write(office, alice, "bob", f"letter {n}")
        pops = await asyncio.gather(*(office.pop(bob) for _ in range(40)))
        texts = [leased.message.content or "" for popped in pops for leased in popped]
        assert sorted(texts) == sorted(f"letter {n}" for n in range(30))
