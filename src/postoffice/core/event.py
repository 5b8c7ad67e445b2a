"""News for one agent: what happened, by id; whoever cares fetches the rest."""

from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec

from postoffice.core.message import Message


class Kind(StrEnum):
    """What happened."""

    NEW_MESSAGE = "new_message"
    RECEIPT = "receipt"
    SEEN = "seen"
    DEAD_LETTER = "dead_letter"
    CONNECTION_REQUEST = "connection_request"
    CONNECTION_APPROVED = "connection_approved"
    CONNECTION_REJECTED = "connection_rejected"
    CONNECTION_ENDED = "connection_ended"
    CONNECTION_EXPIRED = "connection_expired"
    TASK = "task"
    NOTE = "note"
    QUESTION = "question"
    PAUSE = "pause"
    RESERVATION = "reservation"
    LIST = "list"
    RING = "ring"
    STUCK = "stuck"
    REMINDER = "reminder"
    BUDGET_SPENT = "budget_spent"
    KEY_ADDED = "key_added"
    KEY_REVOKED = "key_revoked"


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of the log. `number` counts within the agent's mailbox, `cursor` resumes the list it came from."""

    agent: str
    number: int
    cursor: str
    kind: Kind
    ref: str
    at: datetime
    data: dict[str, Any] = {}
    message: Message | None = None
    """What new mail says, in an agent's own log; nothing once it has been purged."""
    session_id: str | None = None


def beyond(cursor: str, place: str) -> bool:
    """Whether a cursor is from beyond this log's end. This log is then another one, or an older copy."""
    return [int(part) for part in cursor.split(".")] > [int(part) for part in place.split(".")]
