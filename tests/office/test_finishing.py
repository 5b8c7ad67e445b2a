"""People finish their mail: seen, kept unread, done, snoozed; and nobody else's mail is changed by looking."""

from datetime import UTC, datetime, timedelta

import pytest

from postoffice.core.agent import Caller, Card
from postoffice.core.delivery import State
from postoffice.core.errors import Invalid, NoSuchMessage, NotWaiting, OwnerOnly, PersonsOnly
from postoffice.core.event import Kind
from postoffice.office import PostOffice
from tests.engines import Engine
from tests.mail import people, standing, take, taken, write


async def marked(office: PostOffice, name: str) -> Caller:
    """An agent whom the owner has marked as a person."""
    caller = await office.identify(name=name)
    await office.update_card(office.owner(), {"person": True}, of=name)
    return caller


async def unread(office: PostOffice, name: str) -> tuple[int, int, int]:
    """As the mailbox, the directory and the sessions count it."""
    me = Caller(name, verified=True)
    sessions = sum(thread.unread for thread in (await office.inbox(me)).items)
    return (await office.counts(me)).unread, (await office.agent(name)).unread, sessions


class TestSeen:
    async def test_what_a_person_opens_is_no_longer_unread_but_still_waits_and_its_sender_hears_so(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        owner = office.owner()
        letter = (await write(office, alice, "owner")).message_id
        assert await unread(office, "owner") == (1, 1, 1)
        seen = await office.seen(owner, letter)
        assert (seen.state, seen.seen_at is not None) == (State.PENDING, True)
        assert await unread(office, "owner") == (0, 0, 0)
        assert [message.id for message in (await office.waiting(owner)).items] == [letter]
        assert (await standing(office, alice, letter)).in_words == "seen"
        (event,) = [event for event in await office.news(alice) if event.kind is Kind.SEEN]
        assert (event.ref, event.data) == (letter, {"by": "owner"})
        await office.seen(owner, letter)
        assert len([event for event in await office.news(alice) if event.kind is Kind.SEEN]) == 1
        assert (await office.inbox(owner, unread_only=True)).items == ()

    async def test_opening_a_session_is_seeing_what_it_shows(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        owner, hanna = office.owner(), await marked(office, "hanna")
        for name, reader in (("owner", owner), ("hanna", hanna)):
            sent = await write(office, alice, name)
            assert sent.session_id is not None
            peeked = await office.history(reader, sent.session_id, peek=True)
            assert not peeked.lines[0].is_read
            opened = await office.history(reader, sent.session_id)
            assert (opened.unread, opened.lines[0].is_read, opened.lines[0].state) == (0, True, State.PENDING)
            assert await unread(office, name) == (0, 0, 0)

    async def test_looking_into_anothers_mailbox_changes_nothing(self, office: PostOffice) -> None:
        alice, _ = await people(office, "alice", "bob")
        sent = await write(office, alice, "bob")
        assert sent.session_id is not None
        await office.history(office.owner(), sent.session_id)
        assert await unread(office, "bob") == (1, 1, 1)
        with pytest.raises(NoSuchMessage):
            await office.seen(office.owner(), sent.message_id)

    async def test_only_people_finish_mail(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        letter = (await write(office, alice, "bob")).message_id
        for verb in (office.seen, office.keep_unread, office.done, office.snooze):
            with pytest.raises(PersonsOnly):
                await verb(bob, letter)
        with pytest.raises(PersonsOnly):
            await office.all_seen(bob, [letter])

    async def test_only_the_owner_marks_a_person(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        with pytest.raises(OwnerOnly):
            await office.update_card(alice, {"person": True})
        with pytest.raises(OwnerOnly):
            await office.register("hanna", Card(person=True), by=alice)
        await office.register("hanna", Card(person=True), by=office.owner())
        assert (await office.agent("hanna")).card.person

    async def test_kept_unread_it_counts_as_before(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        owner = office.owner()
        letter = (await write(office, alice, "owner")).message_id
        await office.seen(owner, letter)
        kept = await office.keep_unread(owner, letter)
        assert (kept.seen_at, await unread(office, "owner")) == (None, (1, 1, 1))
        assert (await standing(office, alice, letter)).in_words == "pending"

    async def test_seen_mail_is_taken_and_given_back_as_any_other(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        hanna = await marked(office, "hanna")
        letter = (await write(office, alice, "hanna")).message_id
        await office.seen(hanna, letter)
        leased = await take(office, hanna)
        assert await unread(office, "hanna") == (0, 0, 0)
        await office.nack(hanna, letter, leased.token)
        assert await unread(office, "hanna") == (0, 0, 0)
        leased = await take(office, hanna)
        await office.ack(hanna, letter, leased.token)
        assert await unread(office, "hanna") == (0, 0, 0)


class TestDone:
    @pytest.mark.parametrize("opened", [False, True])
    async def test_done_acks_it_whether_or_not_it_was_opened(self, office: PostOffice, *, opened: bool) -> None:
        (alice,) = await people(office, "alice")
        owner = office.owner()
        letter = (await write(office, alice, "owner")).message_id
        if opened:
            await office.seen(owner, letter)
        for _ in range(2):
            assert (await office.done(owner, letter)).state is State.ACKED
        assert await unread(office, "owner") == (0, 0, 0)
        assert [event.kind for event in await office.news(alice)].count(Kind.RECEIPT) == 1
        with pytest.raises(NotWaiting):
            await office.keep_unread(owner, letter)
        with pytest.raises(NotWaiting):
            await office.snooze(owner, letter)
        assert (await office.seen(owner, letter)).state is State.ACKED


class TestSnooze:
    async def test_snoozed_it_is_gone_from_the_list_and_comes_back_unread_by_itself(self, engine: Engine, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        hanna = await marked(office, "hanna")
        letter = (await write(office, alice, "hanna")).message_id
        await office.seen(hanna, letter)
        snoozed = await office.snooze(hanna, letter)
        assert snoozed.state is State.HELD
        assert (await office.waiting(hanna)).items == ()
        assert await unread(office, "hanna") == (0, 0, 0)
        assert await taken(office, hanna) == []
        await engine.advance(timedelta(minutes=59))
        await office.upkeep.tick()
        assert await unread(office, "hanna") == (0, 0, 0)
        await engine.advance(timedelta(minutes=2))
        await office.upkeep.tick()
        assert await unread(office, "hanna") == (1, 1, 1)
        assert (await standing(office, alice, letter)).attempts == 0

    async def test_it_is_put_off_until_a_time_or_done_before_it(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        owner = office.owner()
        letter = (await write(office, alice, "owner")).message_id
        until = datetime.now(UTC) + timedelta(days=1)
        snoozed = await office.snooze(owner, letter, until=until)
        assert snoozed.due_at is not None
        assert abs(snoozed.due_at - until) < timedelta(minutes=1)
        assert (await office.done(owner, letter)).state is State.ACKED
        assert await unread(office, "owner") == (0, 0, 0)

    async def test_a_time_without_a_zone_or_in_the_past_is_refused(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        letter = (await write(office, alice, "owner")).message_id
        for until in (datetime(2099, 1, 1), datetime(2000, 1, 1, tzinfo=UTC)):  # noqa: DTZ001 - this is what is wrong with it
            with pytest.raises(Invalid):
                await office.snooze(office.owner(), letter, until=until)
