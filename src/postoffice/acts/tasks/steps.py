"""A task begins and moves a step at a time; both sides hear of each."""

import msgspec

from postoffice.acts.desk import Desk
from postoffice.acts.rows import TaskRow
from postoffice.acts.tasks.links import link
from postoffice.core.clock import micros
from postoffice.core.event import Kind
from postoffice.core.message import Message
from postoffice.core.task import UNDER_WAY, Step, TaskState, recorded

_encode = msgspec.json.Encoder().encode
_steps = msgspec.json.Decoder(tuple[Step, ...]).decode


def steps_of(task: TaskRow) -> tuple[Step, ...]:
    """What has happened to a task."""
    return _steps(task.steps)


def open_task(desk: Desk, message: Message, requester: str, assignee: str, session_id: str | None) -> None:
    """A message asks for work: keep the task it opens."""
    task = message.task
    assert task is not None  # a message of type task always carries one
    desk.write(
        "add_task",
        (
            message.id,
            task.id or message.id,
            requester,
            assignee,
            TaskState.PENDING,
            message.subject,
            session_id,
            None if task.deadline is None else micros(task.deadline),
            None if message.callback is None else _encode(message.callback).decode(),
            _encode((Step(TaskState.PENDING, message.created_at),)).decode(),
            desk.now,
            task.parent,
            link(desk, message),
        ),
    )


def step(
    desk: Desk, task: TaskRow, state: TaskState, text: str | None = None, implied: tuple[TaskState, ...] = (), percent: int | None = None
) -> None:
    """Move a task, with the steps it implies, and tell both sides."""
    added = (*(Step(skipped, desk.at, implied=True) for skipped in implied), Step(state, desk.at, text, percent=percent))
    task.percent = task.percent if percent is None else percent
    if task.state != state:
        by = (state in UNDER_WAY) - (task.state in UNDER_WAY)
        desk.under_way[task.assignee] = desk.under_way.get(task.assignee, 0) + by
    task.steps = _encode(recorded((*steps_of(task), *added))).decode()
    task.state = state
    task.updated_at = desk.now
    write_task(desk, task)
    mail = desk.mail.get((task.message_id, task.mailbox))
    told = {task.requester} if mail is not None and mail.hidden else {task.requester, task.assignee}
    for agent in told:
        desk.tell(desk.boxes[agent], Kind.TASK, task.id, {"state": state} | ({} if percent is None else {"percent": percent}))


def write_task(desk: Desk, row: TaskRow) -> None:
    """Keep where a task stands now."""
    desk.write(
        "update_task",
        (row.message_id, row.state, row.overdue, row.steps, row.updated_at, row.percent, row.blocked, row.gone),
        row.message_id,
    )
