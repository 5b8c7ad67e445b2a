"""What people see who look over everybody's shoulder, on both engines: conversations, and who waits on whom."""

from datetime import timedelta

import pytest

from postoffice.core.errors import OwnerOnly
from postoffice.office import PostOffice
from tests.engines import Engine
from tests.mail import ask, pages, people, take, write


class TestConversations:
    async def test_each_is_listed_once_by_what_was_said_last(self, office: PostOffice) -> None:
        alice, bob, carol = await people(office, "alice", "bob", "carol")
        first = await write(office, alice, "bob", "one", subject="plan")
        await write(office, carol, "bob", "apart", subject="other")
        await write(office, bob, "alice", "two", subject="plan")
        found = (await office.talks(office.owner())).items
        assert [(talk.last.content, talk.letters) for talk in found] == [("two", 2), ("apart", 1)]
        assert found[0].session_id == first.session_id
        assert [[talk.last.content for talk in page] for page in await pages(office.talks, office.owner(), limit=1)] == [["two"], ["apart"]]

    async def test_a_letter_to_all_is_one_row_with_where_it_stands(self, office: PostOffice) -> None:
        alice, bob, _ = await people(office, "alice", "bob", "carol")
        await write(office, alice, "ALL", "to all")
        await take(office, bob)
        (talk,) = (await office.talks(office.owner())).items
        assert (talk.recipients, talk.waiting, talk.leased, talk.session_id) == (2, 1, 1, None)

    async def test_only_those_in_which_something_waits(self, office: PostOffice) -> None:
        alice, bob, _ = await people(office, "alice", "bob", "carol")
        await write(office, alice, "bob", "taken")
        await take(office, bob)
        await write(office, alice, "carol", "waits")
        found = await office.talks(office.owner(), waiting_only=True)
        assert [talk.last.content for talk in found.items] == ["waits"]


class TestBetweenTwo:
    async def test_all_they_said_to_each_other_and_nothing_else(self, office: PostOffice) -> None:
        alice, bob, carol = await people(office, "alice", "bob", "carol")
        await write(office, alice, "bob", "one", subject="plan")
        await write(office, bob, "alice", "two", subject="lunch")
        await write(office, carol, "bob", "apart", subject="plan")
        said = await office.between(office.owner(), "Bob", "ALICE")
        assert [(aside.line.message.content, aside.subject) for aside in said] == [("two", "lunch"), ("one", "plan")]
        assert [aside.line.message.content for aside in await office.between(bob, "bob", "alice", "PLAN")] == ["one"]
        with pytest.raises(OwnerOnly):
            await office.between(carol, "alice", "bob")


class TestWhoWaits:
    async def test_letters_that_were_not_taken_and_work_that_is_not_done(self, office: PostOffice, engine: Engine) -> None:
        alice, bob, carol = await people(office, "alice", "bob", "carol")
        await ask(office, carol, "alice")
        await engine.advance(timedelta(hours=1))
        await write(office, alice, "bob", "one")
        await write(office, alice, "bob", "two")
        await write(office, bob, "bob", "to myself")
        found = await office.who_waits(office.owner())
        assert [(item.waiter, item.waited_on, item.letters, item.tasks) for item in found] == [
            ("carol", "alice", 0, 1),
            ("alice", "bob", 2, 0),
        ]
        await take(office, bob)
        await take(office, bob)
        assert [item.waited_on for item in await office.who_waits(office.owner())] == ["alice"]

    async def test_an_agents_custom_is_how_long_its_mail_waited(self, office: PostOffice, engine: Engine) -> None:
        alice, bob, _ = await people(office, "alice", "bob", "carol")
        for _ in range(3):
            await write(office, alice, "bob")
            await engine.advance(timedelta(minutes=5))
            await take(office, bob)
        await write(office, alice, "carol")
        (custom,) = await office.customs(office.owner())
        assert (custom.name, custom.taken) == ("bob", 3)
        assert timedelta(minutes=5) <= custom.wait < timedelta(minutes=6)

    async def test_only_the_owner_is_told(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        for verb in (office.talks, office.customs, office.who_waits):
            with pytest.raises(OwnerOnly):
                await verb(alice)
