"""Decision 2: ids and idempotency, and the order of the checks."""

import asyncio
from datetime import timedelta

import pytest

from postoffice.core.delivery import Settled, State
from postoffice.core.draft import Draft
from postoffice.core.errors import AmbiguousId, IdConflict, MailboxFull, NoSuchMessage, NotAdmitted, RateLimited
from postoffice.core.task import TaskState
from postoffice.office import PostOffice
from tests.engines import Engine
from tests.mail import ask, member, office_with, people, standing, take, taken, write


class TestDecision2Ids:
    async def test_ids_sort_in_the_order_of_acceptance(self, office: PostOffice) -> None:
        alice, _ = await people(office, "alice", "bob")
        ids = [(await write(office, alice, "bob")).message_id for _ in range(5)]
        assert ids == sorted(ids)
        assert {id[14] for id in ids} == {"7"}

    async def test_the_same_id_and_body_give_the_first_answer_and_one_message(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        first = await write(office, alice, "bob", client_id="a-1")
        again = await write(office, alice, "bob", client_id="a-1")
        assert (again.message_id, again.created_at, again.posted) == (first.message_id, first.created_at, first.posted)
        assert (first.duplicate, again.duplicate) == (False, True)
        assert await taken(office, bob) == ["hello"]

    async def test_the_same_id_and_another_body_conflict(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob", "one", client_id="a-1")
        with pytest.raises(IdConflict):
            await write(office, alice, "bob", "two", client_id="a-1")
        assert await taken(office, bob) == ["one"]

    async def test_without_an_id_every_send_is_a_new_message(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        await write(office, alice, "bob")
        assert await taken(office, bob) == ["hello", "hello"]

    async def test_the_same_id_to_another_agent_is_a_new_message(self, office: PostOffice) -> None:
        alice, _, _ = await people(office, "alice", "bob", "carol")
        first = await write(office, alice, "bob", client_id="a-1")
        second = await write(office, alice, "carol", client_id="a-1")
        assert first.message_id != second.message_id

    async def test_a_reply_that_reuses_the_other_sides_id_is_a_new_message(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        asked = await write(office, alice, "bob", client_id="a-1")
        answered = await write(office, bob, "alice", "hello", client_id="a-1")
        assert answered.message_id != asked.message_id
        assert not answered.duplicate
        assert await taken(office, alice) == ["hello"]

    async def test_another_spelling_of_the_recipient_is_the_same_message(self, office: PostOffice) -> None:
        alice, _ = await people(office, "alice", "bob")
        first = await write(office, alice, "bob", client_id="a-1")
        again = await write(office, alice, "BOB", client_id="a-1")
        assert again.message_id == first.message_id

    async def test_a_list_in_another_order_is_the_same_message(self, office: PostOffice) -> None:
        alice, _, _ = await people(office, "alice", "bob", "carol")
        first = await write(office, alice, ("bob", "carol"), client_id="a-1")
        again = await write(office, alice, ("carol", "bob"), client_id="a-1")
        assert again.message_id == first.message_id

    async def test_an_update_of_a_task_with_the_same_id_moves_it_once(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        asked = await ask(office, alice, "bob")
        report = Draft(to="alice", content="on it", client_id="u-1")
        first = await office.update_task(bob, asked.message_id, TaskState.ACCEPTED, report)
        again = await office.update_task(bob, asked.message_id, TaskState.ACCEPTED, report)
        assert again == first
        assert await taken(office, alice) == ["on it"]

    async def test_many_identical_sends_at_once_make_one_message(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        answers = await asyncio.gather(*(write(office, alice, "bob", client_id="a-1") for _ in range(50)))
        assert len({answer.message_id for answer in answers}) == 1
        assert sum(not answer.duplicate for answer in answers) == 1
        assert await taken(office, bob) == ["hello"]


class TestDecision2EitherId:
    async def test_an_ack_takes_the_senders_id(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        accepted = await write(office, alice, "bob", client_id="a-1")
        leased = await take(office, bob)
        settled = await office.ack(bob, "a-1", leased.token)
        assert settled.message_id == accepted.message_id

    async def test_the_proof_is_found_by_either_id(self, office: PostOffice) -> None:
        alice, _ = await people(office, "alice", "bob")
        accepted = await write(office, alice, "bob", client_id="a-1")
        assert (await office.status(alice, "a-1")).message_id == accepted.message_id
        assert (await office.status(alice, accepted.message_id)).message_id == accepted.message_id

    async def test_a_token_tells_two_messages_of_one_id_apart(self, office: PostOffice) -> None:
        alice, carol, bob = await people(office, "alice", "carol", "bob")
        await write(office, alice, "bob", "from alice", client_id="same")
        await write(office, carol, "bob", "from carol", client_id="same")
        first, second = (await office.receive(bob)).leased
        assert (await office.ack(bob, "same", second.token)).message_id == second.message.id
        assert (await standing(office, alice, first.message.id)).state == "leased"

    async def test_a_token_repeats_success_for_one_of_two_messages_of_one_id(self, office: PostOffice) -> None:
        alice, carol, bob = await people(office, "alice", "carol", "bob")
        await write(office, alice, "bob", client_id="same")
        await write(office, carol, "bob", client_id="same")
        first, _ = (await office.receive(bob)).leased
        answers = [await office.ack(bob, "same", first.token) for _ in range(2)]
        assert answers == [Settled(first.message.id, State.ACKED)] * 2
        assert (await office.counts(bob)).leased == 1

    async def test_an_ambiguous_id_is_refused(self, office: PostOffice) -> None:
        alice, carol, bob = await people(office, "alice", "carol", "bob")
        await write(office, alice, "bob", client_id="same")
        await write(office, carol, "bob", client_id="same")
        await office.receive(bob)
        with pytest.raises(AmbiguousId):
            await office.ack(bob, "same")
        assert (await office.counts(bob)).leased == 2

    async def test_an_ambiguous_id_is_refused_when_asking_for_the_proof(self, office: PostOffice) -> None:
        alice, _, _ = await people(office, "alice", "bob", "carol")
        await write(office, alice, "bob", client_id="same")
        await write(office, alice, "carol", client_id="same")
        with pytest.raises(AmbiguousId):
            await office.status(alice, "same")

    async def test_a_dead_letter_is_requeued_by_the_senders_id(self, engine: Engine) -> None:
        async with office_with(engine, max_attempts=1) as office:
            alice, bob = await people(office, "alice", "bob")
            accepted = await write(office, alice, "bob", client_id="a-1")
            leased = await take(office, bob)
            await office.nack(bob, "a-1", leased.token)
            assert (await office.requeue(bob, "a-1")).message_id == accepted.message_id

    async def test_an_id_that_a_hundred_others_use_still_finds_ones_own(self, office: PostOffice) -> None:
        senders = await people(office, *(f"sender-{n}" for n in range(102)))
        for sender in senders:
            await write(office, sender, "bob", client_id="1")
        for sender in senders:
            assert (await office.status(sender, "1")).message is not None

    async def test_another_agents_id_names_nothing(self, office: PostOffice) -> None:
        alice, _, carol = await people(office, "alice", "bob", "carol")
        await write(office, alice, "bob", client_id="order-1")
        with pytest.raises(NoSuchMessage):
            await office.status(carol, "order-1")


class TestDecision2OrderOfChecks:
    async def test_a_duplicate_is_answered_though_the_sender_is_no_longer_admitted(self, office: PostOffice) -> None:
        alice = (await people(office, "alice"))[0]
        bob = await member(office, "bob", "alice")
        first = await write(office, alice, "bob", client_id="a-1")
        await office.update_card(bob, {"allow_from": []})
        assert (await write(office, alice, "bob", client_id="a-1")).message_id == first.message_id
        with pytest.raises(NotAdmitted):
            await write(office, alice, "bob", client_id="a-2")

    async def test_a_duplicate_is_answered_though_the_mailbox_is_full(self, engine: Engine) -> None:
        async with office_with(engine, depth=1) as office:
            alice, _ = await people(office, "alice", "bob")
            first = await write(office, alice, "bob", client_id="a-1")
            assert (await write(office, alice, "bob", client_id="a-1")).message_id == first.message_id
            with pytest.raises(MailboxFull):
                await write(office, alice, "bob", client_id="a-2")

    async def test_a_duplicate_costs_nothing_of_the_senders_rate(self, engine: Engine) -> None:
        async with office_with(engine, sends_per_minute=1) as office:
            alice, _ = await people(office, "alice", "bob")
            await write(office, alice, "bob", client_id="a-1")
            assert (await write(office, alice, "bob", client_id="a-1")).duplicate
            with pytest.raises(RateLimited):
                await write(office, alice, "bob", client_id="a-2")
            await engine.advance(timedelta(minutes=1))
            assert not (await write(office, alice, "bob", client_id="a-2")).duplicate

    async def test_a_conflict_is_told_before_admission(self, office: PostOffice) -> None:
        alice = (await people(office, "alice"))[0]
        bob = await member(office, "bob", "alice")
        await write(office, alice, "bob", "one", client_id="a-1")
        await office.update_card(bob, {"allow_from": []})
        with pytest.raises(IdConflict):
            await write(office, alice, "bob", "two", client_id="a-1")

    async def test_admission_is_checked_before_the_mailbox_is_found_full(self, engine: Engine) -> None:
        async with office_with(engine, depth=1) as office:
            alice, eve = await people(office, "alice", "eve")
            await member(office, "bob", "alice")
            await write(office, alice, "bob")
            with pytest.raises(NotAdmitted):
                await write(office, eve, "bob")

    async def test_a_full_mailbox_takes_mail_again_once_some_is_settled(self, engine: Engine) -> None:
        async with office_with(engine, depth=2) as office:
            alice, bob = await people(office, "alice", "bob")
            await write(office, alice, "bob", "one")
            await write(office, alice, "bob", "two")
            leased = await take(office, bob)
            with pytest.raises(MailboxFull):
                await write(office, alice, "bob", "three")
            await office.ack(bob, leased.message.id, leased.token)
            await write(office, alice, "bob", "three")
            assert await taken(office, bob) == ["two", "three"]


class TestDecision2AnExchange:
    """Seed 001: an id that goes back and forth names an exchange."""

    async def test_each_leg_is_a_message_and_each_retry_none(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        for number in range(6):
            sender, to = (alice, bob) if number % 2 == 0 else (bob, alice)
            sent = [await write(office, sender, to.name, str(number), client_id="m-1") for _ in range(2)]
            assert [one.duplicate for one in sent] == [False, True]
            assert [one.message.content for one in await office.pop(to, 5)] == [str(number)]
            again = await write(office, sender, to.name, str(number), client_id="m-1")
            assert (again.duplicate, again.message_id) == (True, sent[0].message_id)

    async def test_the_same_words_are_a_retry_until_the_answer_was_taken(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob", "ping", client_id="m-1")
        await office.pop(bob)
        first = await write(office, bob, "alice", "ok", client_id="m-1")
        await write(office, alice, "bob", "ping again", client_id="m-1")
        assert (await write(office, bob, "alice", "ok", client_id="m-1")).message_id == first.message_id
        await office.pop(bob)
        second = await write(office, bob, "alice", "ok", client_id="m-1")
        assert (second.duplicate, second.message_id != first.message_id) == (False, True)
        assert (await write(office, bob, "alice", "ok", client_id="m-1")).message_id == second.message_id
        assert [one.message.content for one in await office.pop(alice, 5)] == ["ok", "ok"]

    async def test_what_was_said_before_the_answer_is_a_conflict_after_it_has_gone_on(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob", "one", client_id="m-1")
        with pytest.raises(IdConflict):
            await write(office, alice, "bob", "two", client_id="m-1")
        await write(office, bob, "alice", "yes", client_id="m-1")
        await write(office, alice, "bob", "two", client_id="m-1")
        with pytest.raises(IdConflict):
            await write(office, alice, "bob", "one", client_id="m-1")
