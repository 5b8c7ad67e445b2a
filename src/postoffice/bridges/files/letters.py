"""Turns a message into a file as seed 002 has it, and back."""

from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import UNSET

from postoffice.core.delivery import CANCELED
from postoffice.core.draft import Draft
from postoffice.core.errors import BadMessage
from postoffice.core.message import Message, TaskRef
from postoffice.core.names import is_list
from postoffice.core.task import TaskState
from postoffice.core.text import read_parts

_CARRIED = ("subject", "session_id", "correlation_id", "priority", "context", "ref_id", "ref_type")
"""Fields that the seed's files do not have; a file may carry them all the same."""


def to_file(message: Message, session_id: str | None, reply_to: str | None) -> dict[str, Any]:
    """The content of a file: every field of the seed, and what else the office knows. The seed has no state `canceled`."""
    written: dict[str, Any] = {
        "id": message.client_id or message.id,
        "message_id": message.id,
        "type": message.type or "message",
        "ttl": message.ttl,
        "trace": list(message.trace),
        "task": None if message.task is None else {"id": message.id, **msgspec.to_builtins(message.task)},
        "content": {"parts": _parts(message)},
        "callback": message.callback,
        "reply_to": reply_to or None,
        "metadata": message.metadata,
        "from_verified": message.from_verified,
        "session_id": session_id,
        **{field: getattr(message, field) or None for field in _CARRIED if field != "session_id"},
    }
    if message.payload is not UNSET and (message.content is not None or message.parts):
        written["payload"] = message.payload
    if is_list(message.to):
        written["list"] = message.to
    if message.attachments:
        written["attachments"] = msgspec.to_builtins(message.attachments)
    if message.automatic:
        written["automatic"] = True
    if message.task is not None and message.task.state == TaskState.CANCELED:
        written["task"]["state"] = TaskState.FAILED
        written["metadata"] = {**(message.metadata or {}), "reason": CANCELED}
    return written


def to_draft(letter: dict[str, Any], to: str) -> Draft:
    """What a file asks the office to send."""
    content, parts = _content(letter)
    task = letter.get("task") or {}
    carried: dict[str, Any] = {field: letter.get(field) for field in _CARRIED}
    try:
        return Draft(
            to=to,
            type=letter["type"],
            content=content,
            parts=parts,
            payload=letter.get("payload", UNSET),
            reply_to=letter["reply_to"],
            ttl=letter["ttl"],
            trace=tuple(letter["trace"]),
            task=TaskRef(task["id"], deadline=_deadline(task)) if letter["type"] == "task" else None,
            callback=letter["callback"],
            metadata=letter["metadata"] or None,
            client_id=letter["id"],
            answers_elsewhere=True,
            automatic=letter.get("automatic") is True and letter["reply_to"] is not None,
            **carried,
        )
    except (TypeError, ValueError) as error:
        raise BadMessage(field="form", why=str(error)) from None


def to_update(letter: dict[str, Any]) -> tuple[str, TaskState, Draft]:
    """The task that a file reports on, its new state, and the report."""
    content, parts = _content(letter)
    report = Draft(
        to=letter["to"],
        content="" if content is None and not parts else content,  # a report may have no words: the state says enough
        parts=parts,
        payload=letter.get("payload", UNSET),
        metadata=letter["metadata"] or None,
        client_id=letter["id"],
        automatic=letter.get("automatic") is True,
        reply_to=letter["reply_to"] or letter["task"]["id"],
    )
    return letter["task"]["id"], TaskState(letter["task"]["state"]), report


def another_id(draft: Draft, *said: str | None) -> Draft:
    """The same with an id made from its content: seed 002's writers use one id for different messages within a second."""
    print_ = sha256(msgspec.json.encode((msgspec.structs.replace(draft, client_id=None), said))).hexdigest()[:12]
    return msgspec.structs.replace(draft, client_id=f"{(draft.client_id or '')[:180]}~{print_}")


def _parts(message: Message) -> list[dict[str, Any]]:
    """A message's parts with its content among them, as a file has no other place for it. Text that a part repeats appears once."""
    if message.parts:
        repeated = any(part.get("text") == message.content for part in message.parts)
        return [*(() if repeated else read_parts(message.content or "")), *message.parts]
    if message.content is not None:
        return [{"type": "text", "text": message.content}]
    return [] if message.payload is UNSET else [{"type": "data", "data": message.payload}]


def _content(letter: dict[str, Any]) -> tuple[str | None, tuple[dict[str, Any], ...]]:
    """A single text becomes the content, as at most doors; anything richer stays in parts."""
    match letter["content"].get("parts", []):
        case []:
            return None, ()
        case [{"type": "text", "text": str(text)}]:
            return text, ()
        case parts:
            return None, tuple(parts)


def _deadline(task: dict[str, Any]) -> datetime | None:
    if (deadline := task.get("deadline")) is None:
        return None
    when = datetime.fromisoformat(deadline)
    return when if when.tzinfo else when.replace(tzinfo=UTC)
