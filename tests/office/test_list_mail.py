"""Letters to lists: one message, a delivery for each member, and one session that all of them read."""

import asyncio
from datetime import timedelta

import pytest

from postoffice.core.delivery import State
from postoffice.core.errors import (
    BadMessage,
    BudgetSpent,
    MayNotPost,
    NoSuchList,
    NoSuchMessage,
    NoSuchSession,
    NotParticipant,
    OneRecipient,
)
from postoffice.core.mailing_list import MOST_TOLD, ListRules, MayJoin, MayPost
from postoffice.core.message import TASK
from postoffice.office import PostOffice
from tests.engines import Engine
from tests.mail import member, notices, office_with, people, take, taken, write
from tests.office.test_admission import connect
from tests.office.test_lists import on_list

HOUR = timedelta(hours=1)


async def said(office: PostOffice, caller, session: str, **how) -> list:  # type: ignore[no-untyped-def, type-arg]
    """What a session says to one of its readers, the oldest first."""
    return [line.message.content for line in (await office.history(caller, session, **how)).lines][::-1]


class TestSending:
    async def test_every_member_but_the_sender_gets_one_message(self, office: PostOffice) -> None:
        alice, bob, carol = await on_list(office, "#backend", "alice", "bob", "carol")
        sent = await write(office, alice, "list:Backend", "hello", subject="API")
        assert sent.to_list is not None
        assert (sent.to_list.name, sent.to_list.delivered, sent.to_list.number) == ("#backend", 2, 1)
        got = [await take(office, caller) for caller in (bob, carol)]
        assert {(one.message.id, one.message.to, one.session_id) for one in got} == {(sent.message_id, "#backend", sent.session_id)}
        assert await taken(office, alice) == []
        assert [one.recipient for one in (await office.status(alice, sent.message_id)).standings] == ["bob", "carol"]

    async def test_it_goes_to_whoever_is_a_member_as_it_is_accepted(self, office: PostOffice) -> None:
        alice, bob = await on_list(office, "#backend", "alice", "bob")
        (carol,) = await people(office, "carol")
        await asyncio.gather(*(write(office, alice, "#backend", str(n)) for n in range(10)), office.lists.join(carol, "#backend"))
        session = (await office.lists.show(carol, "#backend")).session_id
        got = await taken(office, carol)
        assert got == [str(n) for n in range(10)][10 - len(got) :]
        assert await said(office, carol, session, peek=True) == got
        await office.lists.leave(bob, "#backend")
        await write(office, alice, "#backend", "later")
        assert await taken(office, bob) == [str(n) for n in range(10)]

    async def test_who_may_write_is_the_keepers_to_say(self, office: PostOffice) -> None:
        alice, bob = await on_list(office, "#backend", "alice", "bob")
        (eve,) = await people(office, "eve")
        with pytest.raises(MayNotPost):
            await write(office, eve, "#backend")
        await office.lists.change(alice, "#backend", ListRules(who_may_post=MayPost.ANYONE))
        sent = await write(office, eve, "#backend")
        with pytest.raises(NotParticipant):
            await office.history(eve, sent.session_id or "")
        await office.lists.change(alice, "#backend", ListRules(who_may_post=MayPost.NAMED, posters=("EVE",)))
        await write(office, eve, "#backend")
        with pytest.raises(MayNotPost):
            await write(office, bob, "#backend")
        await write(office, alice, "#backend")
        await write(office, office.owner(), "#backend")

    async def test_what_has_one_recipient_does_not_go_to_a_list(self, office: PostOffice) -> None:
        alice, _bob = await on_list(office, "#backend", "alice", "bob")
        session = (await write(office, alice, "bob", subject="us")).session_id
        with pytest.raises(OneRecipient):
            await write(office, alice, "#backend", type=TASK)
        with pytest.raises(BadMessage):
            await write(office, alice, ("#backend", "bob"))
        with pytest.raises(NoSuchSession):
            await write(office, alice, "#backend", session_id=session)
        with pytest.raises(NoSuchList):
            await write(office, alice, "#nobody")
        assert (await write(office, alice, ("#backend",))).to_list is not None

    async def test_a_retry_under_the_same_id_sends_nothing_twice(self, office: PostOffice) -> None:
        alice, bob = await on_list(office, "#backend", "alice", "bob")
        first, again = [await write(office, alice, to, client_id="1") for to in ("#backend", "list:BACKEND")]
        assert (again.message_id, again.duplicate, again.to_list) == (first.message_id, True, first.to_list)
        await office.lists.delete(alice, "#backend")
        assert (await write(office, alice, "#backend", client_id="1")).duplicate
        assert await taken(office, bob) == ["hello"]

    async def test_what_one_member_cannot_get_harms_no_other(self, engine: Engine) -> None:
        async with office_with(engine, depth=2) as office:
            alice, bob, carol = await on_list(office, "#backend", "alice", "bob", "carol")
            await office.lists.leave(bob, "#backend")
            await write(office, alice, "bob")
            await write(office, alice, "bob")
            await office.lists.join(bob, "#backend")
            sent = await write(office, alice, "#backend", "all")
            assert sent.to_list is not None
            assert (sent.to_list.delivered, sent.to_list.refused) == (1, 1)
            assert [(one.recipient, one.refusal) for one in sent.posted] == [("bob", "mailbox_full"), ("carol", None)]
            assert await taken(office, carol) == ["all"]

    async def test_the_answer_to_a_large_list_counts_and_does_not_name_all(self, office: PostOffice) -> None:
        alice, *others = await on_list(office, "#backend", "alice", *(f"agent-{n}" for n in range(MOST_TOLD + 10)))
        sent = await write(office, alice, "#backend")
        assert sent.to_list is not None
        assert (len(sent.posted), sent.to_list.delivered) == (MOST_TOLD, len(others))

    async def test_a_paused_member_has_it_when_it_goes_on(self, office: PostOffice) -> None:
        alice, bob = await on_list(office, "#backend", "alice", "bob")
        await office.pause(bob)
        sent = await write(office, alice, "#backend")
        assert sent.posted[0].reach is not None
        assert await taken(office, bob) == []
        await office.resume(bob)
        assert await taken(office, bob) == ["hello"]


class TestConsent:
    async def test_a_member_put_there_gets_only_what_it_would_take_from_whoever_put_it_there(self, office: PostOffice) -> None:
        alice = await member(office, "alice", "*")
        bob = await member(office, "bob")
        id = await connect(office, "alice", "bob")
        await office.lists.make(alice, "#backend", ListRules(who_may_join=MayJoin.INVITED), ["bob"])
        assert (await write(office, alice, "#backend")).posted[0].refusal is None
        await office.end_connection(bob, id)
        assert (await write(office, alice, "#backend")).posted[0].refusal == "not_admitted"
        await office.lists.join(bob, "#backend")
        assert (await write(office, alice, "#backend")).posted[0].refusal is None

    async def test_whoever_joined_gets_what_the_list_lets_in(self, office: PostOffice) -> None:
        alice = await member(office, "alice", "*")
        bob = await member(office, "bob")
        await office.lists.make(alice, "#backend", ListRules(who_may_join=MayJoin.ANYONE, who_may_post=MayPost.ANYONE))
        await office.lists.join(bob, "#backend")
        (eve,) = await people(office, "eve")
        assert [one.refusal for one in (await write(office, eve, "#backend")).posted] == [None, None]


class TestSession:
    async def test_all_read_one_session_in_one_order_with_an_unread_count_of_their_own(self, office: PostOffice) -> None:
        alice, bob, carol = await on_list(office, "#backend", "alice", "bob", "carol")
        session = (await write(office, alice, "#backend", "one", subject="first")).session_id or ""
        await write(office, bob, "#backend", "two")
        unread = {caller.name: (await office.inbox(caller)).items[0].unread for caller in (alice, bob, carol)}
        assert unread == {"alice": 1, "bob": 1, "carol": 2}
        for caller in (alice, bob, carol):
            (thread,) = (await office.inbox(caller)).items
            assert (thread.id, thread.other) == (session, "#backend")
            assert [line.message.content for line in thread.lines] == ["two", "one"]
            assert await said(office, caller, session) == ["one", "two"]
            assert (await office.inbox(caller)).items[0].unread == 0
        assert (await office.inbox(carol, unread_only=True)).items == ()

    async def test_reading_settles_and_peeking_does_not(self, office: PostOffice) -> None:
        alice, bob = await on_list(office, "#backend", "alice", "bob")
        await write(office, alice, "#backend")
        assert (await office.lists.history(bob, "#backend", peek=True)).unread == 1
        assert (await office.lists.history(bob, "#backend")).lines[0].state is State.ACKED
        assert await taken(office, bob) == []

    async def test_what_is_in_hand_stays_with_its_taker(self, office: PostOffice) -> None:
        alice, bob = await on_list(office, "#backend", "alice", "bob")
        await write(office, alice, "#backend")
        leased = await take(office, bob)
        assert (await office.lists.history(bob, "#backend")).lines[0].state is State.LEASED
        await office.ack(bob, leased.message.id, leased.token)
        assert (await office.lists.show(bob, "#backend")).unread == 0

    @pytest.mark.parametrize("history", [True, False])
    async def test_whoever_comes_later_reads_what_was_said_only_if_the_list_says_so(
        self,
        office: PostOffice,
        history: bool,  # noqa: FBT001 - a parameter of the test
    ) -> None:
        alice, _ = await on_list(office, "#backend", "alice", "bob", rules=ListRules(who_may_join=MayJoin.ANYONE, history=history))
        session = (await write(office, alice, "#backend", "before")).session_id or ""
        (carol,) = await people(office, "carol")
        await office.lists.join(carol, "#backend")
        assert await said(office, carol, session) == (["before"] if history else [])
        assert [thread.unread for thread in (await office.inbox(carol)).items] == ([0] if history else [])
        (before,) = (await office.history(alice, session, peek=True)).lines
        if history:
            proof = await office.status(carol, before.message.id)
            assert (proof.message, proof.standings, proof.counts) == (before.message, (), None)
        else:
            with pytest.raises(NoSuchMessage):
                await office.status(carol, before.message.id)
        await write(office, alice, "#backend", "after")
        assert await said(office, carol, session) == ["before", "after"][not history :]

    async def test_whoever_left_keeps_what_it_got_and_sees_nothing_later(self, office: PostOffice) -> None:
        alice, bob = await on_list(office, "#backend", "alice", "bob", rules=ListRules(who_may_join=MayJoin.ANYONE, history=True))
        session = (await write(office, alice, "#backend", "one")).session_id or ""
        await office.lists.leave(bob, "#backend")
        then = (await office.inbox(bob)).items[0].last_message_at
        await write(office, alice, "#backend", "two")
        assert await said(office, bob, session, peek=True) == ["one"]
        assert (await office.inbox(bob)).items[0].last_message_at == then
        assert await taken(office, bob) == ["one"]

    async def test_whoever_comes_again_finds_what_it_had_and_not_what_it_missed(self, office: PostOffice) -> None:
        alice, bob = await on_list(office, "#backend", "alice", "bob")
        session = (await write(office, alice, "#backend", "one")).session_id or ""
        await office.lists.leave(bob, "#backend")
        await write(office, alice, "#backend", "missed")
        await office.lists.join(bob, "#backend")
        await write(office, alice, "#backend", "three")
        assert await said(office, bob, session) == ["one", "three"]

    async def test_strangers_and_those_invited_do_not_read_it_and_the_owner_does(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        await office.lists.make(alice, "#backend", ListRules(who_may_join=MayJoin.INVITED, history=True))
        session = (await write(office, alice, "#backend", "secret")).session_id or ""
        carol = await member(office, "carol")
        await office.lists.add(alice, "#backend", ["carol"])
        for caller in (carol, (await people(office, "eve"))[0]):
            for peek in (True, False):
                with pytest.raises(NotParticipant):
                    await office.history(caller, session, peek=peek)
        assert await said(office, office.owner(), session) == ["secret"]

    async def test_it_is_read_page_by_page(self, office: PostOffice) -> None:
        alice, bob = await on_list(office, "#backend", "alice", "bob")
        for n in range(5):
            session = (await write(office, alice, "#backend", str(n))).session_id or ""
        newest = await office.history(bob, session, limit=2)
        assert [line.message.content for line in newest.lines] == ["4", "3"]
        assert await said(office, bob, session, before=newest.lines[-1].message.id, limit=2) == ["1", "2"]
        assert await taken(office, bob) == ["0"]

    async def test_sessions_of_two_and_lists_stand_in_one_inbox_page_by_page(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await on_list(office, "#backend", "alice", "bob")
        for to in ("bob", "#backend", "bob"):
            await write(office, alice, to, subject="x" if to == "bob" else None)
            await engine.advance(timedelta(seconds=1))
        await write(office, alice, "bob", subject="y")
        found: list[tuple[str, str]] = []
        cursor = None
        while cursor is not None or not found:
            page = await office.inbox(bob, cursor, 1)
            found += [(thread.other, thread.subject) for thread in page.items]
            cursor = page.cursor
        assert found == [("alice", "y"), ("alice", "x"), ("#backend", "")]


class TestAnswering:
    async def test_to_the_list_all_get_it_and_to_the_author_nobody_else(self, office: PostOffice) -> None:
        alice, bob, carol = await on_list(office, "#backend", "alice", "bob", "carol")
        asked = await write(office, alice, "#backend", "who is in?", correlation_id="C-1")
        public = await write(office, bob, "#backend", "me", reply_to=asked.message_id)
        private = await write(office, carol, "alice", "not me", reply_to=asked.message_id)
        assert (public.session_id == asked.session_id, private.session_id == asked.session_id) == (True, False)
        assert await taken(office, alice) == ["me", "not me"]
        assert await taken(office, carol) == ["me"]
        assert [one.state for one in (await office.status(alice, asked.message_id)).standings] == [State.ACKED, State.ACKED]
        assert (await office.status(carol, private.message_id)).message.correlation_id == "C-1"  # type: ignore[union-attr]

    async def test_automatic_replies_to_a_list_have_one_budget_for_all(self, engine: Engine) -> None:
        async with office_with(engine, automatic_replies=3) as office:
            ring = await on_list(office, "#backend", "alice", "bob", "carol")
            last = await write(office, ring[0], "#backend")
            for turn in range(3):
                last = await write(office, ring[(turn + 1) % 3], "#backend", reply_to=last.message_id, automatic=True)
            with pytest.raises(BudgetSpent):
                await write(office, ring[1], "#backend", reply_to=last.message_id, automatic=True)
            assert len(await notices(office, ring[0])) == 1
            await write(office, ring[0], "#backend")
            await write(office, ring[1], "#backend", reply_to=last.message_id, automatic=True)


class TestTimes:
    async def test_what_waits_for_its_time_has_one_place_with_all_once_it_comes(self, office: PostOffice, engine: Engine) -> None:
        alice, bob, carol = await on_list(
            office, "#backend", "alice", "bob", "carol", rules=ListRules(who_may_join=MayJoin.ANYONE, history=True)
        )
        later = await write(office, alice, "#backend", "later", deliver_at=HOUR)
        await write(office, alice, "#backend", "now")
        session = later.session_id or ""
        assert later.to_list is not None
        assert later.to_list.number is None
        assert await said(office, bob, session, peek=True) == ["now"]
        assert (await office.inbox(bob)).items[0].unread == 1
        await office.lists.leave(carol, "#backend")
        (dave,) = await people(office, "dave")
        await office.lists.join(dave, "#backend")
        assert await said(office, dave, session, peek=True) == ["now"]
        await engine.advance(HOUR)
        await office.upkeep.tick()
        assert await said(office, bob, session) == ["now", "later"]
        assert await said(office, dave, session) == [
            "now",
            "later",
        ]  # it stands in the session, which dave reads, and was delivered to those before
        assert await taken(office, carol) == ["now"]

    async def test_what_expires_is_told_to_its_sender_once(self, office: PostOffice, engine: Engine) -> None:
        alice, bob, carol = await on_list(office, "#backend", "alice", "bob", "carol")
        await write(office, alice, "#backend", expires_at=HOUR)
        assert (await office.inbox(bob)).items[0].unread == 1
        await engine.advance(HOUR)
        await office.upkeep.tick()
        assert len(await notices(office, alice)) == 1
        assert (await taken(office, bob), await taken(office, carol)) == ([], [])
        assert (await office.inbox(bob)).items[0].unread == 0

    async def test_a_letter_taken_back_is_not_read_by_those_who_come_later(self, office: PostOffice) -> None:
        alice, bob, _carol = await on_list(
            office, "#backend", "alice", "bob", "carol", rules=ListRules(who_may_join=MayJoin.ANYONE, history=True)
        )
        sent = await write(office, alice, "#backend", "slip")
        await take(office, bob)
        _, recalled = await office.cancel(alice, sent.message_id)
        assert {one.recipient: one.canceled for one in recalled} == {"bob": False, "carol": True}
        (dave,) = await people(office, "dave")
        await office.lists.join(dave, "#backend")
        assert await said(office, dave, sent.session_id or "") == []
        with pytest.raises(NoSuchMessage):
            await office.status(dave, sent.message_id)
