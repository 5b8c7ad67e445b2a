"""The tools for tasks: lists and reports."""

from datetime import timedelta
from typing import ClassVar

import msgspec

from postoffice.core.draft import Draft
from postoffice.core.errors import Invalid
from postoffice.core.fence import Fence
from postoffice.core.span import ago, span
from postoffice.core.task import Task, TaskState
from postoffice.core.tools import tasks
from postoffice.doors.mcp.request import McpRequest
from postoffice.doors.mcp.tools.reading import Readable, shorten
from postoffice.doors.mcp.tools.result import more
from postoffice.doors.mcp.tools.verb import Verb
from postoffice.doors.moments import now

_TASKS_READ = 50
"""A model is shown at most so many tasks at once."""
_SUBJECT_TOKENS = 60


class TaskResult(Readable, frozen=True, kw_only=True):
    """A task in its present state."""

    shape: ClassVar = Task
    task: Task

    def text(self) -> str:
        return f"Task {self.id(self.task.message_id)} is {self.task.state}."

    def bare(self) -> Task:
        return self.task


async def update(request: McpRequest, given: tasks.TaskUpdate) -> TaskResult:
    """Move a task."""
    me = await request.caller(given.agent_id)
    state = _state(given.state)
    report = Draft(to=me.name, content=given.content or "", payload=given.payload, client_id=given.id)
    task = await request.office.update_task(me, given.task_id, state, report)
    short = await shorten(request, me, [task.message_id]) if request.in_text else {}
    return TaskResult(task=task, short=short, in_text=request.in_text)


class Tasks(msgspec.Struct, frozen=True, kw_only=True):
    """Tasks, newest first."""

    tasks: tuple[Task, ...]
    cursor: str | None


class TaskList(Readable, frozen=True, kw_only=True):
    """The same to be read."""

    shape: ClassVar = Tasks
    list: Tasks

    def bare(self) -> Tasks:
        return self.list

    def text(self) -> str:
        marks, lines = Fence(), []
        for task in self.list.tasks:
            due = f", {_due(task.deadline - now())}" if task.deadline else ""
            lines.append(f"Task {self.id(task.message_id)}: {task.state}, asked by {task.requester} of {task.assignee}{due}")
            if task.subject:
                lines.append(marks.clipped(task.requester, task.subject, _SUBJECT_TOKENS))
        if self.list.cursor:
            lines.append(more(self.list.cursor))
        return "\n".join(lines) or "No tasks."


async def list_tasks(request: McpRequest, given: tasks.Tasks) -> TaskList:
    """List the caller's tasks."""
    me = await request.caller(given.agent_id)
    state = None if given.state is None else _state(given.state)
    asked_by, asked_of = (me.name, None) if given.asked_by_me else (None, me.name)
    limit = min(_TASKS_READ, request.office.rules.limits.page) if request.in_text else None
    page = await request.office.tasks(me, assignee=asked_of, requester=asked_by, state=state, cursor=given.cursor, limit=limit)
    short = await shorten(request, me, [task.message_id for task in page.items]) if request.in_text else {}
    return TaskList(list=Tasks(tasks=page.items, cursor=page.cursor), short=short, in_text=request.in_text)


def _due(left: timedelta) -> str:
    return f"due in {span(left)}" if left > timedelta(0) else f"was due {ago(-left)}"


def _state(word: str) -> TaskState:
    try:
        return TaskState(word)
    except ValueError:
        raise Invalid(what="state", why=f"it is {word!r}; use one of {', '.join(TaskState)}") from None


VERBS = (Verb(tasks.LIST, list_tasks, TaskList), Verb(tasks.UPDATE, update, TaskResult))
