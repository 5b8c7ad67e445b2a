"""Decision 12: the sender can ask where its message stands: held, pending, leased, acked or dead; when, tries, why."""

from datetime import timedelta

import pytest

from postoffice.core.delivery import State
from postoffice.core.errors import NoSuchMessage
from postoffice.office import PostOffice
from tests.engines import Engine
from tests.mail import kill, office_with, people, standing, take, write


class TestDecision12Proof:
    async def test_mail_that_awaits_the_ledger_is_held(self, office: PostOffice) -> None:
        alice, _ = await people(office, "alice", "bob")
        accepted = await write(office, alice, "bob", hold=True)
        proof = await standing(office, alice, accepted.message_id)
        assert (proof.state, proof.attempts, proof.settled_at) == (State.HELD, 0, None)

    async def test_mail_that_waits_is_pending(self, office: PostOffice) -> None:
        alice, _ = await people(office, "alice", "bob")
        accepted = await write(office, alice, "bob")
        proof = await standing(office, alice, accepted.message_id)
        assert (proof.recipient, proof.state, proof.attempts, proof.session_id) == ("bob", State.PENDING, 0, accepted.session_id)

    async def test_mail_in_hand_is_leased_until_a_moment_and_has_been_tried(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        accepted = await write(office, alice, "bob")
        leased = await take(office, bob)
        proof = await standing(office, alice, accepted.message_id)
        assert (proof.state, proof.attempts, proof.due_at) == (State.LEASED, 1, leased.leased_until)

    async def test_mail_that_failed_waits_again_and_says_why(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        leased_id = (await write(office, alice, "bob")).message_id
        leased = await take(office, bob)
        await office.nack(bob, leased_id, leased.token, reason="busy", delay=timedelta(hours=1))
        proof = await standing(office, alice, leased_id)
        assert (proof.state, proof.attempts, proof.reason) == (State.HELD, 1, "busy")
        assert proof.due_at is not None

    async def test_settled_mail_is_acked_and_says_when(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        accepted = await write(office, alice, "bob")
        leased = await take(office, bob)
        await office.ack(bob, leased.message.id, leased.token)
        proof = await standing(office, alice, accepted.message_id)
        assert proof.state is State.ACKED
        assert proof.settled_at is not None
        assert proof.settled_at >= accepted.created_at

    async def test_dead_mail_says_when_and_why_and_after_how_many_tries(self, engine: Engine) -> None:
        async with office_with(engine, max_attempts=3) as office:
            alice, bob = await people(office, "alice", "bob")
            accepted = await write(office, alice, "bob")
            await kill(office, bob, "cannot parse")
            proof = await standing(office, alice, accepted.message_id)
            assert (proof.state, proof.attempts, proof.reason) == (State.DEAD, 3, "cannot parse")
            assert proof.settled_at is not None

    async def test_the_sender_sees_every_recipient_and_a_recipient_only_itself(self, office: PostOffice) -> None:
        alice, bob, _ = await people(office, "alice", "bob", "carol")
        accepted = await write(office, alice, ("bob", "carol"))
        assert [s.recipient for s in (await office.status(alice, accepted.message_id)).standings] == ["bob", "carol"]
        assert [s.recipient for s in (await office.status(bob, accepted.message_id)).standings] == ["bob"]
        assert len((await office.status(office.owner(), accepted.message_id)).standings) == 2

    async def test_nobody_else_learns_of_a_message(self, office: PostOffice) -> None:
        alice, _, eve = await people(office, "alice", "bob", "eve")
        accepted = await write(office, alice, "bob")
        with pytest.raises(NoSuchMessage):
            await office.status(eve, accepted.message_id)

    async def test_nobody_else_learns_of_a_purged_message(self, engine: Engine) -> None:
        async with office_with(engine, retention=timedelta(days=1)) as office:
            alice, bob, eve = await people(office, "alice", "bob", "eve")
            accepted = await write(office, alice, "bob")
            await office.pop(bob)
            await engine.advance(timedelta(days=2))
            await office.upkeep.sweep()
            assert (await office.status(alice, accepted.message_id)).purged_at is not None
            with pytest.raises(NoSuchMessage):
                await office.status(eve, accepted.message_id)
