"""Tasks as a tree: each under its parent, with what it waits for."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from postoffice.cli import ids
from postoffice.cli.pages import gathered
from postoffice.cli.show import ago, table
from postoffice.core.task import FINAL

if TYPE_CHECKING:
    from rich.console import Console

    from postoffice.client.wire import Wire

_INDENT = "   "


async def tree(wire: "Wire", limit: int, state: str | None) -> Any:
    """All tasks asked of the caller or by it. The owner sees every task."""
    me = (await wire.get("/agents/me"))["name"]
    sides = [{}] if me == "owner" else [{"assignee": me}, {"requester": me}]
    pages = [await gathered(wire, "/tasks", "tasks", limit, state=state, **side) for side in sides]
    tasks = {task["message_id"]: task for page in pages for task in page["tasks"]}
    return {"tree": branches(sorted(tasks.values(), key=lambda task: str(task["message_id"])), None)}


def branches(tasks: Sequence[Any], parent: str | None) -> list[dict[str, Any]]:
    """The parts of one task; at the root also parts whose parent is not shown."""
    shown = {task["message_id"] for task in tasks}
    parts = [task for task in tasks if (task["parent"] if task["parent"] in shown else None) == parent]
    return [{"task": task, "parts": branches(tasks, task["message_id"])} for task in parts]


def show_tree(console: "Console", answer: Any) -> None:
    """Print a line for each task, indented by its depth."""
    lines = list(_lines(answer["tree"]))
    shown = ids.all_short(task["message_id"] for _, task in lines)
    rows = [
        (_stands(task), task["assignee"], f"{_INDENT * depth}{task['subject'] or task['id']}", _waits(task), ago(task["updated_at"]), id)
        for (depth, task), id in zip(lines, shown, strict=True)
    ]
    columns = ("is", "with", "subject", "waits for", "since", "task")
    table(console, columns, rows, "No tasks. Ask for work: postoffice send --to NAME --task '…'")


def _lines(branches: Sequence[Any], depth: int = 0) -> Iterator[tuple[int, Any]]:
    for branch in branches:
        yield depth, branch["task"]
        yield from _lines(branch["parts"], depth + 1)


def _stands(task: Any) -> str:
    if task["state"] in FINAL:
        return f"{task['state']}, {task['open_parts']} open" if task["open_parts"] else str(task["state"])
    return str(task["state"]) if task["percent"] is None else f"{task['state']} {task['percent']} %"


def _waits(task: Any) -> str:
    """What a task waits for."""
    if task["state"] in FINAL:
        return ""
    return ", ".join(f"{one['assignee']} ({ids.short(one['id'])})" for one in task["blocked_by"] if one["state"] not in FINAL)
