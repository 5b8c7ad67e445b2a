"""A machine that asks for work which belongs to other work, ends it in every order, and compares who waits for whom with a model's."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from postoffice.core.draft import Draft
from postoffice.core.errors import TaskCycle, TaskFinal
from postoffice.core.message import TASK, TaskRef
from postoffice.core.task import FINAL, TaskState
from tests.machine.ground import Ground
from tests.machine.grounded import GroundedMachine

NAMES: Final = ("boss", "coder", "docs")
ENDS: Final = (TaskState.COMPLETED, TaskState.FAILED, TaskState.CANCELED)

names = st.sampled_from(NAMES[1:])
picks = st.integers(0, 9)
doors = st.integers(0, 1)


@dataclass
class Work:
    """A task as the model has it."""

    id: str
    assignee: str
    parent: str | None
    blockers: set[str]
    told: bool
    """Whether nobody is to be told any more that it waits for nothing."""
    state: TaskState = TaskState.PENDING

    @property
    def is_open(self) -> bool:
        return self.state not in FINAL


class TaskMachine(GroundedMachine):
    def __init__(self, ground: Callable[[], Ground]) -> None:
        super().__init__(ground)
        self.works: dict[str, Work] = {}
        self.told: Counter[str] = Counter()
        self.do(self.ground.open())
        self.callers = {name: self.do(self.office().identify(name=name)) for name in NAMES}

    # The model

    def awaited(self, id: str) -> set[str]:
        """All that is open and that a task waits for, itself among them."""
        found, todo = set[str](), [id]
        while todo:
            at = todo.pop()
            if at not in found and self.works[at].is_open:
                found.add(at)
                todo += [*self.works[at].blockers, *(one.id for one in self.works.values() if one.parent == at)]
        return found

    def tell(self) -> None:
        for work in self.works.values():
            if work.is_open and not work.told and not any(self.works[blocker].is_open for blocker in work.blockers):
                work.told = True
                self.told[work.assignee] += 1

    def picked(self, pick: int | None) -> str | None:
        known = sorted(self.works)
        return known[pick % len(known)] if known and pick is not None else None

    # What happens

    async def asks(self, to: str, parent: str | None, blockers: set[str], door: int) -> str | TaskCycle | TaskFinal:
        task = TaskRef(parent=parent, blocked_by=tuple(sorted(blockers)))
        try:
            return (await self.office(door).send(self.callers["boss"], Draft(to=to, type=TASK, content="do it", task=task))).message_id
        except (TaskCycle, TaskFinal) as refusal:
            return refusal

    def keep(self, id: str, to: str, parent: str | None, blockers: set[str]) -> None:
        waits = any(self.works[blocker].is_open for blocker in blockers)
        self.works[id] = Work(id, to, parent, blockers, told=not waits)

    @rule(to=names, parent=st.none() | picks, blockers=st.sets(picks, max_size=3), door=doors)
    def ask(self, to: str, parent: int | None, blockers: set[int], door: int) -> None:
        above = self.picked(parent)
        named = {id for pick in blockers if (id := self.picked(pick)) is not None}
        outcome = self.do(self.asks(to, above, named, door))
        if above is not None and not self.works[above].is_open:
            assert isinstance(outcome, TaskFinal)
        elif above is not None and any(above in self.awaited(blocker) for blocker in named):
            assert isinstance(outcome, TaskCycle)
        else:
            assert isinstance(outcome, str)
            self.keep(outcome, to, above, named)

    @rule(pair=st.lists(picks, min_size=2, max_size=2, unique=True))
    def two_close_a_circle_at_once(self, pair: list[int]) -> None:
        """At two doors: each would be lawful alone."""
        one, other = self.picked(pair[0]), self.picked(pair[1])
        if one is None or other is None or one == other or not (self.works[one].is_open and self.works[other].is_open):
            return
        lawful = [one not in self.awaited(other), other not in self.awaited(one)]

        async def both() -> tuple[Any, Any]:
            return await asyncio.gather(self.asks("docs", one, {other}, 0), self.asks("docs", other, {one}, 1))

        outcomes = self.do(both())
        won = [isinstance(outcome, str) for outcome in outcomes]
        assert sum(won) == (1 if any(lawful) else 0)
        assert all(may for may, did in zip(lawful, won, strict=True) if did)
        for (above, blocker), outcome in zip(((one, other), (other, one)), outcomes, strict=True):
            if isinstance(outcome, str):
                self.keep(outcome, "docs", above, {blocker})

    @rule(pick=picks, end=st.sampled_from(ENDS), door=doors)
    def end_one(self, pick: int, end: TaskState, door: int) -> None:
        id = self.picked(pick)
        if id is None or not self.works[id].is_open:
            return
        who = "boss" if end is TaskState.CANCELED else self.works[id].assignee
        ended = self.do(self.office(door).update_task(self.callers[who], id, end))
        self.works[id].state = end
        assert ended.open_parts == sum(one.is_open for one in self.works.values() if one.parent == id)
        self.tell()

    @rule(door=doors)
    def sweep(self, door: int) -> None:
        self.do(self.office(door).upkeep.sweep())
        self.tell()

    @rule()
    def close_and_reopen(self) -> None:
        self.do(self.ground.reopen())

    # What is always so

    @invariant()
    def who_waits_for_whom_is_the_models(self) -> None:
        for number, work in enumerate(self.works.values()):
            task = self.do(self.office(number).task(self.callers["boss"], work.id))
            assert (task.state, task.parent) == (work.state, work.parent)
            assert {one.id: one.state for one in task.blocked_by} == {id: self.works[id].state for id in work.blockers}
            assert task.open_parts == sum(one.is_open for one in self.works.values() if one.parent == work.id)
        for name in NAMES[1:]:
            waiting = self.do(self.office().waiting(self.callers[name], limit=200)).items
            assert sum(message.sender == "system" for message in waiting) == self.told[name], "each is told once, and nobody of nothing"
