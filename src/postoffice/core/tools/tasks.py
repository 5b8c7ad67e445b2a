"""Tasks: those asked of an agent or by it, and reports on them."""

from typing import Annotated, Any

from msgspec import UNSET, UnsetType

from postoffice.core.task import TaskState
from postoffice.core.tools.tool import Arguments, Cursor, Me, OwnId, Tool, plainly, says

_MOVES = [state for state in TaskState if state is not TaskState.PENDING]


class TaskUpdate(Arguments, frozen=True, kw_only=True):
    """What `mailbox_task_update` takes."""

    task_id: Annotated[str, says("Id of the task.")]
    state: Annotated[str, plainly({"type": "string", "enum": _MOVES}, "How far it is.")]
    agent_id: Me | None = None
    content: Annotated[str, says("Progress, result or reason, for the one who asked.")] | None = None
    payload: Annotated[Any, says("Any JSON; arrives exactly as sent.")] | UnsetType = UNSET
    id: OwnId | None = None


UPDATE = Tool(
    name="mailbox_task_update",
    title="Report on a task",
    arguments=TaskUpdate,
    description="Report on a task you were given, or cancel one you gave; the other is told.",
)


class Tasks(Arguments, frozen=True, kw_only=True):
    """What `mailbox_tasks` takes."""

    agent_id: Me | None = None
    asked_by_me: Annotated[bool, says("Those you asked for, not those you were given.")] = False
    state: Annotated[str, plainly({"type": "string", "enum": list(TaskState)}, "Only those in this state.")] | None = None
    cursor: Cursor | None = None


LIST = Tool(
    name="mailbox_tasks",
    title="List tasks",
    arguments=Tasks,
    description="Tasks asked of you, or by you, and how far they are.",
    reads_only=True,
)

TOOLS = (LIST, UPDATE)
