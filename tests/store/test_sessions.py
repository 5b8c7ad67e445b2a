"""Decisions 8 and 9: the session a delivery belongs to, and mail to many."""

import asyncio

import pytest

from postoffice.core.errors import MailboxFull, NoSuchAgent, NoSuchSession, NotAdmitted, NotParticipant
from postoffice.office import Auth, PostOffice
from tests.engines import Engine
from tests.mail import member, office_with, people, take, taken, write


class TestDecision8Sessions:
    async def test_mail_without_a_subject_goes_to_the_standing_session(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        first = await write(office, alice, "bob")
        second = await write(office, bob, "alice")
        assert first.session_id == second.session_id
        assert (await office.history(bob, first.session_id or "", peek=True)).subject == ""

    async def test_mail_of_one_subject_shares_a_session_without_regard_to_case(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        first = await write(office, alice, "bob", subject="Release Plan")
        second = await write(office, bob, "alice", subject="  release PLAN ")
        assert first.session_id == second.session_id

    async def test_another_subject_is_another_session(self, office: PostOffice) -> None:
        alice, _ = await people(office, "alice", "bob")
        sessions = {(await write(office, alice, "bob", subject=subject)).session_id for subject in ("one", "two", None)}
        assert len(sessions) == 3

    async def test_mail_in_a_named_session_goes_there_whatever_its_subject(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        first = await write(office, alice, "bob", subject="plan")
        second = await write(office, bob, "alice", session_id=first.session_id, subject="something else")
        assert second.session_id == first.session_id

    async def test_mail_in_a_named_session_takes_its_subject(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        first = await write(office, alice, "bob", subject="plan")
        second = await write(office, bob, "alice", session_id=first.session_id)
        assert second.subject == "plan"

    async def test_two_agents_at_once_begin_one_session(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        pairs = [(alice, "bob"), (bob, "alice")] * 10
        answers = await asyncio.gather(*(write(office, sender, to, subject="plan") for sender, to in pairs))
        assert len({answer.session_id for answer in answers}) == 1

    async def test_mail_to_oneself_has_no_session(self, office: PostOffice) -> None:
        (bob,) = await people(office, "bob")
        assert (await write(office, bob, "bob", subject="remember")).session_id is None
        assert (await office.inbox(bob)).items == ()
        assert await taken(office, bob) == ["hello"]

    async def test_a_note_has_no_session(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        accepted = await office.note(alice, "T-1", "task", "looks good", ["bob"])
        assert accepted.session_id is None
        assert (await office.inbox(bob)).items == ()
        assert (await take(office, bob)).message.type == "task.note"

    async def test_a_stranger_cannot_write_into_a_session(self, office: PostOffice) -> None:
        alice, _, eve = await people(office, "alice", "bob", "eve")
        accepted = await write(office, alice, "bob")
        with pytest.raises(NoSuchSession):
            await write(office, eve, "bob", session_id=accepted.session_id)

    async def test_a_member_cannot_bring_a_third_into_a_session(self, office: PostOffice) -> None:
        alice, _, _ = await people(office, "alice", "bob", "carol")
        accepted = await write(office, alice, "bob")
        with pytest.raises(NotParticipant):
            await write(office, alice, "carol", session_id=accepted.session_id)

    async def test_a_stranger_cannot_read_a_session(self, office: PostOffice) -> None:
        alice, _, eve = await people(office, "alice", "bob", "eve")
        accepted = await write(office, alice, "bob")
        for peek in (True, False):
            with pytest.raises(NotParticipant):
                await office.history(eve, accepted.session_id or "", peek=peek)

    async def test_an_unknown_session_is_refused(self, office: PostOffice) -> None:
        alice, _ = await people(office, "alice", "bob")
        with pytest.raises(NoSuchSession):
            await write(office, alice, "bob", session_id="00000000-0000-7000-8000-000000000000")

    async def test_unread_counts_and_the_last_message_follow_every_write(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        first = await write(office, alice, "bob", "one")
        (thread,) = (await office.inbox(bob)).items
        assert (thread.unread, thread.last_message_at) == (1, first.created_at)
        second = await write(office, alice, "bob", "two")
        await take(office, bob)
        (thread,) = (await office.inbox(bob)).items
        assert (thread.unread, thread.last_message_at) == (1, second.created_at)


class TestDecision9ManyRecipients:
    async def test_a_broadcast_goes_to_everyone_registered_but_the_sender(self, office: PostOffice) -> None:
        alice, bob, carol = await people(office, "alice", "bob", "carol")
        accepted = await write(office, alice, "ALL", "to all")
        assert {posted.recipient for posted in accepted.posted} == {"bob", "carol"}
        assert await taken(office, alice) == []
        assert await taken(office, bob) == await taken(office, carol) == ["to all"]

    async def test_who_comes_after_a_broadcast_does_not_get_it(self, office: PostOffice) -> None:
        alice, _ = await people(office, "alice", "bob")
        await write(office, alice, "ALL")
        (late,) = await people(office, "late")
        assert await taken(office, late) == []

    async def test_a_broadcast_is_one_message(self, office: PostOffice) -> None:
        alice, bob, carol = await people(office, "alice", "bob", "carol")
        accepted = await write(office, alice, "ALL")
        ids = {(await take(office, reader)).message.id for reader in (bob, carol)}
        assert ids == {accepted.message_id}
        assert len((await office.status(alice, accepted.message_id)).standings) == 2

    async def test_a_broadcast_lands_in_each_pairs_own_thread(self, office: PostOffice) -> None:
        alice, bob, _ = await people(office, "alice", "bob", "carol")
        before = await write(office, alice, "bob", subject="plan")
        accepted = await write(office, alice, "ALL", subject="plan")
        sessions = {posted.recipient: posted.session_id for posted in accepted.posted}
        assert sessions["bob"] == before.session_id
        assert sessions["carol"] != sessions["bob"]
        assert len((await office.history(bob, before.session_id or "")).lines) == 2

    async def test_a_broadcast_gives_a_result_for_each_recipient(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        closed = await member(office, "closed")
        accepted = await write(office, alice, "ALL")
        results = {posted.recipient: posted.refusal for posted in accepted.posted}
        assert results == {"bob": None, "closed": "not_admitted"}
        assert await taken(office, bob) == ["hello"]
        assert await taken(office, closed) == []

    async def test_a_full_mailbox_does_not_stop_a_broadcast(self, engine: Engine) -> None:
        async with office_with(engine, depth=1) as office:
            alice, _, carol = await people(office, "alice", "bob", "carol")
            await write(office, alice, "bob")
            results = {posted.recipient: posted.refusal for posted in (await write(office, alice, "ALL")).posted}
            assert results == {"bob": "mailbox_full", "carol": None}
            assert await taken(office, carol) == ["hello"]

    async def test_a_broadcast_repeated_with_its_id_reaches_nobody_twice(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        first = await write(office, alice, "ALL", client_id="a-1")
        await people(office, "late")
        again = await write(office, alice, "ALL", client_id="a-1")
        assert (again.message_id, again.posted) == (first.message_id, first.posted)
        assert await taken(office, bob) == ["hello"]

    async def test_an_explicit_list_reaches_everyone_on_it(self, office: PostOffice) -> None:
        alice, bob, carol = await people(office, "alice", "bob", "carol")
        accepted = await write(office, alice, ("bob", "carol"))
        assert [posted.recipient for posted in accepted.posted] == ["bob", "carol"]
        assert await taken(office, bob) == await taken(office, carol) == ["hello"]

    async def test_an_explicit_list_is_all_or_nothing_when_one_does_not_admit(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await member(office, "closed")
        with pytest.raises(NotAdmitted):
            await write(office, alice, ("bob", "closed"))
        assert await taken(office, bob) == []

    async def test_an_explicit_list_is_all_or_nothing_when_one_is_full(self, engine: Engine) -> None:
        async with office_with(engine, depth=1) as office:
            alice, bob, _ = await people(office, "alice", "bob", "carol")
            await write(office, alice, "carol")
            with pytest.raises(MailboxFull):
                await write(office, alice, ("bob", "new", "carol"))
            assert await taken(office, bob) == []
            assert await office.store.agents.named("new") is None

    async def test_an_explicit_list_is_all_or_nothing_when_one_is_unknown(self, engine: Engine) -> None:
        async with office_with(engine, auth=Auth.KEYS) as office:
            alice = await member(office, "alice")
            bob = await member(office, "bob", "*")
            with pytest.raises(NoSuchAgent):
                await write(office, alice, ("bob", "nobody"))
            assert await taken(office, bob) == []

    async def test_a_name_given_twice_is_one_recipient(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, ("bob", "BOB", "bob"))
        assert await taken(office, bob) == ["hello"]

    async def test_a_name_nobody_has_used_gets_mail_that_waits_for_it(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        accepted = await write(office, alice, "Newcomer")
        assert accepted.posted[0].unseen
        (newcomer,) = await people(office, "newcomer")
        assert await taken(office, newcomer) == ["hello"]
