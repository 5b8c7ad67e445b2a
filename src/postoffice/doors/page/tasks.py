"""Tasks on a board, by state. Only stuck ones stand out."""

from datetime import timedelta
from typing import NamedTuple

from starlette.responses import Response

from postoffice.core.draft import Draft
from postoffice.core.errors import Forbidden, Invalid
from postoffice.core.message import TASK, TaskRef
from postoffice.core.names import folded
from postoffice.core.task import FINAL, Task, TaskState
from postoffice.core.views import Page
from postoffice.doors.moments import now
from postoffice.doors.page.look import Look
from postoffice.doors.page.names import doubts
from postoffice.doors.page.needs import moves_of
from postoffice.doors.page.times import span

_TASKS_IN_A_COLUMN = 40
_FINISHED_SHOWN = 30
_SILENT = {TaskState.PENDING: timedelta(days=1), TaskState.ACCEPTED: timedelta(days=1), TaskState.WORKING: timedelta(hours=4)}
"""A task without a deadline may stay silent for this long."""
_DUE_SOON_WITHIN = timedelta(hours=1)
_OPEN = (TaskState.PENDING, TaskState.ACCEPTED, TaskState.WORKING)
_ONLY = ("mine", "stuck")
_REMINDER_PRIORITY = 2
"""The priority of a reminder."""


class Card(NamedTuple):
    """A task on the board."""

    task: Task
    stuck: str
    """Why somebody should look at it; empty if there is no need."""
    late: bool
    soon: bool
    moves: tuple[TaskState, ...] = ()
    asked_by_me: bool = False


class Column(NamedTuple):
    """The tasks in one state."""

    state: TaskState
    cards: list[Card]
    cursor: str | None


async def board(look: Look) -> Response:
    """Every open task, the longest open first, and the last finished ones."""
    only, of = look.asked("only"), look.asked("of")
    if only is not None and only not in _ONLY:
        raise Invalid(what="only", why=f"there is no choice {only!r}; there are {' and '.join(_ONLY)}")
    assignee = look.caller.name if only == "mine" else of
    columns = []
    for state in _OPEN:
        page = await _page(look, state, assignee)
        cards = [card(task, look.caller.name, owner=look.caller.owner) for task in page.items]
        columns.append(Column(state, [shown for shown in cards if shown.stuck or only != "stuck"], page.cursor))
    wanted = None if assignee is None else folded(assignee)
    done = [card(task) for task in await look.office.finished_tasks(look.caller, _FINISHED_SHOWN)] if only != "stuck" else []
    finished = [shown for shown in done if wanted in (None, folded(shown.task.assignee))]
    names = await look.office.names("", _TASKS_IN_A_COLUMN * len(_OPEN)) if look.caller.owner else []
    return await look.show("tasks.html", columns=columns, finished=finished, only=only, of=of, names=names, once=look.once())


async def _page(look: Look, state: TaskState, assignee: str | None) -> Page[Task]:
    cursor = look.asked("cursor") if look.asked("state") == state else None
    if assignee is not None:
        return await look.office.tasks(look.caller, assignee=assignee, state=state, cursor=cursor, limit=_TASKS_IN_A_COLUMN)
    return await look.office.open_tasks(look.caller, state, cursor, _TASKS_IN_A_COLUMN)


async def move(look: Look) -> Response:
    """Move one of the visitor's own tasks."""
    form = await look.form()
    try:
        wanted = TaskState(form.get("state", ""))
    except ValueError:
        raise Invalid(what="state", why="a task cannot be that") from None
    once = form.get("once")
    # A second click on the same form reports once; the same form with another state makes another report.
    report = Draft(to=look.caller.name, content=form.get("content", ""), client_id=f"{once}-{wanted}" if once else None)
    await look.office.update_task(look.caller, look.part("id"), wanted, report)
    return look.back("/page/tasks", {"said": "moved"})


async def remind(look: Look) -> Response:
    """Ask how a task stands, as its requester or the owner, by a letter of high priority."""
    task = await look.office.task(look.caller, look.part("id"))
    if task.state in FINAL:
        raise Forbidden(name=look.caller.name, why=f"the task is {task.state} already")
    once = (await look.form()).get("once")
    words = f"How does this task stand: {task.subject or task.id}?"
    draft = Draft(
        to=task.assignee,
        subject=task.subject or None,
        content=words,
        priority=_REMINDER_PRIORITY,
        client_id=f"{once}-{task.message_id}" if once else None,
    )
    await look.office.send(look.caller, draft)
    return look.to("/page/tasks", {"said": "nudged"})


async def cancel(look: Look) -> Response:
    """Cancel a task."""
    await look.office.cancel(look.caller, look.part("id"))
    return look.to("/page/tasks", {"said": "cancelled"})


async def reassign(look: Look) -> Response:
    """Give a task to another agent, in its requester's name and words, and cancel it for the first."""
    form = await look.form()
    task = await look.office.task(look.caller, look.part("id"))
    message = (await look.office.status(look.caller, task.message_id)).message
    if message is None or not form.get("to"):
        raise Invalid(what="to", why="say who should do it instead")
    voice = await look.office.speak_as(look.caller, task.requester)
    doubtful = await doubts(look, (form["to"],))
    if doubtful:
        near = f"; did you mean {doubtful[0].near}?" if doubtful[0].near else ""
        raise Invalid(what="to", why=f"nobody is called {doubtful[0].name}{near}")
    once = form.get("once")
    draft = Draft(
        to=form["to"],
        type=TASK,
        subject=message.subject,
        content=message.content,
        parts=message.parts,
        payload=message.payload,
        attachments=message.attachments,
        context=message.context,
        callback=message.callback,
        priority=message.priority,
        task=TaskRef(deadline=task.deadline),
        client_id=f"{once}-{task.message_id}" if once else None,
    )
    await look.office.cancel(look.caller, task.message_id)
    await look.office.send(voice, draft)
    return look.to("/page/tasks", {"said": "reassigned"})


def card(task: Task, me: str = "", *, owner: bool = False) -> Card:
    """A task as a card."""
    at = now()
    moves = moves_of(task) if folded(me) == folded(task.assignee) else ()
    if task.state in FINAL:
        return Card(task, "", late=False, soon=False)
    asked_by_me = not moves and (owner or folded(me) == folded(task.requester))
    if task.deadline is not None:
        late = task.deadline <= at
        stuck = f"{span(at - task.deadline)} past its deadline" if late else ""
        return Card(task, stuck, late, not late and task.deadline - at < _DUE_SOON_WITHIN, moves, asked_by_me)
    quiet = at - task.updated_at
    stuck = f"no word for {span(quiet)}" if quiet > _SILENT[task.state] else ""
    return Card(task, stuck, late=False, soon=False, moves=moves, asked_by_me=asked_by_me)
