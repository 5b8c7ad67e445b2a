"""A message as seed 002 writes it: filled in when it is sent, checked when it is sent and when it is read."""

from collections.abc import Callable
from typing import Any

from postoffice_files.clock import parse_instant
from postoffice_files.errors import BadMessage, FileMailError
from postoffice_files.names import check_name

STATES = ("pending", "accepted", "working", "completed", "failed", "rejected")
PRIORITY = 3
_MAX_TTL = 100
_TRACE_AGENTS = 100  # the most agents in a trace
_ID_CHARACTERS = 255  # the same limit as the office's

OURS = ("filename", "attempt")
"""The fields that poll() adds about the file; they do not belong to the message."""


def fill(message: dict[str, Any], *, id: str, sender: str, to: str, timestamp: str, ttl: int) -> dict[str, Any]:
    """The message with every field of the seed, in the seed's order, and then its other fields."""
    fields = {key: value for key, value in message.items() if value is not None and key not in OURS}
    filled = {
        "id": id,
        "from": sender,
        "to": to,
        "timestamp": timestamp,
        "type": "message",
        "ttl": ttl,
        "trace": [sender],
        "task": None,
        "content": {"parts": []},
        "callback": None,
        "reply_to": None,
        "metadata": {},
    }
    filled |= fields | {"from": sender, "to": to}
    if isinstance(filled["content"], str):  # people write it so by hand
        filled["content"] = {"parts": [{"type": "text", "text": filled["content"]}]}
    if filled["type"] == "task":
        task = filled["task"] if filled["task"] is not None else {}
        filled["task"] = {"id": filled["id"], "state": "pending", **task} if isinstance(task, dict) else task
    return filled


def check(message: dict[str, Any]) -> None:
    """Refuse a message with fields that would break a reader."""
    for field, (test, why) in _RULES.items():
        if not test(message[field]):
            raise BadMessage(field=field, why=why)
    if not _is_int(message.get("priority", PRIORITY), 1, 5):
        raise BadMessage(field="priority", why="it must be a whole number from 1, the most urgent, to 5")
    if message["type"] in {"task", "task_update"}:
        _check_task(message["task"])


def priority(message: dict[str, Any]) -> int:
    """How urgent it is, 1 before 5."""
    value = message.get("priority")
    return value if isinstance(value, int) and _is_int(value, 1, 5) else PRIORITY


def _check_task(task: Any) -> None:
    if not isinstance(task, dict) or not _is_word(task.get("id")):
        raise BadMessage(field="task", why='a task or task_update needs {"id": …, "state": …}')
    if task.get("state") not in STATES:
        raise BadMessage(field="task.state", why=f"it must be one of {', '.join(STATES)}")
    if task.get("deadline") is not None and parse_instant(task["deadline"]) is None:
        raise BadMessage(field="task.deadline", why="it must be a time such as 2026-04-26T11:00:00Z")


def _is_int(value: object, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _is_word(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _ID_CHARACTERS


def _is_name(value: object) -> bool:
    try:
        check_name(value)
    except FileMailError:
        return False
    return True


def _is_trace(value: object) -> bool:
    return isinstance(value, list) and len(value) <= _TRACE_AGENTS and all(map(_is_name, value))


def _is_part(part: object) -> bool:
    match part:
        case {"type": "text", **rest}:
            return isinstance(rest.get("text"), str)
        case {"type": "data", **rest}:
            return "data" in rest
        case {"type": "file", **rest}:
            return isinstance(rest.get("path"), str)
        case {"type": str()}:  # unknown kinds are left to the reader
            return True
    return False


def _is_content(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("parts", []), list) and all(map(_is_part, value.get("parts", [])))


_RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "from": (_is_name, "it must name the agent that sent it"),
    "to": (_is_name, "it must name the agent it is for"),
    "id": (_is_word, f"it must be a text of 1 to {_ID_CHARACTERS} characters"),
    "type": (_is_word, "it must be message, task, task_update or another word"),
    "timestamp": (lambda value: parse_instant(value) is not None, "it must be a time such as 2026-04-26T10:00:00Z"),
    "ttl": (lambda value: _is_int(value, 0, _MAX_TTL), f"it must be a whole number from 0 to {_MAX_TTL}"),
    "trace": (_is_trace, f"it must list the agents the message has passed, at most {_TRACE_AGENTS}"),
    "content": (_is_content, 'it must be {"parts": [{"type": "text", "text": …}, …]} or a text'),
    "task": (lambda value: value is None or isinstance(value, dict), "it must be an object"),
    "callback": (lambda value: value is None or isinstance(value, dict), 'it must be {"session_id": …, "channel": …}'),
    "reply_to": (lambda value: value is None or _is_word(value), "it must be the id of a message"),
    "metadata": (lambda value: isinstance(value, dict), "it must be an object"),
}
