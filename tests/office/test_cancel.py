"""Cancel: a sender takes back what still waits."""

import asyncio
from datetime import timedelta

import pytest

from postoffice.core.delivery import State
from postoffice.core.draft import Draft
from postoffice.core.errors import AmbiguousId, LeaseLost, NoSuchMessage, TaskFinal, TooLateToCancel, WasCanceled
from postoffice.core.message import TaskRef
from postoffice.core.task import TaskState
from postoffice.office import PostOffice
from tests.engines import Engine
from tests.mail import ask, people, standing, take, taken, write


async def test_what_waits_is_dead_and_nobody_takes_it(office: PostOffice) -> None:
    alice, bob = await people(office, "alice", "bob")
    sent = await write(office, alice, "bob", subject="Plan")
    id, (one,) = await office.cancel(alice, sent.message_id[-6:])
    assert (id, one.recipient, one.state, one.canceled) == (sent.message_id, "bob", State.DEAD, True)
    told = await standing(office, alice, sent.message_id)
    assert (told.state, told.reason) == (State.DEAD, "canceled")
    assert await taken(office, bob) == []
    counts = await office.counts(office.owner(), of="bob")
    assert (counts.pending, counts.dead) == (0, 1)
    assert (await office.inbox(bob)).items[0].unread == 0
    assert [(event.kind, event.data) for event in await office.news(bob)][-1] == ("dead_letter", {"reason": "canceled"})
    assert await taken(office, alice) == []  # who took it back needs no notice
    assert (await office.cancel(alice, sent.message_id))[1] == (one,)
    with pytest.raises(WasCanceled):
        await office.requeue(bob, sent.message_id)


async def test_each_recipient_by_itself(office: PostOffice) -> None:
    alice, bob, carol, dave = await people(office, "alice", "bob", "carol", "dave")
    sent = await write(office, alice, ("bob", "carol", "dave"))
    await take(office, bob)
    await office.pop(carol)
    _, recalled = await office.cancel(alice, sent.message_id)
    assert {one.recipient: (one.state, one.canceled) for one in recalled} == {
        "bob": (State.LEASED, False),
        "carol": (State.ACKED, False),
        "dave": (State.DEAD, True),
    }
    assert await taken(office, dave) == []


async def test_too_late_is_told_with_what_became_of_it(office: PostOffice) -> None:
    alice, bob = await people(office, "alice", "bob")
    sent = await write(office, alice, "bob")
    leased = await take(office, bob)
    with pytest.raises(TooLateToCancel, match="leased with bob"):
        await office.cancel(alice, sent.message_id)
    await office.ack(bob, sent.message_id, leased.token)
    with pytest.raises(TooLateToCancel, match="acked with bob"):
        await office.cancel(alice, sent.message_id)


async def test_only_its_sender_and_the_owner_cancel(office: PostOffice) -> None:
    alice, bob, eve = await people(office, "alice", "bob", "eve")
    sent = await write(office, alice, "bob", client_id="mine")
    for other in (bob, eve):
        with pytest.raises(NoSuchMessage):
            await office.cancel(other, sent.message_id)
    assert (await office.cancel(office.owner(), sent.message_id))[1][0].canceled
    await write(office, alice, "eve", client_id="mine")
    with pytest.raises(AmbiguousId):
        await office.cancel(alice, "mine")


async def test_held_mail_is_canceled_without_a_word_to_its_recipient(office: PostOffice) -> None:
    alice, bob = await people(office, "alice", "bob")
    before = len(await office.news(bob))
    held = await office.send(alice, Draft(to="bob", content="later", hold=True))
    assert (await office.cancel(alice, held.message_id))[1][0].canceled
    assert len(await office.news(bob)) == before
    assert (await office.counts(office.owner(), of="bob")).held == 0


async def test_what_came_back_from_a_lease_can_be_canceled_and_is_lost_to_its_holder(office: PostOffice, engine: Engine) -> None:
    alice, bob = await people(office, "alice", "bob")
    sent = await write(office, alice, "bob")
    leased = await take(office, bob)
    await engine.advance(timedelta(minutes=1))
    await office.upkeep.sweep()
    assert (await office.cancel(alice, sent.message_id))[1][0].canceled
    with pytest.raises(LeaseLost):
        await office.ack(bob, sent.message_id, leased.token)


async def test_a_task_that_nobody_has_taken_is_canceled_and_nobody_is_told(office: PostOffice) -> None:
    alice, bob = await people(office, "alice", "bob")
    task = await ask(office, alice, "bob")
    await office.cancel(alice, task.message_id)
    assert (await office.task(alice, task.message_id)).state is TaskState.CANCELED
    assert await taken(office, bob) == []
    with pytest.raises(WasCanceled):
        await office.requeue(bob, task.message_id)


@pytest.mark.parametrize("state", [TaskState.PENDING, TaskState.ACCEPTED, TaskState.WORKING])
async def test_a_task_at_work_is_canceled_and_its_assignee_is_told_once(office: PostOffice, state: TaskState) -> None:
    alice, bob = await people(office, "alice", "bob")
    asked = await ask(office, alice, "bob", TaskRef("T-1"), callback={"session_id": "s"}, subject="Shed", correlation_id="c-1")
    leased = await take(office, bob)
    if state is not TaskState.PENDING:
        await office.update_task(bob, "T-1", state)
    task = await office.update_task(alice, "T-1", TaskState.CANCELED, Draft(to="bob", content="no need"))
    assert (task.state, task.steps[-1].text) == (TaskState.CANCELED, "no need")
    await office.ack(bob, asked.message_id, leased.token)  # it was never taken from its hands
    told = (await take(office, bob)).message
    assert (told.type, told.sender, told.content, told.subject, told.reply_to) == (
        "task_update",
        "alice",
        "no need",
        "Shed",
        asked.message_id,
    )
    assert told.task == TaskRef("T-1", TaskState.CANCELED)
    assert (told.callback, told.correlation_id) == (None, "c-1")
    assert (await office.counts(office.owner(), of="bob")).leased == 1
    assert (await office.agent("bob")).current_tasks == ()
    again = await office.update_task(alice, "T-1", TaskState.CANCELED, Draft(to="bob", content="said again"))
    assert again == task
    assert (await office.cancel(alice, asked.message_id))[1][0].canceled
    assert await taken(office, bob) == []
    with pytest.raises(TaskFinal, match="canceled already"):
        await office.update_task(bob, "T-1", TaskState.COMPLETED)
    assert task.message_id in [one.message_id for one in await office.finished_tasks(office.owner())]


async def test_a_task_whose_lease_ran_out_may_be_at_work_and_is_told_of(office: PostOffice, engine: Engine) -> None:
    alice, bob = await people(office, "alice", "bob")
    asked = await ask(office, alice, "bob")
    await take(office, bob)
    await engine.advance(timedelta(minutes=1))
    await office.upkeep.sweep()
    assert (await office.cancel(alice, asked.message_id))[1][0].state is State.DEAD
    assert (await take(office, bob)).message.type == "task_update"


async def test_what_is_over_is_not_canceled(office: PostOffice) -> None:
    alice, bob = await people(office, "alice", "bob")
    asked = await ask(office, alice, "bob")
    await take(office, bob)
    await office.update_task(bob, asked.message_id, TaskState.COMPLETED)
    with pytest.raises(TaskFinal, match="completed already"):
        await office.update_task(alice, asked.message_id, TaskState.CANCELED)
    with pytest.raises(TooLateToCancel):
        await office.cancel(alice, asked.message_id)


async def test_the_owner_cancels_and_says_so(office: PostOffice) -> None:
    _, bob = await people(office, "alice", "bob")
    asked = await ask(office, await office.identify(name="alice"), "bob")
    await take(office, bob)
    await office.update_task(office.owner(), asked.message_id, TaskState.CANCELED)
    told = (await take(office, bob)).message
    assert (told.sender, told.from_verified, told.content) == ("alice", False, "Canceled by the owner.")


async def test_a_report_and_a_cancel_at_once_have_one_winner(office: PostOffice) -> None:
    alice, bob = await people(office, "alice", "bob")
    for _ in range(4):
        asked = await ask(office, alice, "bob")
        await take(office, bob)
        outcomes = await asyncio.gather(
            office.update_task(bob, asked.message_id, TaskState.COMPLETED),
            office.update_task(alice, asked.message_id, TaskState.CANCELED),
            return_exceptions=True,
        )
        assert sum(isinstance(one, TaskFinal) for one in outcomes) == 1, outcomes
        await taken(office, bob)
        await taken(office, alice)


async def test_a_take_and_a_cancel_at_once_have_one_winner(office: PostOffice) -> None:
    alice, bob = await people(office, "alice", "bob")
    sent = [await write(office, alice, "bob", str(n)) for n in range(10)]
    receiving = asyncio.create_task(office.receive(bob, 5))
    outcomes = await asyncio.gather(*(office.cancel(alice, one.message_id) for one in sent), return_exceptions=True)
    got = {leased.message.id for leased in (await receiving).leased}
    for one, outcome in zip(sent, outcomes, strict=True):
        assert isinstance(outcome, TooLateToCancel) is (one.message_id in got), outcome
    counts = await office.counts(office.owner(), of="bob")
    assert (counts.leased, counts.dead, counts.pending) == (len(got), 10 - len(got), 0)
