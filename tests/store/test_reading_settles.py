"""Decision 6: read is settled."""

from datetime import timedelta

from postoffice.acts.mail.dead import Release
from postoffice.core.delivery import State
from postoffice.core.message import Accepted
from postoffice.core.session import Thread
from postoffice.office import PostOffice
from tests.mail import ask, people, standing, take, taken, write


def session(accepted: Accepted) -> str:
    assert accepted.session_id is not None
    return accepted.session_id


def states(thread: Thread) -> list[State]:
    return [line.state for line in thread.lines]


class TestDecision6ReadIsSettled:
    async def test_reading_a_session_settles_what_it_shows(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        accepted = await write(office, alice, "bob")
        thread = await office.history(bob, session(accepted))
        assert states(thread) == [State.ACKED]
        assert thread.unread == 0
        assert await taken(office, bob) == []

    async def test_reading_settles_no_more_than_it_shows(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        for text in ("one", "two", "three"):
            accepted = await write(office, alice, "bob", text)
        thread = await office.history(bob, session(accepted), limit=2)
        assert [line.message.content for line in thread.lines] == ["three", "two"]
        assert thread.unread == 1
        assert await taken(office, bob) == ["one"]

    async def test_reading_does_not_settle_tasks(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        asked = await ask(office, alice, "bob")
        assert states(await office.history(bob, session(asked))) == [State.PENDING]
        assert await taken(office, bob) == ["do it"]

    async def test_reading_leaves_leased_mail_with_its_holder(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        accepted = await write(office, alice, "bob")
        leased = await take(office, bob)
        assert states(await office.history(bob, session(accepted))) == [State.LEASED]
        assert (await office.ack(bob, leased.message.id, leased.token)).state is State.ACKED

    async def test_reading_ones_own_words_settles_nothing(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        accepted = await write(office, alice, "bob")
        await office.history(alice, session(accepted))
        assert await taken(office, bob) == ["hello"]

    async def test_peeking_settles_nothing(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        accepted = await write(office, alice, "bob")
        thread = await office.history(bob, session(accepted), peek=True)
        assert states(thread) == [State.PENDING]
        assert thread.unread == 1
        assert await taken(office, bob) == ["hello"]

    async def test_the_owner_looking_on_settles_nothing(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        accepted = await write(office, alice, "bob")
        thread = await office.history(office.owner(), session(accepted))
        assert [line.message.content for line in thread.lines] == ["hello"]
        assert await taken(office, bob) == ["hello"]

    async def test_looking_into_the_inbox_or_at_what_waits_settles_nothing(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        await office.inbox(bob)
        await office.waiting(bob)
        await office.search(bob, "hello")
        assert await taken(office, bob) == ["hello"]

    async def test_news_of_a_message_is_not_consumption(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        assert [event.kind for event in await office.news(bob)] == ["new_message"]
        assert await taken(office, bob) == ["hello"]

    async def test_the_sender_is_told_that_it_was_read(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        accepted = await write(office, alice, "bob")
        await office.history(bob, session(accepted))
        (receipt,) = await office.news(alice)
        assert (receipt.kind, receipt.ref, receipt.data) == ("receipt", accepted.message_id, {"by": "bob"})


class TestDecision6Unread:
    async def test_pending_mail_is_unread_and_held_mail_is_not(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        for text in ("pending", "held"):
            accepted = await write(office, alice, "bob", text)
        first, second = (await office.receive(bob, 2)).leased
        await office.nack(bob, first.message.id, first.token)
        await office.nack(bob, second.message.id, second.token, delay=timedelta(hours=1))
        assert (await office.history(bob, session(accepted), peek=True)).unread == 1
        assert (await office.agent("bob")).unread == 1
        (thread,) = (await office.inbox(bob, unread_only=True)).items
        assert thread.unread == 1

    async def test_leased_acked_and_dead_mail_is_not_unread(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        accepted = await write(office, alice, "bob")
        leased = await take(office, bob)
        assert (await office.history(bob, session(accepted), peek=True)).unread == 0
        await office.ack(bob, leased.message.id, leased.token)
        assert (await office.agent("bob")).unread == 0

    async def test_mail_held_until_it_is_released_is_not_given_out(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        accepted = await write(office, alice, "bob", hold=True)
        assert (await standing(office, alice, accepted.message_id)).state is State.HELD
        assert await taken(office, bob) == []
        await office.store.do(Release("bob", accepted.message_id))
        assert await taken(office, bob) == ["hello"]

    async def test_each_side_has_its_own_unread_count(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        accepted = await write(office, alice, "bob")
        await write(office, alice, "bob")
        await write(office, bob, "alice")
        assert (await office.history(bob, session(accepted), peek=True)).unread == 2
        assert (await office.history(alice, session(accepted), peek=True)).unread == 1
