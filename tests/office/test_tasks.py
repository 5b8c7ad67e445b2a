"""Section 5: tasks, their states, and who moves them."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from postoffice.core.agent import Caller
from postoffice.core.clock import moment
from postoffice.core.delivery import State
from postoffice.core.draft import Draft
from postoffice.core.errors import (
    AmbiguousId,
    BadTaskMove,
    DeadlinePassed,
    Forbidden,
    MailboxFull,
    NoSuchTask,
    NotAdmitted,
    NotAssignee,
    NotRequester,
    OneRecipient,
    OverQuota,
    RateLimited,
    TaskFinal,
)
from postoffice.core.message import TaskRef
from postoffice.core.task import Task, TaskState
from postoffice.office import PostOffice
from tests.engines import Engine
from tests.mail import ask, notices, office_with, people, standing, take, taken, write

P, A, W, C, R, F, X = TaskState
LEGAL = {(P, A), (P, W), (P, C), (P, R), (P, F), (A, W), (A, C), (A, F), (W, C), (W, F), (P, P), (A, A), (W, W)}
ROAD = {P: [], A: [A], W: [A, W], C: [A, W, C], R: [R], F: [F], X: []}
OVER = (C, R, F, X)


async def bring(office: PostOffice, assignee: Caller, ref: str, state: TaskState) -> None:
    for step in ROAD[state]:
        await office.update_task(assignee, ref, step)
    if state is X:
        await office.cancel(office.owner(), ref)


async def now(office: PostOffice) -> Any:
    """The store's clock, as a task of this moment shows it."""
    (row,) = await office.store.engine.fetch("now")
    return moment(row[0])


def steps(task: Task) -> list[tuple[TaskState, bool]]:
    return [(step.state, step.implied) for step in task.steps]


class TestStates:
    @pytest.mark.parametrize("state", list(TaskState))
    async def test_a_task_goes_only_where_its_road_leads(self, office: PostOffice, state: TaskState) -> None:
        alice, bob = await people(office, "alice", "bob")
        for wanted in TaskState:
            id = (await ask(office, alice, "bob")).message_id
            await bring(office, bob, id, state)
            if (state, wanted) in LEGAL:
                assert (await office.update_task(bob, id, wanted)).state is wanted
            else:
                refusal = NotRequester if wanted is X else TaskFinal if state in OVER else BadTaskMove
                with pytest.raises(refusal):
                    await office.update_task(bob, id, wanted)
                assert (await office.task(alice, id)).state is state, wanted
            if (await office.task(alice, id)).state not in OVER:
                await office.update_task(bob, id, F)  # nobody works on more than a few at a time

    async def test_the_steps_a_skip_implies_are_recorded(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        id = (await ask(office, alice, "bob")).message_id
        task = await office.update_task(bob, id, C, Draft(to="alice", content="done"))
        assert steps(task) == [(P, False), (A, True), (W, True), (C, False)]
        assert task.steps[-1].text == "done"

    async def test_failing_implies_nothing(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        id = (await ask(office, alice, "bob")).message_id
        assert steps(await office.update_task(bob, id, F)) == [(P, False), (F, False)]

    async def test_two_final_moves_at_once_leave_one(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        id = (await ask(office, alice, "bob")).message_id
        outcomes = await asyncio.gather(*(office.update_task(bob, id, s) for s in (C, F)), return_exceptions=True)
        assert sum(isinstance(outcome, Task) for outcome in outcomes) == 1
        assert sum(isinstance(outcome, TaskFinal) for outcome in outcomes) == 1


class TestWhoMovesIt:
    async def test_the_requester_cannot_move_it(self, office: PostOffice) -> None:
        alice, _ = await people(office, "alice", "bob")
        id = (await ask(office, alice, "bob")).message_id
        with pytest.raises(NotAssignee):
            await office.update_task(alice, id, F)

    async def test_nobody_else_knows_of_it(self, office: PostOffice) -> None:
        alice, _, eve = await people(office, "alice", "bob", "eve")
        id = (await ask(office, alice, "bob")).message_id
        for call in (office.update_task(eve, id, F), office.task(eve, id)):
            with pytest.raises(NoSuchTask):
                await call

    async def test_a_task_goes_to_one_agent(self, office: PostOffice) -> None:
        alice, _, _ = await people(office, "alice", "bob", "carol")
        for to in (("bob", "carol"), "ALL"):
            with pytest.raises(OneRecipient):
                await office.send(alice, Draft(to=to, content="do it", type="task"))

    @pytest.mark.parametrize("by", ["T-1", "message"])
    async def test_a_task_is_found_and_moved_by_its_own_id_and_by_its_messages(self, office: PostOffice, by: str) -> None:
        alice, bob = await people(office, "alice", "bob")
        asked = await ask(office, alice, "bob", TaskRef("T-1"))
        ref = asked.message_id if by == "message" else "T-1"
        assert (await office.update_task(bob, ref, A)).id == "T-1"
        assert (await office.task(alice, ref)).message_id == asked.message_id

    async def test_a_task_id_that_names_two_tasks_is_refused(self, office: PostOffice) -> None:
        alice, carol, bob = await people(office, "alice", "carol", "bob")
        first = await ask(office, alice, "bob", TaskRef("T-1"))
        await ask(office, carol, "bob", TaskRef("T-1"))
        with pytest.raises(AmbiguousId):
            await office.update_task(bob, "T-1", A)
        with pytest.raises(AmbiguousId):
            await office.task(bob, "T-1")
        assert (await office.task(alice, "T-1")).message_id == first.message_id
        assert (await office.update_task(bob, first.message_id, A)).requester == "alice"

    async def test_nobody_takes_over_a_task_by_naming_another_after_its_message(self, office: PostOffice) -> None:
        alice, mallory, bob = await people(office, "alice", "mallory", "bob")
        asked = await ask(office, alice, "bob")
        await ask(office, mallory, "bob", TaskRef(asked.message_id))
        assert (await office.task(bob, asked.message_id)).requester == "alice"
        assert (await office.update_task(bob, asked.message_id, A)).requester == "alice"

    async def test_the_owner_sees_any_task(self, office: PostOffice) -> None:
        alice, _ = await people(office, "alice", "bob")
        id = (await ask(office, alice, "bob")).message_id
        assert (await office.task(office.owner(), id)).assignee == "bob"
        assert [task.id for task in (await office.tasks(office.owner())).items] == [id]


class TestAccepting:
    @pytest.mark.parametrize("wanted", [A, W])
    async def test_no_more_tasks_are_under_way_than_the_card_allows(self, office: PostOffice, wanted: TaskState) -> None:
        alice, bob = await people(office, "alice", "bob")
        await office.update_card(bob, {"max_concurrent_tasks": 1})
        first, second = [(await ask(office, alice, "bob")).message_id for _ in range(2)]
        await office.update_task(bob, first, wanted)
        with pytest.raises(OverQuota):
            await office.update_task(bob, second, wanted)
        await office.update_task(bob, first, C)
        assert (await office.update_task(bob, second, wanted)).state is wanted

    async def test_acceptances_at_once_keep_the_quota(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await office.update_card(bob, {"max_concurrent_tasks": 2})
        ids = [(await ask(office, alice, "bob")).message_id for _ in range(6)]
        outcomes = await asyncio.gather(*(office.update_task(bob, id, A) for id in ids), return_exceptions=True)
        assert sum(isinstance(outcome, Task) for outcome in outcomes) == 2
        assert len((await office.agent("bob")).current_tasks) == 2

    async def test_a_task_over_quota_may_still_be_rejected(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await office.update_card(bob, {"max_concurrent_tasks": 0})
        id = (await ask(office, alice, "bob")).message_id
        assert (await office.update_task(bob, id, R)).state is R

    async def test_saying_accepted_again_reports_progress_and_accepts_nothing(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await office.update_card(bob, {"max_concurrent_tasks": 1})
        id = (await ask(office, alice, "bob")).message_id
        await office.update_task(bob, id, A)
        task = await office.update_task(bob, id, A, Draft(to="alice", content="soon"))
        assert task.steps[-1].text == "soon"

    async def test_a_task_keeps_the_newest_reports_each_by_its_beginning(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        id = (await ask(office, alice, "bob")).message_id
        for number in range(60):
            task = await office.update_task(bob, id, W, Draft(to="alice", content=f"{number} " + "x" * 5000))
        task = await office.update_task(bob, id, C)
        told = [(step.text or "").partition(" ")[0] for step in task.steps]
        assert [step.state for step in task.steps] == [P, A, *[W] * 51, C]
        assert told == ["", "", "0", *map(str, range(10, 60)), ""]
        assert max(len(step.text or "") for step in task.steps) == 4_000
        assert (await office.counts(alice)).pending == 61

    async def test_reports_are_bounded_as_mail_is_and_the_end_is_not(self, engine: Engine) -> None:
        async with office_with(engine, depth=2, sends_per_minute=3) as office:
            alice, bob = await people(office, "alice", "bob")
            id = (await ask(office, alice, "bob")).message_id
            for state in (A, W):
                await office.update_task(bob, id, state)
            with pytest.raises(MailboxFull):
                await office.update_task(bob, id, W)
            for _ in range(3):
                await office.pop(alice)
                await office.update_task(bob, id, W)
            await office.pop(alice)
            with pytest.raises(RateLimited):
                await office.update_task(bob, id, W)
            await office.update_task(bob, id, C)

    async def test_a_requester_no_longer_admitted_has_its_task_not_accepted(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        id = (await ask(office, alice, "bob")).message_id
        await office.update_card(bob, {"allow_from": []})
        with pytest.raises(NotAdmitted):
            await office.update_task(bob, id, A)
        assert (await office.update_task(bob, id, R)).state is R

    @pytest.mark.parametrize("wanted", [A, W, C])
    async def test_a_task_past_its_deadline_is_not_accepted(self, office: PostOffice, engine: Engine, wanted: TaskState) -> None:
        alice, bob = await people(office, "alice", "bob")
        deadline = await now(office) + timedelta(hours=1)
        id = (await ask(office, alice, "bob", TaskRef(deadline=deadline))).message_id
        await engine.advance(timedelta(hours=2))
        with pytest.raises(DeadlinePassed):
            await office.update_task(bob, id, wanted)
        assert (await office.update_task(bob, id, F)).state is F

    async def test_a_task_under_way_may_be_completed_after_its_deadline(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        deadline = await now(office) + timedelta(hours=1)
        id = (await ask(office, alice, "bob", TaskRef(deadline=deadline))).message_id
        await office.update_task(bob, id, A)
        await engine.advance(timedelta(hours=2))
        assert (await office.update_task(bob, id, C)).state is C


class TestUpdates:
    async def test_every_update_goes_to_the_requester_in_the_tasks_session(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        asked = await ask(office, alice, "bob", TaskRef("T-1"), subject="Build")
        await office.update_task(bob, "T-1", W, Draft(to="alice", content="half done", payload={"percent": 50}))
        leased = await take(office, alice)
        message = leased.message
        assert (message.type, message.sender, message.subject, message.reply_to) == ("task_update", "bob", "Build", asked.message_id)
        assert (message.content, message.payload) == ("half done", {"percent": 50})
        assert message.task is not None
        assert (message.task.id, message.task.state, leased.session_id) == ("T-1", "working", asked.session_id)

    async def test_the_tasks_callback_is_put_on_every_update(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        callback = {"session_id": "agent:main", "channel": "telegram"}
        id = (await ask(office, alice, "bob", callback=callback)).message_id
        for state in (A, W, W, C):
            await office.update_task(bob, id, state)
        updates = [leased.message.callback for leased in (await office.receive(alice)).leased]
        assert updates == [callback] * 4
        assert (await office.task(alice, id)).callback == callback

    async def test_both_sides_hear_of_every_move(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        id = (await ask(office, alice, "bob")).message_id
        await office.update_task(bob, id, A)
        for caller in (alice, bob):
            heard = [(event.ref, event.data) for event in await office.news(caller) if event.kind == "task"]
            assert heard == [(id, {"state": "accepted"})]

    async def test_moving_a_task_settles_the_mail_that_asked_for_it(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        id = (await ask(office, alice, "bob")).message_id
        await office.update_task(bob, id, A)
        assert (await standing(office, alice, id)).state is State.ACKED
        assert await taken(office, bob) == []

    async def test_mail_in_somebodys_hand_stays_there_when_its_task_moves(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        id = (await ask(office, alice, "bob")).message_id
        leased = await take(office, bob)
        await office.update_task(bob, id, A)
        assert (await office.ack(bob, id, leased.token)).state is State.ACKED


class TestOverdue:
    async def test_a_task_that_is_overdue_is_reported_once(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        deadline = await now(office) + timedelta(hours=1)
        id = (await ask(office, alice, "bob", TaskRef("T-1", deadline=deadline))).message_id
        await office.upkeep.sweep()
        assert await notices(office, alice) == []
        await engine.advance(timedelta(hours=2))
        await office.upkeep.sweep()
        await office.upkeep.sweep()
        (notice,) = await notices(office, alice)
        assert (notice.payload["kind"], notice.payload["task_id"], notice.reply_to) == ("task_overdue", "T-1", id)
        assert (await office.task(bob, "T-1")).overdue

    async def test_a_finished_task_is_never_overdue(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        deadline = await now(office) + timedelta(hours=1)
        id = (await ask(office, alice, "bob", TaskRef(deadline=deadline))).message_id
        await office.update_task(bob, id, C)
        await engine.advance(timedelta(hours=2))
        await office.upkeep.sweep()
        assert await notices(office, alice) == []
        assert not (await office.task(alice, id)).overdue


class TestLists:
    async def test_an_agent_lists_the_tasks_asked_of_it_and_by_it(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        asked = await ask(office, alice, "bob")
        other = await ask(office, bob, "alice")
        assert [task.id for task in (await office.tasks(bob)).items] == [asked.message_id]
        assert [task.id for task in (await office.tasks(bob, requester="bob")).items] == [other.message_id]

    async def test_tasks_are_listed_by_state_newest_first_and_paged(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        ids = [(await ask(office, alice, "bob")).message_id for _ in range(5)]
        await office.update_task(bob, ids[0], F)
        assert [task.id for task in (await office.tasks(bob, state=F)).items] == ids[:1]
        first = await office.tasks(bob, limit=3)
        rest = await office.tasks(bob, cursor=first.cursor, limit=3)
        assert [task.id for task in (*first.items, *rest.items)] == ids[::-1]
        assert rest.cursor is None

    async def test_an_agent_does_not_list_others_tasks(self, office: PostOffice) -> None:
        alice, _, eve = await people(office, "alice", "bob", "eve")
        await ask(office, alice, "bob")
        with pytest.raises(Forbidden):
            await office.tasks(eve, assignee="bob")

    async def test_a_message_of_another_type_is_no_task(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        accepted = await write(office, alice, "bob", task=TaskRef("T-1"))
        for ref in ("T-1", accepted.message_id):
            with pytest.raises(NoSuchTask):
                await office.update_task(bob, ref, A)
