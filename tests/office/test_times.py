"""Letters that wait for their time, and letters that end unread."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from msgspec import UNSET

from postoffice.core.delivery import EXPIRED, State
from postoffice.core.errors import BadLimit, BadMessage, MailboxFull, NoSuchMessage, TooLateToCancel
from postoffice.core.event import Kind
from postoffice.core.question import Ask
from postoffice.core.task import TaskState
from postoffice.office import OfficeRules, PostOffice
from postoffice.wake.local import LocalWake
from tests.engines import Engine
from tests.mail import member, notices, office_with, people, standing, take, taken, write
from tests.office.test_held import told

HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)


class TestScheduled:
    async def test_it_comes_at_its_time_by_the_stores_clock_and_not_before(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        sent = await write(office, alice, "bob", "later", deliver_at=HOUR)
        assert sent.deliver_at == sent.created_at + HOUR
        await engine.advance(HOUR - MINUTE)
        await office.upkeep.tick()
        assert await taken(office, bob) == []
        await engine.advance(MINUTE)
        leased = await take(office, bob)
        assert leased.message.content == "later"
        assert leased.message.deliver_at == sent.deliver_at
        assert leased.attempt == 1

    async def test_an_instant_means_the_same(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob", "later", deliver_at=datetime.now(UTC) + HOUR)
        await write(office, alice, "bob", "over", deliver_at=datetime.now(UTC) - HOUR)
        assert [one.message.content for one in await office.pop(bob)] == ["over"]
        await engine.advance(HOUR)
        assert await taken(office, bob) == ["later"]

    async def test_its_recipient_learns_nothing_of_it_before_and_all_of_it_after(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        before = await told(office, bob)
        letters = [await write(office, alice, "bob", "marzipan", ref_id="T-1", type=type, deliver_at=HOUR) for type in ("message", "task")]
        assert await told(office, bob) == before
        for letter in letters:
            with pytest.raises(NoSuchMessage):
                await office.ack(bob, letter.message_id)
        await engine.advance(HOUR)
        await office.upkeep.tick()
        after = await told(office, bob)
        ids = [letter.message_id for letter in letters]
        assert [ref for kind, ref in after["news"] if kind is Kind.NEW_MESSAGE] == ids
        assert after["search"] == ids[::-1]
        assert after["waiting"] == ids[1:]  # the other was read in the history
        assert after["tasks"] == [letters[1].message_id]
        assert after["inbox"][0][1] == 2

    @pytest.mark.parametrize("type", ["message", "task"])
    async def test_of_what_was_canceled_before_its_time_its_recipient_never_learns(
        self, office: PostOffice, engine: Engine, type: str
    ) -> None:
        alice, bob = await people(office, "alice", "bob")
        before = await told(office, bob)
        sent = await write(office, alice, "bob", "marzipan", ref_id="T-1", type=type, deliver_at=HOUR)
        await office.cancel(alice, sent.message_id)
        assert await told(office, bob) == before
        await engine.advance(2 * HOUR)
        await office.upkeep.tick()
        assert await told(office, bob) == before
        assert (await office.dead_letters(bob, None, 10)).items == ()
        assert (await office.counts(bob)).dead == 0
        assert (await standing(office, alice, sent.message_id)).reason == "canceled"

    async def test_one_that_comes_after_others_is_counted_once_in_its_conversation(self, office: PostOffice, engine: Engine) -> None:
        alice, _ = await people(office, "alice", "bob")
        await write(office, alice, "bob", "later", subject="Plan", deliver_at=HOUR)
        await write(office, alice, "bob", "now", subject="Plan")
        await engine.advance(2 * HOUR)
        await office.upkeep.tick()
        (talk,) = (await office.talks(office.owner())).items
        assert (talk.last.content, talk.letters) == ("later", 2)

    async def test_its_sender_sees_it_and_when_it_comes(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        sent = await write(office, alice, "bob", "later", subject="Plan", deliver_at=HOUR)
        waits = await standing(office, alice, sent.message_id)
        assert (waits.state, waits.deliver_at) == (State.HELD, sent.deliver_at)
        assert waits.in_words == f"scheduled until {sent.deliver_at:%Y-%m-%d %H:%M} UTC"
        (line,) = (await office.history(alice, sent.session_id or "")).lines
        assert line.standing is not None
        assert line.standing.deliver_at == sent.deliver_at
        await engine.advance(HOUR)
        await office.upkeep.tick()
        came = await standing(office, alice, sent.message_id)
        assert (came.state, came.deliver_at) == (State.PENDING, UNSET)
        assert await taken(office, bob) == ["later"]

    async def test_its_place_is_where_it_comes_due(self, office: PostOffice, engine: Engine) -> None:
        """After what was written meanwhile, and in the order of the times that letters wait for."""
        alice, bob = await people(office, "alice", "bob")
        first = await write(office, alice, "bob", "third", subject="Plan", deliver_at=2 * MINUTE)
        await write(office, alice, "bob", "second", subject="Plan", deliver_at=MINUTE)
        await write(office, alice, "bob", "first", subject="Plan")
        await engine.advance(HOUR)
        await office.upkeep.tick()
        lines = (await office.history(alice, first.session_id or "", peek=True)).lines
        assert [line.message.content for line in reversed(lines)] == ["first", "second", "third"]
        news = [event.number for event in await office.news(bob) if event.kind is Kind.NEW_MESSAGE]
        assert news == sorted(news)
        numbers = [one.number for one in (await office.receive(bob, 10)).leased]
        assert numbers == news

    async def test_a_resend_is_one_letter_with_one_time(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        first = await write(office, alice, "bob", "later", client_id="a", deliver_at=HOUR, expires_at=2 * HOUR)
        await engine.advance(MINUTE)
        again = await write(office, alice, "bob", "later", client_id="a", deliver_at=HOUR, expires_at=2 * HOUR)
        assert again.duplicate
        assert (again.message_id, again.deliver_at) == (first.message_id, first.deliver_at)
        await engine.advance(3 * HOUR)  # also when its end is over
        assert (await write(office, alice, "bob", "later", client_id="a", deliver_at=HOUR, expires_at=2 * HOUR)).duplicate
        assert await taken(office, bob) == []

    async def test_it_counts_against_the_depth_of_the_mailbox(self, engine: Engine) -> None:
        async with office_with(engine, depth=1) as office:
            alice, _ = await people(office, "alice", "bob")
            await write(office, alice, "bob", deliver_at=HOUR)
            with pytest.raises(MailboxFull):
                await write(office, alice, "bob", deliver_at=HOUR)

    async def test_it_waits_in_a_paused_mailbox(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob", "later", deliver_at=HOUR)
        await office.pause(bob)
        await engine.advance(HOUR)
        await office.upkeep.tick()
        assert await taken(office, bob) == []
        await office.resume(bob)
        assert await taken(office, bob) == ["later"]

    async def test_who_may_not_write_any_more_does_not_reach_by_having_written_before(self, office: PostOffice, engine: Engine) -> None:
        (alice,) = await people(office, "alice")
        bob = await member(office, "bob", "*")
        sent = await write(office, alice, "bob", "later", deliver_at=HOUR)
        await office.update_card(bob, {"allow_from": ["carol"]})
        await engine.advance(HOUR)
        assert await taken(office, bob) == []
        assert (await standing(office, alice, sent.message_id)).state is State.DEAD
        (notice,) = await notices(office, alice)
        assert notice.payload["reason"] == "alice may not write to bob any more"
        assert (await office.dead_letters(bob, None, 10)).items == ()

    async def test_everyone_gets_it_at_its_time(self, office: PostOffice, engine: Engine) -> None:
        (alice,) = await people(office, "alice")
        bob, carol = [await member(office, name, "*") for name in ("bob", "carol")]
        sent = await write(office, alice, "ALL", "meeting", deliver_at=HOUR)
        assert {one.recipient for one in sent.posted} == {"bob", "carol"}
        assert await taken(office, bob) == []
        await engine.advance(HOUR)
        assert await taken(office, bob) == ["meeting"]
        assert await taken(office, carol) == ["meeting"]

    async def test_a_question_is_none_before_its_letter_comes(self, office: PostOffice, engine: Engine) -> None:
        (alice,) = await people(office, "alice")
        owner = office.owner()
        await write(office, alice, "owner", "Ship it?", ask=Ask(), deliver_at=HOUR)
        assert (await office.questions(owner)).items == ()
        assert await office.for_you_count(owner) == 0
        await engine.advance(HOUR)
        await office.upkeep.tick()
        assert len((await office.questions(owner)).items) == 1
        assert await office.for_you_count(owner) == 1

    async def test_many_that_come_due_together_come_once_and_in_order(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        for n in range(30):
            await write(office, alice, "bob", str(n), deliver_at=HOUR + timedelta(seconds=n))
        await engine.advance(2 * HOUR)
        got: list[str | None] = []
        for _ in range(8):
            got += await taken(office, bob)
        assert got == [str(n) for n in range(30)]


class TestWoken:
    async def test_whoever_waits_gets_it_within_a_second_of_its_time(self, engine: Engine) -> None:
        """The office looks by itself; its upkeep has nothing to do with it."""
        async with PostOffice(engine.store(), LocalWake(), OfficeRules()) as office:
            alice, bob = await people(office, "alice", "bob")
            office.upkeep.tick = _never  # type: ignore[method-assign]
            sent = await write(office, alice, "bob", "soon", deliver_at=timedelta(seconds=1.5))
            turned = await office.wait(bob, within=timedelta(seconds=10))
            late = datetime.now(UTC) - (sent.deliver_at or datetime.now(UTC))
            assert [one.message.content for one in turned.leased] == ["soon"]
            assert timedelta(0) <= late < timedelta(seconds=1)


async def _never() -> None:
    pass


class TestExpiry:
    async def test_it_is_never_handed_out_is_dead_and_its_sender_is_told(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        sent = await write(office, alice, "bob", "now or never", subject="Offer", expires_at=HOUR)
        await write(office, alice, "bob", "whenever")
        await engine.advance(HOUR)
        assert await taken(office, bob, limit=1) == ["whenever"]
        await office.upkeep.tick()
        dead = await standing(office, alice, sent.message_id)
        assert (dead.state, dead.reason, dead.in_words) == (State.DEAD, EXPIRED, "expired")
        (notice,) = await notices(office, alice)
        assert notice.content == 'Your message to bob about "Offer" is dead: not delivered. The reason: expired.'
        assert (await office.counts(bob)).pending == 0
        assert [item.message.id for item in (await office.dead_letters(bob, None, 10)).items] == [sent.message_id]

    @pytest.mark.parametrize("wish", [{}, {"one_per_session": True}, {"limit": 1}])
    async def test_whatever_is_asked_for_it_stays_out_of_the_way(self, office: PostOffice, engine: Engine, wish: dict[str, bool]) -> None:
        alice, bob = await people(office, "alice", "bob")
        sent = await write(office, alice, "bob", "gone", subject="Plan", correlation_id="c", expires_at=HOUR)
        await write(office, alice, "bob", "stays", subject="Plan", correlation_id="c")
        await engine.advance(HOUR)
        assert [message.content for message in (await office.waiting(bob)).items] == ["stays"]
        assert await taken(office, bob, session_id=sent.session_id, **wish) == ["stays"]

    async def test_reading_the_conversation_does_not_settle_it(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        sent = await write(office, alice, "bob", "gone", expires_at=HOUR)
        await engine.advance(HOUR)
        await office.history(bob, sent.session_id or "")
        await office.upkeep.tick()
        assert (await standing(office, alice, sent.message_id)).reason == EXPIRED

    async def test_what_is_in_hand_is_its_takers_and_ends_when_it_comes_back(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        sent = await write(office, alice, "bob", "kept", expires_at=HOUR)
        late = await write(office, alice, "bob", "lost", expires_at=HOUR)
        kept, lost = (await office.receive(bob, 2, visible_for=2 * HOUR)).leased
        await engine.advance(HOUR)
        await office.upkeep.tick()
        await office.ack(bob, kept.message.id, kept.token)
        await office.nack(bob, lost.message.id, lost.token)
        assert await taken(office, bob) == []
        await office.upkeep.tick()
        assert (await standing(office, alice, sent.message_id)).state is State.ACKED
        assert (await standing(office, alice, late.message_id)).in_words == "expired"

    async def test_a_lease_that_ran_out_after_its_end_ends_it(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        sent = await write(office, alice, "bob", expires_at=HOUR)
        await office.receive(bob, 1, visible_for=2 * HOUR)
        await engine.advance(2 * HOUR)
        assert await taken(office, bob) == []
        assert (await standing(office, alice, sent.message_id)).in_words == "expired"
        assert len(await notices(office, alice)) == 1

    async def test_its_task_fails(self, office: PostOffice, engine: Engine) -> None:
        alice, _ = await people(office, "alice", "bob")
        sent = await write(office, alice, "bob", type="task", expires_at=HOUR)
        await engine.advance(HOUR)
        await office.upkeep.tick()
        task = await office.task(alice, sent.message_id)
        assert (task.state, task.steps[-1].text) == (TaskState.FAILED, "not delivered: expired")

    async def test_requeued_it_waits_without_an_end(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        sent = await write(office, alice, "bob", "after all", expires_at=HOUR)
        await engine.advance(HOUR)
        await office.upkeep.tick()
        await office.requeue(bob, sent.message_id)
        assert await taken(office, bob) == ["after all"]

    async def test_in_a_paused_mailbox_too(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        sent = await write(office, alice, "bob", expires_at=HOUR)
        await office.pause(bob)
        await engine.advance(HOUR)
        await office.upkeep.tick()
        assert (await standing(office, alice, sent.message_id)).in_words == "expired"

    async def test_what_came_and_went_while_nobody_looked_is_expired(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        sent = await write(office, alice, "bob", deliver_at=HOUR, expires_at=2 * HOUR)
        await engine.advance(3 * HOUR)
        assert await taken(office, bob) == []
        await office.upkeep.tick()
        assert (await standing(office, alice, sent.message_id)).in_words == "expired"


class TestCancel:
    async def test_a_cancel_and_a_take_at_its_time_have_one_winner(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        for n in range(12):
            sent = await write(office, alice, "bob", str(n), deliver_at=HOUR)
            await engine.advance(HOUR)
            canceled, turned = await asyncio.gather(office.cancel(alice, sent.message_id), office.receive(bob, 1), return_exceptions=True)
            assert not isinstance(turned, BaseException), turned
            assert (not turned.leased) is not isinstance(canceled, TooLateToCancel), (canceled, turned)
            for leased in turned.leased:
                await office.ack(bob, leased.message.id, leased.token)


class TestRefused:
    async def test_what_could_never_be_taken_is_refused(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        with pytest.raises(BadMessage, match="over before the message could be taken"):
            await write(office, alice, "bob", expires_at=datetime.now(UTC) - HOUR)
        with pytest.raises(BadMessage, match="over before the message could be taken"):
            await write(office, alice, "bob", deliver_at=2 * HOUR, expires_at=HOUR)

    @pytest.mark.parametrize("field", ["deliver_at", "expires_at"])
    async def test_what_is_no_time_is_refused(self, office: PostOffice, field: str) -> None:
        (alice,) = await people(office, "alice")
        with pytest.raises(BadLimit):
            await write(office, alice, "bob", "x", **{field: -HOUR})
        with pytest.raises(BadLimit):
            await write(office, alice, "bob", "x", **{field: timedelta(days=99_999)})
        with pytest.raises(BadMessage, match="time zone"):
            await write(office, alice, "bob", "x", **{field: datetime(2030, 1, 1)})  # noqa: DTZ001 - that is what is refused

    async def test_notes_go_at_once(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        with pytest.raises(BadMessage, match="goes at once"):
            await write(office, alice, ("bob",), type="task.note", ref_id="T-1", deliver_at=HOUR)
