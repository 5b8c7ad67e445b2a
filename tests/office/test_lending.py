"""Mail lent to bridges: leased without expiry, handed on, settled or refused by whoever keeps it elsewhere."""

from datetime import timedelta

import pytest

from postoffice.core.delivery import Ack, GiveBack, Handed, Refuse, Settled, State
from postoffice.core.draft import Draft
from postoffice.core.errors import KeyRequired, LeaseLost, LoopRefused
from postoffice.core.message import TaskRef
from postoffice.core.task import TaskState
from postoffice.office import PostOffice
from tests.engines import Engine
from tests.mail import office_with, people, standing, take, taken, write


class TestLending:
    async def test_what_is_lent_never_comes_back_by_itself(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        (lent,) = await office.lending.lend(bob, 10, within=0)
        assert lent.leased_until is None
        await engine.advance(timedelta(days=400))
        assert await office.lending.lend(bob, 10, within=0) == ()
        assert isinstance((await office.settle(bob, [Ack(lent.message.id, lent.token)]))[0], Settled)

    async def test_what_is_lent_is_listed_with_where_it_lies(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        for text in ("one", "two", "three"):
            await write(office, alice, "bob", text)
        first, second, third = await office.lending.lend(bob, 10, within=0)
        await office.settle(bob, [Handed(first.message.id, first.token, "a file"), Ack(third.message.id, third.token)])
        page = await office.lending.lent(bob, limit=1)
        assert [(item.message.content, item.token, item.attempt, item.where) for item in page.items] == [("one", first.token, 1, "a file")]
        rest = await office.lending.lent(bob, page.cursor)
        assert [(item.message.content, item.token, item.where) for item in rest.items] == [("two", second.token, None)]
        assert rest.cursor is None

    async def test_where_it_lies_is_no_reason_for_its_sender(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        for text in ("kept", "acked", "given back"):
            await write(office, alice, "bob", text)
        kept, acked, back = await office.lending.lend(bob, 10, within=0)
        await office.settle(bob, [Handed(one.message.id, one.token, "a file") for one in (kept, acked, back)])
        await office.settle(bob, [Ack(acked.message.id, acked.token), GiveBack(back.message.id, back.token)])
        for one in (kept, acked, back):
            assert (await standing(office, alice, one.message.id)).reason is None
        (thread,) = (await office.inbox(alice)).items
        lines = (await office.history(bob, thread.id, peek=True)).lines
        assert [line.standing.reason for line in lines if line.standing] == [None] * 3

    async def test_what_was_given_back_and_lent_again_lies_nowhere_yet(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        (lent,) = await office.lending.lend(bob, 10, within=0)
        await office.settle(bob, [Handed(lent.message.id, lent.token, "a file"), GiveBack(lent.message.id, lent.token)])
        await office.lending.lend(bob, 10, within=0)
        assert [item.where for item in (await office.lending.lent(bob)).items] == [None]

    async def test_leases_that_end_are_not_lent(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        await take(office, bob)
        assert (await office.lending.lent(bob)).items == ()
        assert await office.lending.borrowers() == ()

    async def test_borrowers_are_those_to_whom_something_is_lent(self, office: PostOffice) -> None:
        alice, bob, carol = await people(office, "alice", "Bob", "carol")
        for name in ("bob", "bob", "carol", "alice"):
            await write(office, alice, name)
        await office.lending.lend(bob, 10, within=0)
        (lent,) = await office.lending.lend(carol, 10, within=0)
        assert await office.lending.borrowers() == ("Bob", "carol")
        await office.settle(carol, [Ack(lent.message.id, lent.token)])
        assert await office.lending.borrowers() == ("Bob",)

    async def test_what_is_refused_is_dead_at_once_and_its_sender_told(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        (lent,) = await office.lending.lend(bob, 10, within=0)
        refusal = Refuse(lent.message.id, lent.token, "it is no letter")
        for _ in range(2):  # asked again, it is answered the same
            (settled,) = await office.settle(bob, [refusal])
            assert isinstance(settled, Settled)
            assert settled.state is State.DEAD
        assert "it is no letter" in str((await taken(office, alice))[0])

    async def test_whoever_was_told_before_is_told_again_in_the_same_conversation(self, engine: Engine) -> None:
        for number in (1, 2):  # opened anew, so that nothing is at hand
            async with office_with(engine) as office:
                alice, bob = await people(office, "alice", "bob")
                await write(office, alice, "bob", f"letter {number}")
                (lent,) = await office.lending.lend(bob, 10, within=0)
                await office.settle(bob, [Refuse(lent.message.id, lent.token, "no")])
                assert len((await office.inbox(alice)).items) == 2  # with bob, and with the office

    async def test_only_the_holder_says_where_it_lies(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        (lent,) = await office.lending.lend(bob, 10, within=0)
        outcome = await office.settle(bob, [Handed(lent.message.id, "another", "here"), Refuse(lent.message.id, "another", "no")])
        assert [type(one) for one in outcome] == [LeaseLost, LeaseLost]

    async def test_a_name_with_a_key_is_nobody_s_guest(self, office: PostOffice) -> None:
        await office.register("keyed")
        with pytest.raises(KeyRequired):
            await office.lending.guest("keyed")
        assert (await office.lending.guest("plain")).verified is False


class TestWhatWasDeliveredElsewhere:
    async def test_it_is_in_the_conversation_read_and_never_given_out(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        sent = await office.send(alice, Draft(to="bob", content="told already", settled=True, client_id="m1"))
        again = await office.send(alice, Draft(to="bob", content="told already", settled=True, client_id="m1"))
        assert again.duplicate
        assert await taken(office, bob) == []
        (thread,) = (await office.inbox(bob)).items
        assert (thread.unread, [line.message.content for line in thread.lines]) == (0, ["told already"])
        at = await standing(office, alice, sent.message_id)
        assert at.state is State.ACKED
        assert at.settled_at is not None

    async def test_it_is_too_late_to_refuse_it(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await office.update_card(bob, {"allow_from": []})
        assert (await office.send(alice, Draft(to="bob", content="x", settled=True))).message_id

    async def test_a_task_s_life_goes_on_from_there(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await office.send(alice, Draft(to="bob", type="task", content="do it", task=TaskRef("t1"), settled=True))
        task = await office.update_task(bob, "t1", TaskState.WORKING, Draft(to="alice", content="at it", settled=True))
        assert task.state is TaskState.WORKING
        assert await taken(office, alice) == []


class TestTrace:
    async def test_whom_it_passed_elsewhere_is_remembered_and_guards_the_forward(self, office: PostOffice) -> None:
        alice, bob, carol = await people(office, "alice", "bob", "carol")
        await office.send(bob, Draft(to="carol", content="on its way", trace=("alice", "bob"), ttl=1))
        got = await take(office, carol)
        assert (got.message.trace, got.message.ttl) == (("alice", "bob"), 1)
        with pytest.raises(LoopRefused):
            await office.send(carol, Draft(to="alice", forward_of=got.message.id))
        assert alice.name == "alice"

    async def test_it_is_not_sent_where_it_has_been(self, office: PostOffice) -> None:
        _, bob = await people(office, "alice", "bob")
        with pytest.raises(LoopRefused):
            await office.send(bob, Draft(to="Alice", content="round", trace=("alice", "bob")))
