"""Decisions 8 and 13: a reply joins the conversation of what it answers, carries its mark, and settles it."""

import asyncio
from datetime import timedelta

import pytest

from postoffice.core.delivery import State
from postoffice.core.draft import Draft
from postoffice.core.errors import AlreadyAnswered, LeaseLost, NothingToAnswer
from postoffice.core.message import TASK, Accepted, Message
from postoffice.office import PostOffice
from tests.engines import Engine
from tests.mail import ask, people, standing, take, taken, write


async def state(office: PostOffice, sender: object, ref: str) -> State:
    return (await standing(office, sender, ref)).state  # type: ignore[arg-type]


async def said(office: PostOffice, accepted: Accepted) -> Message:
    message = (await office.status(office.owner(), accepted.message_id)).message
    assert message is not None
    return message


class TestTheConversation:
    @pytest.mark.parametrize("named", ["the office's id", "the sender's id"])
    async def test_a_reply_joins_it_and_carries_subject_and_mark(self, office: PostOffice, named: str) -> None:
        alice, bob = await people(office, "alice", "bob")
        asked = await write(office, alice, "bob", subject="Plan", correlation_id="q-1", client_id="mine")
        ref = asked.message_id if named == "the office's id" else "mine"
        reply = await write(office, bob, "alice", "yes", reply_to=ref)
        message = await said(office, reply)
        assert reply.session_id == asked.session_id
        assert (message.subject, message.correlation_id, message.reply_to) == ("Plan", "q-1", ref)

    async def test_what_the_reply_gives_itself_counts(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        other = await write(office, alice, "bob", subject="Other")
        asked = await write(office, alice, "bob", subject="Plan", correlation_id="q-1")
        reply = await write(office, bob, "alice", reply_to=asked.message_id, subject="Re: Plan", correlation_id="mine")
        message = await said(office, reply)
        assert (reply.session_id, message.subject, message.correlation_id) == (asked.session_id, "Re: Plan", "mine")
        chosen = await write(office, bob, "alice", reply_to=asked.message_id, session_id=other.session_id)
        assert chosen.session_id == other.session_id

    @pytest.mark.parametrize("named", ["the office's id", "the sender's id"])
    async def test_the_sender_may_add_to_what_it_sent(self, office: PostOffice, named: str) -> None:
        alice, _, _ = await people(office, "alice", "bob", "carol")
        await write(office, alice, "carol", client_id="mine")
        asked = await write(office, alice, "bob", subject="Plan", correlation_id="q-1", client_id="mine")
        more = await write(office, alice, "bob", "and", reply_to=asked.message_id if named == "the office's id" else "mine")
        message = await said(office, more)
        assert (more.session_id, message.subject, message.correlation_id) == (asked.session_id, "Plan", "q-1")
        assert await state(office, alice, asked.message_id) is State.PENDING

    async def test_to_somebody_else_it_is_new_mail(self, office: PostOffice) -> None:
        alice, bob, _ = await people(office, "alice", "bob", "carol")
        asked = await write(office, alice, "bob", subject="Plan", correlation_id="q-1")
        passed = await write(office, bob, "carol", reply_to=asked.message_id)
        both = await write(office, bob, ("alice", "carol"), reply_to=asked.message_id)
        assert passed.session_id != asked.session_id
        assert (await said(office, passed)).correlation_id == "q-1"
        assert [posted.session_id for posted in both.posted] == [asked.session_id, passed.session_id]

    async def test_a_follow_up_and_an_answer_at_once_share_the_session(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        asked = await write(office, alice, "bob", subject="Plan")
        sent = await asyncio.gather(
            *(write(office, alice, "bob", str(n), reply_to=asked.message_id) for n in range(3)),
            *(write(office, bob, "alice", str(n), reply_to=asked.message_id) for n in range(3)),
        )
        assert {one.session_id for one in sent} == {asked.session_id}
        assert len((await office.history(bob, asked.session_id or "", peek=True)).lines) == 7

    async def test_what_nobody_knows_cannot_be_answered(self, office: PostOffice) -> None:
        alice, bob, eve = await people(office, "alice", "bob", "eve")
        asked = await write(office, alice, "bob", client_id="mine")
        for caller, ref in ((bob, "nope"), (eve, asked.message_id), (eve, "mine"), (bob, "0199d2a0-0000-7000-8000-000000000004")):
            with pytest.raises(NothingToAnswer, match="reply_to"):
                await write(office, caller, "alice", reply_to=ref)
        held = await office.send(alice, Draft(to="bob", content="x", hold=True))
        with pytest.raises(NothingToAnswer):
            await write(office, bob, "alice", reply_to=held.message_id)

    async def test_from_elsewhere_an_unknown_one_is_kept(self, office: PostOffice) -> None:
        _, bob = await people(office, "alice", "bob")
        sent = await write(office, bob, "alice", reply_to="file-7", answers_elsewhere=True)
        assert (await said(office, sent)).reply_to == "file-7"


class TestSettling:
    @pytest.mark.parametrize("leased", [False, True])
    async def test_an_answer_acks_what_it_answers(self, office: PostOffice, *, leased: bool) -> None:
        alice, bob = await people(office, "alice", "bob")
        asked = await write(office, alice, "bob")
        taken_before = await take(office, bob) if leased else None
        await write(office, bob, "alice", "yes", reply_to=asked.message_id)
        told = await standing(office, alice, asked.message_id)
        assert (told.state, told.reason) == (State.ACKED, "answered")
        assert [event.ref for event in await office.news(alice) if event.kind == "receipt"] == [asked.message_id]
        counts = await office.counts(bob)
        assert (counts.pending, counts.leased) == (0, 0)
        assert (await office.ack(bob, asked.message_id)).state is State.ACKED
        if taken_before is not None:
            assert (await office.ack(bob, asked.message_id, taken_before.token)).state is State.ACKED
            with pytest.raises(LeaseLost):
                await office.nack(bob, asked.message_id, taken_before.token)

    async def test_late_too_and_what_was_given_back(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        late, back = await write(office, alice, "bob"), await write(office, alice, "bob")
        await take(office, bob)
        await office.nack(bob, back.message_id, (await take(office, bob)).token, delay=timedelta(hours=1))
        await engine.advance(timedelta(minutes=1))
        await office.upkeep.sweep()
        for asked in (late, back):
            await write(office, bob, "alice", "yes", reply_to=asked.message_id)
            assert await state(office, alice, asked.message_id) is State.ACKED
        assert await taken(office, bob) == []

    async def test_a_task_is_settled_by_its_updates(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        asked = await ask(office, alice, "bob")
        await write(office, bob, "alice", "when?", reply_to=asked.message_id)
        assert (await take(office, bob)).message.type == TASK

    async def test_what_a_bridge_was_lent_is_settled_where_it_lies(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        asked = await write(office, alice, "bob")
        await office.lending.lend(bob, within=0)
        await write(office, bob, "alice", "yes", reply_to=asked.message_id)
        assert await state(office, alice, asked.message_id) is State.LEASED

    async def test_a_refused_answer_settles_nothing(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        asked = await write(office, alice, "bob")
        await office.update_card(alice, {"allow_from": []})
        with pytest.raises(Exception, match="does not take mail"):
            await write(office, bob, "alice", "yes", reply_to=asked.message_id)
        assert await state(office, alice, asked.message_id) is State.PENDING

    @pytest.mark.parametrize("acked_first", [False, True])
    async def test_an_automatic_reply_does_not_follow_an_answer_by_hand(self, office: PostOffice, *, acked_first: bool) -> None:
        alice, bob = await people(office, "alice", "bob")
        asked = await write(office, alice, "bob")
        await take(office, bob)
        if acked_first:
            await office.ack(bob, asked.message_id)
        await write(office, bob, "alice", "by hand", reply_to=asked.message_id)
        with pytest.raises(AlreadyAnswered):
            await write(office, bob, "alice", "printed", reply_to=asked.message_id, automatic=True)
        assert await taken(office, alice) == ["by hand"]

    async def test_an_automatic_reply_may_follow_another(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        asked = await write(office, alice, "bob")
        for text in ("one", "two"):
            await write(office, bob, "alice", text, reply_to=asked.message_id, automatic=True)
        assert await taken(office, alice) == ["one", "two"]
        assert await state(office, alice, asked.message_id) is State.ACKED
