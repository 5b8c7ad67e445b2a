"""Tasks on a board, by state; what is stuck stands out."""

from datetime import timedelta
from typing import NamedTuple

from starlette.responses import Response

from postoffice.core.errors import Invalid
from postoffice.core.message import Draft
from postoffice.core.names import folded
from postoffice.core.task import FINAL, Task, TaskState
from postoffice.doors.moments import now
from postoffice.doors.page.look import Look
from postoffice.doors.page.needs import moves_of
from postoffice.doors.page.times import span

_COLUMN = 40
_FINISHED = 30
_QUIET = timedelta(hours=1)
_SOON = timedelta(hours=1)
_OPEN = (TaskState.PENDING, TaskState.ACCEPTED, TaskState.WORKING)


class Card(NamedTuple):
    """A task as it lies on the board."""

    task: Task
    stuck: str
    """Why somebody should look at it; empty if nobody need."""
    soon: bool
    moves: tuple[TaskState, ...] = ()


class Column(NamedTuple):
    """The tasks in one state."""

    state: TaskState
    cards: list[Card]
    cursor: str | None


async def board(look: Look) -> Response:
    """Every open task, the longest open first, and what was finished last."""
    cursor, of = look.asked("cursor"), look.asked("state")
    columns = []
    for state in _OPEN:
        page = await look.office.open_tasks(look.caller, state, cursor if of == state else None, _COLUMN)
        columns.append(Column(state, [card(task, look.caller.name) for task in page.items], page.cursor))
    finished = [card(task) for task in await look.office.finished_tasks(look.caller, _FINISHED)]
    return await look.show("tasks.html", columns=columns, finished=finished, once=look.once())


async def move(look: Look) -> Response:
    """Move a task that was asked of whoever looks."""
    form = await look.form()
    try:
        wanted = TaskState(form.get("state", ""))
    except ValueError:
        raise Invalid(what="state", why="a task cannot be that") from None
    once = form.get("once")
    # Moved again by a second click it is told once; and by the same form to another state it is another report.
    report = Draft(to=look.caller.name, content=form.get("content", ""), client_id=f"{once}-{wanted}" if once else None)
    await look.office.update_task(look.caller, look.part("id"), wanted, report)
    return look.back("/page/tasks", {"said": "moved"})


def card(task: Task, me: str = "") -> Card:
    """A task with what there is to say about it."""
    at = now()
    mine = folded(me) == folded(task.assignee)
    moves = moves_of(task) if mine else ()
    if task.state in FINAL:
        return Card(task, "", soon=False)
    quiet = at - task.updated_at
    if task.deadline is not None and task.deadline <= at:
        return Card(task, f"{span(at - task.deadline)} past its deadline", soon=False, moves=moves)
    soon = task.deadline is not None and task.deadline - at < _SOON
    return Card(task, f"no word for {span(quiet)}" if quiet > _QUIET else "", soon, moves)
