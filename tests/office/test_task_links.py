"""Tasks are parts of others and wait for others: who waits for whom is known, nobody waits for itself, and whoever waits is told once."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from postoffice.core.agent import Caller
from postoffice.core.errors import BadLimit, BadMessage, NoSuchTask, TaskCycle, TaskFinal
from postoffice.core.event import Kind
from postoffice.core.message import TaskRef
from postoffice.core.task import TaskState
from postoffice.core.window import Opening, Place
from postoffice.office import PostOffice
from tests.engines import Engine
from tests.mail import ask, people, take, write

ACCEPTED, WORKING, COMPLETED, FAILED = TaskState.ACCEPTED, TaskState.WORKING, TaskState.COMPLETED, TaskState.FAILED


async def wish(office: PostOffice, boss: Caller, to: str, **links: Any) -> str:
    """Ask for work that belongs to other work; gives its id."""
    return (await ask(office, boss, to, TaskRef(**links))).message_id


async def notices(office: PostOffice, caller: Caller) -> list[Any]:
    return [message.payload for message in (await office.waiting(caller)).items if message.sender == "system"]


class TestLinks:
    async def test_who_waits_for_whom_is_shown_until_it_is_over(self, office: PostOffice) -> None:
        boss, coder, docs = await people(office, "boss", "coder", "docs")
        whole = await wish(office, boss, "coder")
        code = await wish(office, boss, "coder", parent=whole[-8:])
        guide = await wish(office, boss, "docs", parent=whole, blocked_by=(code[-8:], code))
        told = await take(office, docs)
        assert told.message.task is not None
        assert (told.message.task.parent, told.message.task.blocked_by) == (whole, (code,))
        task = await office.task(docs, guide)
        assert (task.parent, [(one.id, one.state, one.assignee) for one in task.waits_for]) == (whole, [(code, "pending", "coder")])
        assert (await office.task(boss, whole)).open_parts == 2
        done = await office.update_task(coder, code, COMPLETED)
        assert (done.open_parts, done.parent) == (0, whole)
        task = await office.task(docs, guide)
        assert (task.waits_for, [one.state for one in task.blocked_by]) == ((), [COMPLETED])
        assert (await office.task(boss, whole)).open_parts == 1

    async def test_whoever_waits_is_told_once_when_the_last_is_over_however_it_ended(self, office: PostOffice) -> None:
        boss, coder, docs = await people(office, "boss", "coder", "docs")
        first, second, third = [await wish(office, boss, "coder") for _ in range(3)]
        await wish(office, boss, "docs", blocked_by=(first, second, third))
        await office.update_task(coder, first, COMPLETED)
        await office.cancel(boss, second)
        await office.upkeep.tick()
        assert await notices(office, docs) == []
        await office.update_task(coder, third, FAILED)
        for _ in range(2):
            (notice,) = await notices(office, docs)
            assert (notice["kind"], notice["not_completed"]) == ("task_unblocked", [second, third])
            await office.upkeep.tick()
        events = [event.data for event in await office.news(docs) if event.kind is Kind.TASK]
        assert [event for event in events if "unblocked" in event] == [{"state": "pending", "unblocked": True}]

    async def test_what_is_over_already_is_waited_for_by_nobody(self, office: PostOffice) -> None:
        boss, coder, docs = await people(office, "boss", "coder", "docs")
        first = await wish(office, boss, "coder")
        await office.update_task(coder, first, COMPLETED)
        guide = await wish(office, boss, "docs", blocked_by=(first,))
        await office.upkeep.tick()
        assert await notices(office, docs) == []
        assert (await office.task(docs, guide)).waits_for == ()

    async def test_one_whose_own_task_ended_meanwhile_is_told_nothing(self, office: PostOffice) -> None:
        boss, coder, docs = await people(office, "boss", "coder", "docs")
        first = await wish(office, boss, "coder")
        guide = await wish(office, boss, "docs", blocked_by=(first,))
        await office.update_task(docs, guide, TaskState.REJECTED)
        await office.update_task(coder, first, COMPLETED)
        await office.upkeep.tick()
        assert await notices(office, docs) == []

    async def test_one_that_has_not_been_asked_yet_is_told_once_it_is(self, office: PostOffice, engine: Engine) -> None:
        boss, coder, docs = await people(office, "boss", "coder", "docs")
        first = await wish(office, boss, "coder")
        later = timedelta(hours=1)
        await write(office, boss, "docs", "do it", type="task", task=TaskRef(blocked_by=(first,)), deliver_at=later)
        await office.update_task(coder, first, COMPLETED)
        await office.upkeep.tick()
        assert (await office.waiting(docs)).items == ()
        await engine.advance(timedelta(hours=1))
        await office.upkeep.tick()
        await office.upkeep.tick()
        assert [notice["kind"] for notice in await notices(office, docs)] == ["task_unblocked"]

    async def test_nobody_ever_waits_for_itself(self, office: PostOffice) -> None:
        boss, coder = await people(office, "boss", "coder")
        whole = await wish(office, boss, "coder")
        part = await wish(office, boss, "coder", parent=whole)
        below = await wish(office, boss, "coder", parent=part)
        for blocker in (whole, part):
            with pytest.raises(TaskCycle):
                await wish(office, boss, "coder", parent=below, blocked_by=(blocker,))
        other = await wish(office, boss, "coder", blocked_by=(whole,))
        with pytest.raises(TaskCycle):
            await wish(office, boss, "coder", parent=part, blocked_by=(other,))
        await wish(office, boss, "coder", parent=other, blocked_by=(below,))
        assert len((await office.waiting(coder, limit=100)).items) == 5
        await office.update_task(coder, other, FAILED)
        await wish(office, boss, "coder", parent=part, blocked_by=(other,))  # it waits for nothing any more

    async def test_of_two_that_close_a_circle_together_one_is_refused(self, office: PostOffice) -> None:
        boss, _ = await people(office, "boss", "coder")
        one, other = [await wish(office, boss, "coder") for _ in range(2)]
        claims = [
            wish(office, boss, "coder", parent=one, blocked_by=(other,)),
            wish(office, boss, "coder", parent=other, blocked_by=(one,)),
        ]
        outcomes = await asyncio.gather(*claims, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes if not isinstance(outcome, str)] == [TaskCycle]

    async def test_only_ones_own_tasks_are_named_and_none_that_is_over(self, office: PostOffice) -> None:
        boss, coder, eve = await people(office, "boss", "coder", "eve")
        whole = await wish(office, boss, "coder")
        for links in ({"parent": whole}, {"blocked_by": (whole,)}, {"parent": "nothing"}):
            with pytest.raises(NoSuchTask):
                await wish(office, eve, "coder", **links)
        await wish(office, coder, "eve", parent=whole)  # who was asked may ask others in turn
        await office.update_task(coder, whole, COMPLETED)
        with pytest.raises(TaskFinal):
            await wish(office, boss, "coder", parent=whole)
        with pytest.raises(BadMessage):
            await wish(office, boss, "coder", blocked_by=tuple(map(str, range(21))))
        with pytest.raises(BadMessage):
            await write(office, boss, "coder", task=TaskRef(parent=whole))


class TestProgress:
    async def test_how_far_it_is_is_kept_and_told(self, office: PostOffice) -> None:
        boss, coder = await people(office, "boss", "coder")
        id = await wish(office, boss, "coder")
        assert (await office.update_task(coder, id, WORKING, percent=40)).percent == 40
        assert (await office.update_task(coder, id, WORKING)).percent == 40
        report = await take(office, boss)
        assert report.message.task is not None
        assert report.message.task.percent == 40
        assert [step.percent for step in (await office.task(boss, id)).steps] == [None, None, 40, None]
        for percent in (-1, 101):
            with pytest.raises(BadLimit):
                await office.update_task(coder, id, WORKING, percent=percent)

    async def test_a_task_that_is_completed_before_its_parts_says_so(self, office: PostOffice) -> None:
        boss, coder = await people(office, "boss", "coder")
        whole = await wish(office, boss, "coder")
        parts = [await wish(office, coder, "boss", parent=whole) for _ in range(2)]
        await office.update_task(boss, parts[0], COMPLETED)
        assert (await office.update_task(coder, whole, COMPLETED)).open_parts == 1
        reports = [message for message in (await office.waiting(boss)).items if message.type == "task_update"]
        assert [report.task.open_parts for report in reports if report.task] == [1]
        await office.update_task(boss, parts[1], COMPLETED)
        assert (await office.task(boss, whole)).open_parts == 0


class TestSilence:
    async def open(self, office: PostOffice, process: int) -> str:
        place = Place("laptop", process, "1")
        return (await office.open_window(None, Opening(client="codex", place=place, folder="/x", agent="coder"))).id

    async def test_who_asked_is_told_once_that_the_window_is_gone_and_what_can_be_done(self, office: PostOffice, engine: Engine) -> None:
        (boss,) = await people(office, "boss")
        window = await self.open(office, 1)
        coder = await office.identify(name="coder")
        id = await wish(office, boss, "coder")
        await office.update_task(coder, id, ACCEPTED)
        await take(office, boss)
        for _ in range(5):
            await office.upkeep.tick()
        await office.close_window(None, window)
        await engine.advance(timedelta(minutes=4))
        await office.upkeep.sweep()
        assert await notices(office, boss) == []
        await engine.advance(timedelta(minutes=2))
        for _ in range(2):
            await office.upkeep.sweep()
            (message,) = [one for one in (await office.waiting(boss)).items if one.sender == "system"]
            assert (message.payload["kind"], message.payload["message_id"], message.reply_to) == ("assignee_gone", id, id)
            assert "cancel the task and ask somebody else" in (message.content or "")

    async def test_one_that_has_a_window_again_or_never_had_one_is_not_gone(self, office: PostOffice, engine: Engine) -> None:
        boss, script = await people(office, "boss", "script")
        await office.close_window(None, await self.open(office, 1))
        coder = await office.identify(name="coder")
        for caller in (coder, script):
            await office.update_task(caller, await wish(office, boss, caller.name), WORKING)
        await engine.advance(timedelta(minutes=6))
        await self.open(office, 2)
        await office.upkeep.sweep()
        assert await notices(office, boss) == []
