"""An agent's answers to a task: whether it may take it, and the update that goes back."""

from typing import Any

from postoffice_files.clock import parse_instant
from postoffice_files.errors import BadMessage
from postoffice_files.message import STATES
from postoffice_files.names import folded


def past_deadline(message: dict[str, Any], now: int) -> bool:
    """Whether the task's deadline has passed. `now` is in microseconds since the epoch, as the clock gives it."""
    deadline = parse_instant((message.get("task") or {}).get("deadline"))
    return deadline is not None and now >= deadline


def refusal(card: dict[str, Any], message: dict[str, Any], now: int) -> str | None:
    """Why the agent with this card must not take the task; None if it may."""
    allowed = card.get("allow_from", ["*"])
    if "*" not in allowed and folded(message["from"]) not in map(folded, allowed):
        return f"unauthorized: {message['from']} is not in {card['agent_id']}'s allow_from"
    most, tasks = card.get("max_concurrent_tasks", 3), card.get("current_tasks", [])
    if len(tasks) >= most:
        return f"over quota: {card['agent_id']} has {len(tasks)} of {most} tasks"
    if past_deadline(message, now):
        return f"deadline passed: the task was due at {message['task']['deadline']}"
    return None


def task_update(message: dict[str, Any], state: str, text: str = "") -> dict[str, Any]:
    """The update that reports a task's state to the conversation that asked. Pass it to send()."""
    if state not in STATES:
        raise BadMessage(field="task.state", why=f"it must be one of {', '.join(STATES)}")
    task = message.get("task") or {}
    return {
        "type": "task_update",
        "task": {**task, "id": task.get("id", message["id"]), "state": state},
        "content": {"parts": [{"type": "text", "text": text}] if text else []},
        "callback": message.get("callback"),
        "reply_to": message["id"],
    }
