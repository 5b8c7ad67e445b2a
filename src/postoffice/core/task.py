"""A message that asks for work, and the life it has of its own."""

import re
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec

from postoffice.core.errors import BadTaskMove, TaskFinal


class TaskState(StrEnum):
    """pending → accepted → working → completed; pending → rejected; anything unfinished → failed, or canceled by whoever asked for it."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    WORKING = "working"
    COMPLETED = "completed"
    REJECTED = "rejected"
    FAILED = "failed"
    CANCELED = "canceled"

    @classmethod
    def _missing_(cls, value: object) -> "TaskState | None":
        """What people and models write for a state means that state, at every door."""
        return None if not isinstance(value, str) else _MEANT.get(_SEPARATORS.sub("_", value.strip().lower()))


_SEPARATORS = re.compile(r"[\s_-]+")
_MEANT = {
    word: state
    for state, words in {
        TaskState.PENDING: "pending open new todo to_do queued submitted waiting not_started",
        TaskState.ACCEPTED: "accepted accept acknowledged taken claimed assigned",
        TaskState.WORKING: "working in_progress inprogress progress started start running active doing ongoing wip busy",
        TaskState.COMPLETED: "completed complete done finished finish success successful succeeded resolved closed ok",
        TaskState.REJECTED: "rejected reject declined decline refused refuse",
        TaskState.FAILED: "failed fail failure error errored aborted",
        TaskState.CANCELED: "canceled cancelled cancel withdrawn withdraw revoked",
    }.items()
    for word in words.split()
}


FINAL = frozenset({TaskState.COMPLETED, TaskState.REJECTED, TaskState.FAILED, TaskState.CANCELED})
UNDER_WAY = frozenset({TaskState.ACCEPTED, TaskState.WORKING})
UNDELIVERED = "not delivered: "
"""How the office begins when it fails a task whose message died; why follows."""
_REPORT_CHARACTERS = 4_000
"""Characters: all of a report is in its own message."""
_REPORTS_KEPT = 50
_ROAD = (TaskState.PENDING, TaskState.ACCEPTED, TaskState.WORKING, TaskState.COMPLETED)


class Step(msgspec.Struct, frozen=True, omit_defaults=True):
    """One move of a task."""

    state: TaskState
    at: datetime
    text: str | None = None
    implied: bool = False
    percent: int | None = None


class Blocker(msgspec.Struct, frozen=True):
    """A task that another waits for."""

    id: str
    state: TaskState
    assignee: str


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """A task as it stands."""

    id: str
    message_id: str
    requester: str
    assignee: str
    state: TaskState
    created_at: datetime
    updated_at: datetime
    steps: tuple[Step, ...] = ()
    subject: str = ""
    deadline: datetime | None = None
    callback: dict[str, Any] | None = None
    overdue: bool = False
    percent: int | None = None
    """How far its assignee says it is."""
    parent: str | None = None
    """The task it is part of."""
    blocked_by: tuple[Blocker, ...] = ()
    """What has to end before it can be done, ended or not."""
    open_parts: int = 0
    """How many of its own parts are not over."""
    role: str | None = None
    """The role it was sent to, where one of its agents has it now."""

    @property
    def waits_for(self) -> tuple[Blocker, ...]:
        """What it waits for now."""
        return () if self.state in FINAL else tuple(one for one in self.blocked_by if one.state not in FINAL)


def moves(task: str, state: TaskState, wanted: TaskState) -> tuple[TaskState, ...]:
    """The states its assignee moves it through, the last being the one wanted. Repeating a state reports progress."""
    if state in FINAL:
        raise TaskFinal(task=task, state=state)
    if wanted is TaskState.FAILED or wanted is state:
        return (wanted,)
    if wanted in _ROAD and _ROAD.index(wanted) > _ROAD.index(state):
        return _ROAD[_ROAD.index(state) + 1 : _ROAD.index(wanted) + 1]
    if wanted is TaskState.REJECTED and state is TaskState.PENDING:
        return (wanted,)
    raise BadTaskMove(task=task, state=state, wanted=wanted)


def recorded(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Steps as a task keeps them, each by its beginning: all that moved it, and of the reports in between the newest."""
    reports = [place for place in range(1, len(steps)) if steps[place].state is steps[place - 1].state]
    past = frozenset(reports[:-_REPORTS_KEPT])
    return tuple(_brief(step) for place, step in enumerate(steps) if place not in past)


def _brief(step: Step) -> Step:
    if step.text is None or len(step.text) <= _REPORT_CHARACTERS:
        return step
    return msgspec.structs.replace(step, text=f"{step.text[: _REPORT_CHARACTERS - 1]}…")
