"""The notice to a sender whose message was set aside."""

from typing import Any

from postoffice_files.errors import FileMailError
from postoffice_files.message import STATES
from postoffice_files.names import SYSTEM, check_recipient, folded
from postoffice_files.tasks import task_update


def notice(record: dict[str, Any], message: dict[str, Any] | None) -> tuple[str, dict[str, Any]] | None:
    """The sender and the notice; None if there is nobody to tell. A notice never causes a notice."""
    if message is None:
        return None
    try:
        sender = check_recipient(message.get("from"))
    except FileMailError:
        return None
    if folded(sender) == SYSTEM:
        return None
    text = f"Your message to {record['agent']} was set aside and will not be handled: {record['reason']}"
    report: dict[str, Any] = {"content": {"parts": [{"type": "text", "text": text}]}}
    if _is_whole_task(message):
        # The requester of a task learns that it failed, in the conversation that asked for it.
        report = task_update(message, "failed", text)
    elif isinstance(message.get("id"), str) and message["id"]:
        report["reply_to"] = message["id"][:200]
    report["metadata"] = {"notice": "set_aside", **{key: record[key] for key in ("agent", "filename", "reason", "attempts")}}
    return sender, report


def _is_whole_task(message: dict[str, Any]) -> bool:
    match message:
        case {"type": "task", "id": str(), "task": {"id": str(), "state": str(state)}, "callback": None | dict()}:
            return state in STATES
    return False
