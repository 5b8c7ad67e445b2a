"""Roles: of all who are in one, exactly one takes each letter, and a session stays with whoever began it while they are there."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from postoffice.core.agent import Caller
from postoffice.core.delivery import Ack, State
from postoffice.core.errors import (
    BadName,
    BadRole,
    LeaseLost,
    NoSuchRole,
    NoSuchTask,
    NotAdmitted,
    NothingToAnswer,
    NotInRole,
    NotItsMaker,
    OverQuota,
    RoleInUse,
    RoleTaken,
)
from postoffice.core.task import TaskState
from postoffice.core.window import Opening, Place
from postoffice.office import Auth, PostOffice
from tests.engines import Engine
from tests.mail import ask, at, member, notices, office_with, people, standing, take, taken, write

LEASE = timedelta(seconds=30)
SILENCE = timedelta(seconds=61)
ROLE = "role:reviewer"


async def reviewers(office: PostOffice, *staff: str, **wanted: Any) -> list[Caller]:
    """A sender, and those who are in a role that the sender made."""
    sender, *members = await people(office, "sender", *staff)
    await office.roles.make(sender, ROLE, staff, **wanted)
    return [sender, *members]


class TestAddress:
    async def test_a_role_is_no_agent(self, office: PostOffice) -> None:
        sender, _ = await reviewers(office, "alice")
        assert {one.name for one in (await office.agents()).items} == {"owner", "sender", "alice"}
        assert ROLE not in await office.names("role")
        sent = await write(office, sender, "ALL")
        assert [one.recipient for one in sent.posted] == ["alice"]
        with pytest.raises(BadName):
            await office.identify(name=ROLE)
        with pytest.raises(BadName):
            await office.register(ROLE)

    async def test_mail_to_a_role_that_is_not_there_is_refused(self, office: PostOffice) -> None:
        (sender,) = await people(office, "sender")
        with pytest.raises(NoSuchRole):
            await write(office, sender, "role:nobody")
        with pytest.raises(BadRole):
            await office.roles.make(sender, "list:team")
        await reviewers(office, "alice")
        with pytest.raises(RoleTaken):
            await office.roles.make(sender, "Role:Reviewer")


class TestTaking:
    async def test_each_letter_is_taken_by_one_and_own_mail_comes_first(self, office: PostOffice) -> None:
        sender, alice, bob = await reviewers(office, "alice", "bob")
        for subject in ("one", "two", "three"):
            await write(office, sender, ROLE, subject, subject=subject)
        await write(office, sender, "alice", "own")
        assert await taken(office, alice, 2) == ["own", "one"]
        assert await taken(office, bob) == ["two", "three"]
        assert await taken(office, alice) == []

    async def test_many_who_take_at_once_take_each_letter_once(self, office: PostOffice) -> None:
        names = [f"worker{n}" for n in range(8)]
        sender, *staff = await reviewers(office, *names)
        for n in range(24):
            await write(office, sender, ROLE, str(n), subject=str(n))
        shares = await asyncio.gather(*[taken(office, one, 5) for one in staff])
        assert sorted(int(one) for share in shares for one in share if one) == list(range(24))

    async def test_it_is_taken_from_explicitly_by_its_staff_alone(self, office: PostOffice) -> None:
        sender, alice = await reviewers(office, "alice")
        await write(office, sender, ROLE, "for the role")
        await write(office, sender, "alice", "own")
        assert await taken(office, alice, of=ROLE) == ["for the role"]
        with pytest.raises(NotInRole):
            await office.receive(sender, of=ROLE)
        assert [one.message.content for one in await office.pop(alice)] == ["own"]

    async def test_a_session_stays_with_whoever_began_it_while_they_are_there(self, office: PostOffice, engine: Engine) -> None:
        sender, alice, bob = await reviewers(office, "alice", "bob")
        await write(office, sender, ROLE, "first", subject="pay")
        first = await take(office, alice)
        await office.ack(alice, first.message.id, first.token)
        await write(office, sender, ROLE, "second", subject="pay")
        await write(office, sender, ROLE, "other", subject="tax")
        assert await taken(office, bob) == ["other"]
        assert await taken(office, alice) == ["second"]
        assert [one.leased.message.content for one in await office.in_hand(alice)] == ["second"]
        await office.settle(alice, [Ack(one.leased.message.id) for one in await office.in_hand(alice)])
        await write(office, sender, ROLE, "third", subject="pay")
        assert await taken(office, bob) == []
        await engine.advance(SILENCE)  # alice is not heard of any more
        assert await taken(office, bob) == ["other", "third"]

    async def test_a_dead_takers_letter_comes_back_by_its_leases_end_and_goes_to_the_next(self, office: PostOffice, engine: Engine) -> None:
        sender, alice, bob = await reviewers(office, "alice", "bob")
        await write(office, sender, ROLE, "work", subject="pay")
        await write(office, sender, ROLE, "more", subject="pay")
        lost = await take(office, alice)
        assert await taken(office, bob) == []
        await engine.advance(LEASE)
        again = await take(office, bob)
        assert (again.message.id, again.attempt) == (lost.message.id, 2)
        with pytest.raises(LeaseLost):
            await office.ack(alice, lost.message.id, lost.token)
        assert await taken(office, bob) == ["more"]

    async def test_only_who_has_it_settles_it_without_a_token(self, office: PostOffice) -> None:
        sender, alice, bob = await reviewers(office, "alice", "bob")
        sent = await write(office, sender, ROLE)
        await take(office, alice)
        with pytest.raises(LeaseLost):
            await office.ack(bob, sent.message_id)
        assert (await office.ack(alice, sent.message_id[-6:])).state is State.ACKED

    async def test_who_waits_is_woken_for_role_mail_also_if_put_there_while_waiting(self, office: PostOffice) -> None:
        sender, alice = await reviewers(office, "alice")
        (bob,) = await people(office, "bob")
        for waiter in (alice, bob):
            waiting = asyncio.create_task(office.wait(waiter, within=timedelta(seconds=20)))
            await asyncio.sleep(0)
            if waiter is bob:
                await office.roles.change(sender, ROLE, add=["bob"], remove=["alice"])
            await write(office, sender, ROLE, waiter.name, subject=waiter.name)
            (got,) = (await waiting).leased
            assert got.message.content == waiter.name
            await office.ack(waiter, got.message.id, got.token)


class TestAnswering:
    async def test_an_answer_goes_out_as_its_taker_in_the_same_session_and_settles(self, office: PostOffice) -> None:
        sender, alice, bob = await reviewers(office, "alice", "bob")
        sent = await write(office, sender, ROLE, "please", subject="pay")
        await take(office, alice)
        answer = await write(office, alice, "sender", "done", reply_to=sent.message_id)
        assert answer.posted[0].session_id == sent.posted[0].session_id
        got = await take(office, sender)
        assert (got.message.sender, got.message.subject, got.session_id) == ("alice", "pay", sent.posted[0].session_id)
        assert (await standing(office, sender, sent.message_id)).state is State.ACKED
        with pytest.raises(NothingToAnswer):
            await write(office, bob, "sender", "me too", reply_to=sent.message_id)

    async def test_later_letters_of_the_session_reach_the_role_or_the_taker_as_addressed(self, office: PostOffice) -> None:
        sender, alice, bob = await reviewers(office, "alice", "bob")
        sent = await write(office, sender, ROLE, "please", subject="pay")
        session = sent.posted[0].session_id
        assert session is not None
        await take(office, alice)
        answer = await write(office, alice, "sender", "done", reply_to=sent.message_id)
        again = await write(office, sender, ROLE, "to the role", session_id=session)
        direct = await write(office, sender, "alice", "to you", reply_to=answer.message_id)
        assert (again.posted[0].session_id, direct.posted[0].session_id) == (session, session)
        assert await taken(office, bob) == []
        assert await taken(office, alice) == ["to you", "to the role"]
        back = await write(office, alice, "sender", "and back", reply_to=direct.message_id)
        assert back.posted[0].session_id == session
        thread = await office.history(sender, session)
        assert [line.message.content for line in thread.lines] == ["and back", "to you", "to the role", "done", "please"]

    async def test_who_wrote_to_a_role_lets_its_answer_in_and_nothing_else(self, engine: Engine) -> None:
        async with office_with(engine, auth=Auth.KEYS) as office:
            sender, alice = await member(office, "sender"), await member(office, "alice", "sender")
            await office.roles.make(sender, ROLE, ["alice"], allow_from=["sender"])
            sent = await write(office, sender, ROLE, subject="pay")
            await take(office, alice)
            await write(office, alice, "sender", "yes", reply_to=sent.message_id)
            with pytest.raises(NotAdmitted):
                await write(office, alice, "sender", "and buy this")


class TestTasks:
    async def test_the_taker_that_accepts_it_becomes_its_assignee_and_alone_moves_it(self, office: PostOffice) -> None:
        sender, alice, bob = await reviewers(office, "alice", "bob")
        asked = await ask(office, sender, ROLE)
        with pytest.raises(NoSuchTask):
            await office.update_task(alice, asked.message_id, TaskState.ACCEPTED)  # whoever takes it first
        await take(office, alice)
        accepted = await office.update_task(alice, asked.message_id, TaskState.ACCEPTED)
        assert (accepted.assignee, accepted.role) == ("alice", ROLE)
        assert (await office.tasks(alice, assignee="alice")).items[0].id == accepted.id
        with pytest.raises(NoSuchTask):
            await office.update_task(bob, asked.message_id, TaskState.WORKING)
        assert (await standing(office, sender, asked.message_id)).state is State.ACKED
        done = await office.update_task(alice, asked.message_id, TaskState.COMPLETED)
        assert done.state is TaskState.COMPLETED
        update = await take(office, sender)
        assert (update.message.sender, update.session_id) == ("alice", asked.posted[0].session_id)

    async def test_one_that_was_not_accepted_goes_to_the_next(self, office: PostOffice, engine: Engine) -> None:
        sender, alice, bob = await reviewers(office, "alice", "bob")
        asked = await ask(office, sender, ROLE)
        await take(office, alice)
        await engine.advance(LEASE)
        await take(office, bob)
        with pytest.raises(NoSuchTask):
            await office.update_task(alice, asked.message_id, TaskState.ACCEPTED)
        assert (await office.update_task(bob, asked.message_id, TaskState.ACCEPTED)).assignee == "bob"

    async def test_accepting_counts_what_its_taker_has_and_its_requester_may_cancel_it(self, office: PostOffice) -> None:
        sender, alice = await reviewers(office, "alice")
        await office.update_card(alice, {"max_concurrent_tasks": 1})
        asked = [await ask(office, sender, ROLE, subject=word) for word in ("one", "two")]
        assert len((await office.receive(alice, 2)).leased) == 2
        await office.update_task(alice, asked[0].message_id, TaskState.ACCEPTED)
        with pytest.raises(OverQuota):
            await office.update_task(alice, asked[1].message_id, TaskState.ACCEPTED)
        canceled = await office.update_task(sender, asked[0].message_id, TaskState.CANCELED)
        assert (canceled.state, canceled.assignee) == (TaskState.CANCELED, "alice")
        assert (await take(office, alice)).message.type == "task_update"
        assert (await office.update_task(sender, asked[1].message_id, TaskState.CANCELED)).state is TaskState.CANCELED

    async def test_a_windows_end_gives_back_what_it_took_for_a_role(self, office: PostOffice) -> None:
        sender, alice, bob = await reviewers(office, "alice", "bob")
        place = Place(machine="laptop", process=4711, started="1")
        opened = await office.open_window(None, Opening(client="claude-code", place=place, folder="/home/ann/shop", agent="alice"))
        await write(office, sender, ROLE, subject="pay")
        await take(office, at(alice, opened))
        assert await taken(office, bob) == []
        await office.close_window(None, opened.id)
        assert await taken(office, bob) == ["hello"]


class TestStaff:
    async def test_only_its_maker_changes_it_and_anybody_may_leave(self, office: PostOffice) -> None:
        sender, alice, bob = await reviewers(office, "alice", "bob")
        with pytest.raises(NotItsMaker):
            await office.roles.change(alice, ROLE, remove=["bob"])
        assert (await office.roles.change(alice, ROLE, remove=["alice"])).staff == ("bob",)
        await write(office, sender, ROLE)
        assert await taken(office, alice) == []
        assert await taken(office, bob) == ["hello"]

    async def test_who_is_taken_out_loses_what_it_has_in_hand(self, office: PostOffice) -> None:
        sender, alice, bob = await reviewers(office, "alice", "bob")
        await write(office, sender, ROLE, subject="pay")
        await take(office, alice)
        await office.roles.change(sender, ROLE, remove=["alice"])
        assert await taken(office, bob) == ["hello"]

    async def test_nobody_is_put_into_a_role_by_whom_it_lets_no_mail_in(self, engine: Engine) -> None:
        async with office_with(engine, auth=Auth.KEYS) as office:
            sender, _ = await member(office, "sender"), await member(office, "alice")
            with pytest.raises(NotAdmitted):
                await office.roles.make(sender, ROLE, ["alice"])
            with pytest.raises(NoSuchRole):
                await office.roles.role(ROLE)

    async def test_a_capability_staffs_it_with_whoever_has_it_while_they_have_it(self, office: PostOffice) -> None:
        sender, alice = await people(office, "sender", "alice")
        await office.roles.make(sender, ROLE, capability="Review")
        await write(office, sender, ROLE, "one", subject="one")
        assert await taken(office, alice) == []
        await office.update_card(alice, {"capabilities": ["review"]})
        assert await taken(office, alice) == ["one"]
        assert (await office.roles.role(ROLE)).staff == ("alice",)
        await office.update_card(alice, {"capabilities": []})
        await write(office, sender, ROLE, "two", subject="two")
        assert await taken(office, alice) == []

    async def test_a_sender_hears_whether_somebody_can_take_it(self, office: PostOffice) -> None:
        sender, alice, bob = await reviewers(office, "alice", "bob")
        for one in (alice, bob):
            await office.leave(one)
        sent = await write(office, sender, ROLE)
        assert sent.posted[0].reach is not None
        assert sent.posted[0].reach.text == "none of the 2 in it can take it now"
        await take(office, *await people(office, "alice"))  # who is at work takes more when that is done
        sent = await write(office, sender, ROLE)
        assert sent.posted[0].reach is not None
        assert sent.posted[0].reach.text == "1 of 2 can take it now"
        await office.settle(alice, [Ack(one.leased.message.id) for one in await office.in_hand(alice)])
        await office.roles.change(sender, ROLE, remove=["alice", "bob"])
        sent = await write(office, sender, ROLE)
        assert sent.posted[0].reach is not None
        assert sent.posted[0].reach.text == "nobody is in role:reviewer"

    async def test_a_role_that_is_deleted_ends_what_waits_and_tells_its_senders(self, office: PostOffice) -> None:
        sender, alice = await reviewers(office, "alice")
        sent = await write(office, sender, ROLE, "one")
        await take(office, alice)
        with pytest.raises(RoleInUse):
            await office.roles.delete(sender, ROLE)
        await office.ack(alice, sent.message_id)
        dead = await write(office, sender, ROLE, "two")
        assert await office.roles.delete(sender, ROLE) == 1
        assert (await standing(office, sender, dead.message_id)).state is State.DEAD
        assert len(await notices(office, sender)) == 1
        with pytest.raises(NoSuchRole):
            await write(office, sender, ROLE)
        await office.roles.make(sender, ROLE, ["alice"])
        await write(office, sender, ROLE, "three")
        assert await taken(office, alice) == ["three"]


class TestHands:
    @pytest.mark.parametrize("to", ["alice", ROLE])
    async def test_no_more_than_so_many_are_in_hand_and_the_rest_waits_untried(self, office: PostOffice, to: str) -> None:
        sender, alice = await reviewers(office, "alice", max_in_hand=2)
        await office.update_card(alice, {"max_in_hand": 2})
        for n in range(4):
            await write(office, sender, to, str(n), subject=str(n))
        assert await taken(office, alice) == ["0", "1"]
        assert await taken(office, alice) == []
        hand = await office.in_hand(alice)
        waiting = asyncio.create_task(office.wait(alice, within=timedelta(seconds=20)))
        await asyncio.sleep(0)
        await office.ack(alice, hand[0].leased.message.id)
        (more,) = (await waiting).leased
        assert (more.message.content, more.attempt) == ("2", 1)

    async def test_what_ran_out_makes_room_again(self, office: PostOffice, engine: Engine) -> None:
        sender, alice = await people(office, "sender", "alice")
        await office.update_card(alice, {"max_in_hand": 1})
        for n in range(200):
            await write(office, sender, "alice", str(n))
        assert await taken(office, alice) == ["0"]
        await engine.advance(LEASE)
        await office.upkeep.tick()
        assert await taken(office, alice) == ["0"]

    @pytest.mark.parametrize("to", ["alice", ROLE])
    async def test_an_orderly_mailbox_gives_out_one_letter_of_a_session_at_a_time(self, office: PostOffice, to: str) -> None:
        sender, alice = await reviewers(office, "alice", in_order=True)
        await office.update_card(alice, {"in_order": True})
        for subject in ("pay", "tax"):
            for n in range(2):
                await write(office, sender, to, f"{subject} {n}", subject=subject)
        assert await taken(office, alice) == ["pay 0", "tax 0"]
        assert await taken(office, alice) == []
        hand = await office.in_hand(alice)
        await office.ack(alice, hand[0].leased.message.id)
        assert await taken(office, alice) == ["pay 1"]

    @pytest.mark.parametrize("wanted", [{"max_in_hand": 1}, {"in_order": True}])
    async def test_a_lease_that_ran_out_does_not_go_on_beside_what_was_taken_since(
        self, office: PostOffice, engine: Engine, wanted: dict[str, Any]
    ) -> None:
        sender, alice = await people(office, "sender", "alice")
        await office.update_card(alice, wanted)
        late = await write(office, sender, "alice", "1")
        await take(office, alice)
        await engine.advance(LEASE)
        await office.upkeep.tick()
        await write(office, sender, "alice", "2", priority=1)
        assert await taken(office, alice) == ["2"]
        with pytest.raises(LeaseLost):
            await office.extend(alice, late.message_id)

    async def test_who_has_left_a_role_does_not_take_its_letters_up_again(self, office: PostOffice) -> None:
        sender, alice, _ = await reviewers(office, "alice", "bob")
        sent = await write(office, sender, ROLE)
        await take(office, alice)
        await office.roles.change(alice, ROLE, remove=["alice"])
        with pytest.raises(LeaseLost):
            await office.extend(alice, sent.message_id)

    async def test_who_goes_on_with_what_ran_out_has_its_session_again(self, office: PostOffice, engine: Engine) -> None:
        sender, alice, bob = await reviewers(office, "alice", "bob")
        first, second = [await write(office, sender, ROLE, n, subject="pay") for n in ("1", "2")]
        await take(office, alice)
        await engine.advance(LEASE)
        await office.upkeep.tick()
        await office.extend(alice, first.message_id)
        assert await taken(office, bob) == []
        assert [one.message.id for one in (await office.receive(alice)).leased] == [second.message_id]
