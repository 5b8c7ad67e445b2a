"""News as the WebSocket pushes it: one frame for each event, with the names of seed 000."""

from typing import Any

from postoffice.core.agent import Caller
from postoffice.core.connection import Connection
from postoffice.core.event import Event, Kind
from postoffice.core.letter import letter, text_of
from postoffice.core.message import Message
from postoffice.core.names import folded
from postoffice.office import PostOffice

_CONNECTION = {
    Kind.CONNECTION_REQUEST,
    Kind.CONNECTION_APPROVED,
    Kind.CONNECTION_REJECTED,
    Kind.CONNECTION_ENDED,
    Kind.CONNECTION_EXPIRED,
}
_REF = {
    Kind.RECEIPT: "message_id",
    Kind.SEEN: "message_id",
    Kind.DEAD_LETTER: "message_id",
    Kind.TASK: "task_id",
    Kind.NOTE: "message_id",
    Kind.QUESTION: "question_id",
    Kind.PAUSE: "agent",
    Kind.RESERVATION: "reservation_id",
    Kind.LIST: "list",
    Kind.RING: "agent",
    Kind.STUCK: "about",
    Kind.REMINDER: "message_id",
    Kind.BUDGET_SPENT: "session_id",
    Kind.KEY_ADDED: "prefix",
    Kind.KEY_REVOKED: "prefix",
}


async def frame_of(office: PostOffice, caller: Caller, event: Event) -> dict[str, Any] | None:
    """An event as its agent gets it; None if what it was about has been purged."""
    frame = {"type": event.kind, "cursor": event.cursor, "at": event.at}
    if event.kind is Kind.NEW_MESSAGE:
        return None if event.message is None else frame | _new_message(event.message, event.session_id)
    if event.kind in _CONNECTION:
        return frame | _connection(event.kind, caller, await office.connection(caller, event.ref)) | event.data
    return frame | {_REF[event.kind]: event.ref} | event.data


def _new_message(message: Message, session_id: str | None) -> dict[str, Any]:
    return {
        "session_id": session_id,
        "subject": message.subject,
        "from_agent": message.sender,
        "content": text_of(message),
        "message_id": message.id,
        "created_at": message.created_at,
        "message": letter(message, session_id),
    }


def _connection(kind: Kind, caller: Caller, made: Connection) -> dict[str, Any]:
    other = made.target if folded(made.requester) == folded(caller.name) else made.requester
    if kind is Kind.CONNECTION_REQUEST:
        return {"connection_id": made.id, "from_agent": other, "message": made.note, "verification_code": made.code}
    if kind is Kind.CONNECTION_APPROVED:
        return {"connection_id": made.id, "connected_agent": other, "assurance": made.assurance}
    return {"connection_id": made.id, "other_agent": other}
