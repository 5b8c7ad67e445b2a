"""Decision 3: leases."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from postoffice.acts.mail.send import Send
from postoffice.acts.mail.take_and_settle import TakeAndSettle
from postoffice.acts.people.agents import Appear
from postoffice.core.delivery import Ack, GiveBack, Nack, Refuse, Settled, Settlement, State, Wish
from postoffice.core.draft import Draft
from postoffice.core.errors import LeaseLost, NoSuchMessage
from postoffice.office import PostOffice
from tests.engines import Engine
from tests.mail import office_with, people, standing, take, taken, write

A_MINUTE = timedelta(minutes=1)


class TestDecision3Leases:
    async def test_a_leased_message_has_one_holder(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        assert await taken(office, bob) == ["hello"]
        assert await taken(office, bob) == []

    async def test_each_delivery_has_a_token_of_its_own(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        await write(office, alice, "bob")
        first, second = (await office.receive(bob)).leased
        assert first.token != second.token

    async def test_an_acked_message_is_never_leased_again(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        leased = await take(office, bob)
        await office.ack(bob, leased.message.id, leased.token)
        await engine.advance(timedelta(days=2))
        assert await taken(office, bob) == []

    async def test_a_lease_runs_out_by_the_stores_clock(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        first = await take(office, bob, visible_for=timedelta(seconds=10))
        await engine.advance(timedelta(seconds=11))
        second = await take(office, bob)
        assert second.message.id == first.message.id
        assert (first.attempt, second.attempt) == (1, 2)

    @pytest.mark.parametrize("swept", [False, True])
    @pytest.mark.parametrize("token", [False, True])
    async def test_a_late_ack_succeeds_while_nobody_else_has_taken_the_message(
        self, office: PostOffice, engine: Engine, *, swept: bool, token: bool
    ) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        leased = await take(office, bob)
        await engine.advance(A_MINUTE)
        if swept:
            await office.upkeep.sweep()
        assert (await office.ack(bob, leased.message.id, leased.token if token else None)).state is State.ACKED
        told = await standing(office, alice, leased.message.id)
        assert (told.state, told.attempts) == (State.ACKED, 1)
        counts = await office.counts(office.owner(), of="bob")
        assert (counts.pending, counts.leased) == (0, 0)
        assert (await office.inbox(bob)).items[0].unread == 0
        assert await taken(office, bob) == []

    @pytest.mark.parametrize("swept", [False, True])
    async def test_a_late_nack_gives_it_back_with_its_reason_and_its_delay(
        self, office: PostOffice, engine: Engine, *, swept: bool
    ) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        leased = await take(office, bob)
        await engine.advance(A_MINUTE)
        if swept:
            await office.upkeep.sweep()
        settled = await office.nack(bob, leased.message.id, leased.token, delay=A_MINUTE, reason="no disk")
        assert settled.state is State.HELD
        assert (await standing(office, alice, leased.message.id)).reason == "no disk"
        with pytest.raises(LeaseLost):  # it was given back, and is nobody's now
            await office.ack(bob, leased.message.id, leased.token)
        assert await taken(office, bob) == []
        await engine.advance(A_MINUTE)
        assert (await take(office, bob)).attempt == 2

    @pytest.mark.parametrize("swept", [False, True])
    async def test_a_late_extend_keeps_it_from_others_as_before(self, office: PostOffice, engine: Engine, *, swept: bool) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        leased = await take(office, bob)
        await engine.advance(A_MINUTE)
        if swept:
            await office.upkeep.sweep()
        assert (await office.extend(bob, leased.message.id, A_MINUTE, leased.token)).state is State.LEASED
        assert await taken(office, bob) == []
        assert (await standing(office, alice, leased.message.id)).attempts == 1
        await engine.advance(A_MINUTE)
        assert (await take(office, bob)).attempt == 2

    async def test_a_late_ack_and_a_new_take_have_one_winner(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        for n in range(10):
            await write(office, alice, "bob", str(n))
        leased = (await office.receive(bob)).leased
        await engine.advance(A_MINUTE)
        await office.upkeep.sweep()
        settled, turned = await asyncio.gather(office.settle(bob, [Ack(one.message.id, one.token) for one in leased]), office.receive(bob))
        again = {one.message.id for one in turned.leased}
        for one, outcome in zip(leased, settled, strict=True):
            assert isinstance(outcome, LeaseLost) is (one.message.id in again), outcome

    async def test_the_same_token_repeats_success(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        leased = await take(office, bob)
        first = await office.ack(bob, leased.message.id, leased.token)
        assert await office.ack(bob, leased.message.id, leased.token) == first

    async def test_a_repeated_ack_succeeds_long_after_the_lease_would_have_ended(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        leased = await take(office, bob)
        await office.ack(bob, leased.message.id, leased.token)
        await engine.advance(timedelta(days=1))
        assert (await office.ack(bob, leased.message.id, leased.token)).state is State.ACKED

    async def test_a_repeated_nack_succeeds_and_fails_the_message_once(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        leased = await take(office, bob)
        await office.nack(bob, leased.message.id, leased.token)
        assert (await office.nack(bob, leased.message.id, leased.token)).state is State.PENDING
        assert (await take(office, bob)).attempt == 2

    async def test_a_token_that_lost_is_told_lease_lost(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        first = await take(office, bob)
        await engine.advance(A_MINUTE)
        second = await take(office, bob)
        for lost in (Ack(first.message.id, first.token), Nack(first.message.id, first.token), GiveBack(first.message.id, first.token)):
            (outcome,) = await office.settle(bob, [lost])
            assert isinstance(outcome, LeaseLost)
        assert (await office.ack(bob, second.message.id, second.token)).state is State.ACKED

    async def test_a_token_that_lost_does_not_share_in_anothers_success(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        first = await take(office, bob)
        await engine.advance(A_MINUTE)
        second = await take(office, bob)
        await office.ack(bob, second.message.id, second.token)
        with pytest.raises(LeaseLost):
            await office.ack(bob, first.message.id, first.token)

    async def test_a_holder_whose_last_lease_ran_out_is_told_lease_lost(self, engine: Engine) -> None:
        async with office_with(engine, max_attempts=1) as office:
            alice, bob = await people(office, "alice", "bob")
            await write(office, alice, "bob")
            leased = await take(office, bob)
            await engine.advance(A_MINUTE)
            await office.upkeep.sweep()
            assert (await standing(office, alice, leased.message.id)).state is State.DEAD
            with pytest.raises(LeaseLost):
                await office.nack(bob, leased.message.id, leased.token)

    async def test_a_guessed_token_settles_nothing(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        accepted = await write(office, alice, "bob")
        await take(office, bob)
        with pytest.raises(LeaseLost):
            await office.ack(bob, accepted.message_id, "0" * 32)

    async def test_another_agents_mail_cannot_be_settled(self, office: PostOffice) -> None:
        alice, bob, eve = await people(office, "alice", "bob", "eve")
        await write(office, alice, "bob")
        leased = await take(office, bob)
        with pytest.raises(NoSuchMessage):
            await office.ack(eve, leased.message.id, leased.token)

    async def test_an_extended_lease_lasts_from_now(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        leased = await take(office, bob, visible_for=timedelta(seconds=30))
        await engine.advance(timedelta(seconds=20))
        await office.extend(bob, leased.message.id, timedelta(seconds=30), leased.token)
        await engine.advance(timedelta(seconds=20))
        assert await taken(office, bob) == []
        assert (await office.ack(bob, leased.message.id, leased.token)).state is State.ACKED

    async def test_a_lease_without_expiry_never_runs_out(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        (leased,) = (await office.store.do(TakeAndSettle("bob", (), Wish(limit=1, visible_for=None)))).leased
        await engine.advance(timedelta(days=300))
        await office.upkeep.sweep()
        assert leased.leased_until is None
        assert (await office.ack(bob, leased.message.id, leased.token)).state is State.ACKED

    async def test_settlements_are_answered_each_by_itself(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        leased = await take(office, bob)
        good, bad = await office.settle(bob, [Ack(leased.message.id, leased.token), Ack("nothing", "token")])
        assert not isinstance(good, Exception)
        assert isinstance(bad, NoSuchMessage)

    async def test_a_taker_settles_and_takes_in_one_act(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob", "one")
        await write(office, alice, "bob", "two")
        leased = await take(office, bob)
        turned = await office.receive(bob, settle=[Ack(leased.message.id, leased.token)])
        assert [item.message.content for item in turned.leased] == ["two"]
        assert (await standing(office, alice, leased.message.id)).state is State.ACKED

    async def test_a_delayed_nack_holds_the_message_until_the_delay_is_over(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        leased = await take(office, bob)
        settled = await office.nack(bob, leased.message.id, leased.token, delay=A_MINUTE)
        assert settled.state is State.HELD
        assert await taken(office, bob) == []
        await engine.advance(A_MINUTE)
        assert await taken(office, bob) == ["hello"]

    @pytest.mark.parametrize("due", [False, True])
    @pytest.mark.parametrize("ending", ["ack", "refuse", "again"])
    async def test_what_was_put_off_by_name_is_its_holders_to_end_until_somebody_takes_it(
        self, office: PostOffice, engine: Engine, ending: str, *, due: bool
    ) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        leased = await take(office, bob)
        id = leased.message.id
        await office.nack(bob, id, delay=A_MINUTE, untried=True)
        if due:
            await engine.advance(A_MINUTE)
            await office.upkeep.sweep()
        with pytest.raises(LeaseLost):  # nobody has it in hand
            await office.extend(bob, id, A_MINUTE)
        with pytest.raises(LeaseLost):  # its lease is over
            await office.ack(bob, id, leased.token)
        if ending == "again":
            assert (await office.nack(bob, id, delay=2 * A_MINUTE, untried=True)).state is State.HELD
            await engine.advance(2 * A_MINUTE)
            assert (await take(office, bob)).attempt == 1, "what was never begun was no attempt, however often it is put off"
            return
        settlement: Settlement = Ack(id) if ending == "ack" else Refuse(id, None, "no")
        (settled,) = await office.settle(bob, [settlement])
        assert settled == Settled(id, State.ACKED if ending == "ack" else State.DEAD)
        await engine.advance(2 * A_MINUTE)
        assert await taken(office, bob) == []

    async def test_what_was_put_off_and_taken_again_is_its_takers(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        leased = await take(office, bob)
        await office.nack(bob, leased.message.id, delay=A_MINUTE)
        await engine.advance(A_MINUTE)
        await office.pop(bob)
        assert (await office.counts(bob)).pending == 0
        with pytest.raises(LeaseLost):
            await office.nack(bob, leased.message.id)


class TestDecision3BothIds:
    async def test_one_call_may_name_a_message_by_both_its_ids(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob", client_id="mine")
        leased = await take(office, bob)
        id, token = leased.message.id, leased.token
        first, second = await office.settle(bob, [Ack(id, token), Ack("mine", token)])
        assert (first, second) == (Settled(id, State.ACKED), Settled(id, State.ACKED))
        assert (await office.counts(bob)).leased == 0

    @pytest.mark.parametrize("turned", [False, True])
    async def test_of_two_settlements_of_one_message_the_first_counts(self, office: PostOffice, *, turned: bool) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob", client_id="mine")
        leased = await take(office, bob)
        id, token = leased.message.id, leased.token
        asked: list[Settlement] = [Ack(id, "wrong"), Nack("mine", token)] if turned else [Nack("mine", token), Ack(id, token)]
        outcomes = await office.settle(bob, asked)
        done, refused = reversed(outcomes) if turned else outcomes
        assert done == Settled(id, State.PENDING)
        assert isinstance(refused, LeaseLost)
        assert (await office.agent("bob")).unread == 1


class TestDecision3Tokenless:
    async def test_a_tokenless_ack_settles_what_its_agent_holds(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        accepted = await write(office, alice, "bob")
        await take(office, bob)
        assert (await office.ack(bob, accepted.message_id)).state is State.ACKED
        assert (await office.ack(bob, accepted.message_id)).state is State.ACKED

    async def test_a_tokenless_nack_gives_back_what_its_agent_holds(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        accepted = await write(office, alice, "bob")
        await take(office, bob)
        assert (await office.nack(bob, accepted.message_id)).state is State.PENDING

    @pytest.mark.parametrize("verb", ["ack", "nack"])
    async def test_without_a_token_what_a_bridge_was_lent_is_not_touched(self, office: PostOffice, verb: str) -> None:
        alice, bob = await people(office, "alice", "bob")
        accepted = await write(office, alice, "bob")
        await office.lending.lend(bob, within=0)
        with pytest.raises(LeaseLost):
            await getattr(office, verb)(bob, accepted.message_id)
        assert (await standing(office, alice, accepted.message_id)).state is State.LEASED

    @pytest.mark.parametrize("verb", ["ack", "nack"])
    async def test_without_a_token_what_was_given_back_is_not_touched(self, office: PostOffice, verb: str) -> None:
        alice, bob = await people(office, "alice", "bob")
        accepted = await write(office, alice, "bob")
        leased = await take(office, bob)
        await office.nack(bob, leased.message.id, leased.token)
        with pytest.raises(LeaseLost):
            await getattr(office, verb)(bob, accepted.message_id)

    async def test_whoever_held_it_by_a_token_hears_of_success_after_its_agent_has_acked_it_without(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        leased = await take(office, bob)
        await office.ack(bob, leased.message.id)
        assert (await office.ack(bob, leased.message.id, leased.token)).state is State.ACKED

    @pytest.mark.parametrize("verb", ["ack", "nack"])
    async def test_without_a_token_waiting_mail_is_not_touched(self, office: PostOffice, verb: str) -> None:
        alice, bob = await people(office, "alice", "bob")
        accepted = await write(office, alice, "bob")
        with pytest.raises(LeaseLost):
            await getattr(office, verb)(bob, accepted.message_id)
        assert (await standing(office, alice, accepted.message_id)).state is State.PENDING

    async def test_a_tokenless_lease_may_also_be_settled_by_its_token(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        leased = await take(office, bob)
        assert (await office.ack(bob, leased.message.id, leased.token)).state is State.ACKED


class TestDecision3InHand:
    async def test_an_agent_sees_what_it_still_holds_and_for_how_long(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        for text in ("one", "two", "three", "four"):
            await write(office, alice, "bob", text)
        done = await take(office, bob)
        await office.ack(bob, done.message.id)
        await take(office, bob, visible_for=timedelta(seconds=10))
        kept = await take(office, bob, visible_for=timedelta(minutes=30))
        await engine.advance(A_MINUTE)
        (one,) = await office.in_hand(bob)
        assert one.leased == kept
        assert timedelta(minutes=28) < one.left <= timedelta(minutes=29)
        assert await office.in_hand(alice) == ()

    async def test_keeping_never_shortens_a_lease(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob", "long")
        await write(office, alice, "bob", "short")
        long, short = await take(office, bob, visible_for=timedelta(hours=1)), await take(office, bob, visible_for=A_MINUTE)
        await office.keep(bob, [long.message.id, short.message.id, "nothing"], timedelta(minutes=10))
        await engine.advance(timedelta(minutes=9))
        left = {one.leased.message.content: one.left for one in await office.in_hand(bob)}
        assert left["long"] > timedelta(minutes=50)
        assert timedelta(0) < left["short"] <= A_MINUTE
        await engine.advance(timedelta(minutes=2))
        await office.keep(bob, [short.message.id])  # it ran out, and nobody has taken it
        assert len(await office.in_hand(bob)) == 2


class TestDecision3GivenBack:
    async def test_what_was_given_back_was_never_taken(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        accepted = await write(office, alice, "bob")
        await office.give_back(bob, (await office.receive(bob, 1)).leased)
        assert (await standing(office, alice, accepted.message_id)).leased_at is None
        leased = await take(office, bob)
        await office.nack(bob, leased.message.id, leased.token)
        first = (await standing(office, alice, accepted.message_id)).leased_at
        assert first is not None
        await office.give_back(bob, (await office.receive(bob, 1)).leased)
        assert (await standing(office, alice, accepted.message_id)).leased_at == first

    async def test_a_lease_given_back_is_no_attempt(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        leased = await take(office, bob)
        await office.give_back(bob, [leased])
        assert (await take(office, bob)).attempt == 1

    async def test_a_lease_given_back_never_kills_the_message(self, engine: Engine) -> None:
        async with office_with(engine, max_attempts=1) as office:
            alice, bob = await people(office, "alice", "bob")
            await write(office, alice, "bob")
            for _ in range(5):
                await office.give_back(bob, [await take(office, bob)])
            assert (await take(office, bob)).attempt == 1

    async def test_one_nacked_as_untried_never_kills_the_message_and_says_the_same_when_said_again(self, engine: Engine) -> None:
        async with office_with(engine, max_attempts=1) as office:
            alice, bob = await people(office, "alice", "bob")
            await write(office, alice, "bob")
            for _ in range(3):
                leased = await take(office, bob)
                for _ in range(2):
                    assert (await office.nack(bob, leased.message.id, leased.token, untried=True)).state is State.PENDING
            last = await take(office, bob)
            assert last.attempt == 1
            assert (await office.nack(bob, last.message.id, last.token)).state is State.DEAD

    async def test_closing_gives_back_what_a_taker_that_went_away_had_and_answers_everyone_else(self, engine: Engine) -> None:
        store = engine.store()
        await store.open(lambda _: None)
        await store.do(Appear("alice"))
        draft = Draft(to="bob", content="hello", priority=3)
        await store.do(Send("alice", draft, verified=False, strangers=True))
        taker = asyncio.create_task(store.do(TakeAndSettle("bob", (), Wish(limit=1, visible_for=A_MINUTE))))
        sender = asyncio.create_task(store.do(Send("alice", draft, verified=False, strangers=True)))
        await asyncio.sleep(0)
        taker.cancel()
        await store.close()
        async with asyncio.timeout(30):
            await sender
        reopened = engine.store()
        await reopened.open(lambda _: None)
        leased = (await reopened.do(TakeAndSettle("bob", (), Wish(limit=10, visible_for=A_MINUTE)))).leased
        assert [item.attempt for item in leased] == [1, 1]
        await reopened.close()


class TestDecision3OnePerSession:
    async def test_a_lease_may_ask_for_one_message_per_session(self, office: PostOffice) -> None:
        alice, carol, bob = await people(office, "alice", "carol", "bob")
        for sender, text in ((alice, "a1"), (alice, "a2"), (carol, "c1"), (carol, "c2")):
            await write(office, sender, "bob", text)
        assert await taken(office, bob, one_per_session=True) == ["a1", "c1"]

    async def test_free_sessions_are_found_behind_much_that_waits_in_one(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        for n in range(50):
            await write(office, alice, "bob", f"long {n}", subject="long")
        for text, subject in (("a1", "a"), ("b1", "b"), ("a2", "a"), ("c1", "c")):
            await write(office, alice, "bob", text, subject=subject)
        await write(office, bob, "bob", "to oneself")
        assert await taken(office, bob, limit=3, one_per_session=True) == ["long 0", "a1", "b1"]
        assert await taken(office, bob, limit=3, one_per_session=True) == ["c1", "to oneself"]
        assert await taken(office, bob, limit=3, one_per_session=True) == []

    async def test_what_is_settled_in_the_same_call_frees_its_session(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        for text in ("one", "two", "three"):
            await write(office, alice, "bob", text)
        settle: list[Settlement] = []
        for text in ("one", "two", "three"):
            turned = await office.receive(bob, 5, one_per_session=True, settle=settle)
            assert [(item.message.content, len(turned.settled)) for item in turned.leased] == [(text, len(settle))]
            settle = [Ack(item.message.id, item.token) for item in turned.leased]

    async def test_a_session_in_hand_gives_no_second_message_until_it_is_settled(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob", "one")
        await write(office, alice, "bob", "two")
        first = await take(office, bob, one_per_session=True)
        assert await taken(office, bob, one_per_session=True) == []
        await office.ack(bob, first.message.id, first.token)
        assert await taken(office, bob, one_per_session=True) == ["two"]

    async def test_an_expired_lease_frees_its_session(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob", "one")
        await write(office, alice, "bob", "two")
        await take(office, bob, one_per_session=True)
        await engine.advance(A_MINUTE)
        assert await taken(office, bob, one_per_session=True) == ["one"]

    async def test_what_comes_back_after_a_delay_waits_for_what_is_in_hand(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob", "one")
        await write(office, alice, "bob", "two")
        first = await take(office, bob, one_per_session=True)
        await office.nack(bob, first.message.id, first.token, delay=timedelta(seconds=2))
        second = await take(office, bob, one_per_session=True, visible_for=timedelta(hours=1))
        await engine.advance(A_MINUTE)
        assert await taken(office, bob, one_per_session=True) == []
        await office.ack(bob, second.message.id, second.token)
        assert await taken(office, bob, one_per_session=True) == ["one"]

    async def test_many_takers_at_once_get_one_message_of_a_session(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        for n in range(10):
            await write(office, alice, "bob", f"letter {n}")
        turns = await asyncio.gather(*(office.receive(bob, 1, one_per_session=True) for _ in range(10)))
        assert [leased.message.content for turn in turns for leased in turn.leased] == ["letter 0"]

    async def test_a_session_in_hand_does_not_stand_before_another_of_one_correlation(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        held = await write(office, alice, "bob", "in hand", subject="first")
        await take(office, bob, session_id=held.session_id)
        for subject, text in (("first", "behind it"), ("first", "and more"), ("second", "free"), ("second", "next"), ("third", "last")):
            await write(office, alice, "bob", text, subject=subject, correlation_id="c-1")
        wish: dict[str, Any] = {"correlation_id": "c-1", "one_per_session": True}
        assert (await take(office, bob, **wish)).message.content == "free"
        assert await taken(office, bob, limit=2, **wish) == ["last"]
        await engine.advance(A_MINUTE)
        assert (await take(office, bob, **wish)).message.content == "behind it"

    @pytest.mark.parametrize("by", ["session_id", "correlation_id"])
    async def test_one_at_a_time_can_be_asked_of_one_session_or_one_correlation(self, office: PostOffice, by: str) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob", "other", subject="other")
        sent = [await write(office, alice, "bob", text, correlation_id="c-1") for text in ("one", "two")]
        wish: dict[str, Any] = {by: sent[0].session_id if by == "session_id" else "c-1", "one_per_session": True}
        first = await take(office, bob, **wish)
        assert first.message.content == "one"
        assert await taken(office, bob, **wish) == []
        await office.ack(bob, first.message.id, first.token)
        assert await taken(office, bob, **wish) == ["two"]

    async def test_mail_without_a_session_is_not_held_up(self, office: PostOffice) -> None:
        (bob,) = await people(office, "bob")
        await write(office, bob, "bob", "one")
        await write(office, bob, "bob", "two")
        assert await taken(office, bob, one_per_session=True) == ["one", "two"]

    async def test_a_lease_may_ask_for_one_session_or_one_correlation(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob", "other", subject="other")
        wanted = await write(office, alice, "bob", "in session", subject="wanted")
        await write(office, alice, "bob", "correlated", correlation_id="c-1")
        assert await taken(office, bob, session_id=wanted.session_id) == ["in session"]
        assert await taken(office, bob, correlation_id="c-1") == ["correlated"]
        assert await taken(office, bob) == ["other"]

    async def test_a_lease_that_asks_for_both_passes_over_what_is_only_one(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        for text in ("x" * 3_000, "only in session"):  # a long one is not kept at hand
            await write(office, alice, "bob", text, subject="wanted")
        await write(office, alice, "bob", "only correlated", correlation_id="c-1")
        wanted = await write(office, alice, "bob", "both", subject="wanted", correlation_id="c-1")
        assert await taken(office, bob, 1, session_id=wanted.session_id, correlation_id="c-1") == ["both"]
