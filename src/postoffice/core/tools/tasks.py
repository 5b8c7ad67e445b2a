"""Tasks: those asked of an agent or by it, and reports on them."""

from typing import Annotated, Any

from msgspec import UNSET, UnsetType

from postoffice.core.tools.tool import Arguments, Me, OwnId, Tool, says


class TaskUpdate(Arguments, frozen=True, kw_only=True):
    """What `mailbox_task_update` takes."""

    task_id: str
    state: Annotated[str, says("accepted, working, completed, rejected or failed.")]
    agent_id: Me | None = None
    content: Annotated[str, says("Progress, result or reason, for the one who asked.")] | None = None
    payload: Any | UnsetType = UNSET
    id: OwnId | None = None


UPDATE = Tool(name="mailbox_task_update", arguments=TaskUpdate, description="Report on a task you were given; the one who asked is told.")


class Tasks(Arguments, frozen=True, kw_only=True):
    """What `mailbox_tasks` takes."""

    agent_id: Me | None = None
    asked_by_me: bool = False
    state: str | None = None
    cursor: str | None = None


LIST = Tool(name="mailbox_tasks", arguments=Tasks, description="Tasks asked of you, or by you, and how far they are.", reads_only=True)

TOOLS = (LIST, UPDATE)
