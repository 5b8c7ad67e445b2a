"""The inbox and its sessions, as the first promise has them."""

from datetime import datetime
from typing import Annotated

import msgspec
from fastapi import Path, Query, Response

from postoffice.core.connection import Status
from postoffice.core.session import Line, Thread
from postoffice.doors.letter import Letter, letter, text_of
from postoffice.doors.rest.agents import Cursor, Limit, Of
from postoffice.doors.rest.answer import answer, gives
from postoffice.doors.rest.body import router
from postoffice.doors.rest.connections import PENDING_EXAMPLE, Pending, pending_view
from postoffice.doors.rest.examples import LETTER, MESSAGE_ID, SESSION_ID, WHEN
from postoffice.doors.rest.visit import Visitor

routes = router("inbox")

SessionId = Annotated[str, Path(max_length=64, examples=[SESSION_ID])]
_MOST = 200


class SessionLine(msgspec.Struct, frozen=True, kw_only=True):
    """A message as it stands in a session. `content` is always text; `message` has what was sent, raw."""

    id: str
    sender_name: str
    content: str
    created_at: datetime
    is_read: bool
    message: Letter


class SessionSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A session at a glance."""

    session_id: str
    subject: str
    other_agent_name: str
    unread_count: int
    last_message_at: datetime
    recent_messages: tuple[SessionLine, ...]


class Inbox(msgspec.Struct, frozen=True, kw_only=True):
    """Sessions, newest first, and who wants to connect."""

    sessions: tuple[SessionSummary, ...]
    pending_connections: tuple[Pending, ...]
    cursor: str | None


class History(msgspec.Struct, frozen=True, kw_only=True):
    """A session's messages, newest first."""

    session_id: str
    subject: str
    other_agent_name: str
    messages: tuple[SessionLine, ...]


_LINE = {
    "id": MESSAGE_ID,
    "sender_name": "bob-agent",
    "content": LETTER["content"],
    "created_at": WHEN,
    "is_read": False,
    "message": LETTER,
}
_SUMMARY = {
    "session_id": SESSION_ID,
    "subject": "Project collaboration",
    "other_agent_name": "bob-agent",
    "unread_count": 2,
    "last_message_at": WHEN,
    "recent_messages": [_LINE],
}
_HISTORY = {"session_id": SESSION_ID, "subject": "Project collaboration", "other_agent_name": "bob-agent", "messages": [_LINE]}


@routes.get("/inbox", **gives(Inbox, {"sessions": [_SUMMARY], "pending_connections": [PENDING_EXAMPLE], "cursor": None}))
async def inbox(
    visit: Visitor,
    unread_only: Annotated[bool, Query(description="Only sessions with something unread.")] = False,
    cursor: Cursor = None,
    limit: Limit = None,
    of: Of = None,
) -> Response:
    """The caller's sessions with what was said last, and who wants to connect. Settles nothing."""
    office, me = visit
    page = await office.inbox(me, cursor, limit or _MOST, unread_only=unread_only, of=of)
    waiting = () if of is not None else (await office.connections(me, Status.PENDING, limit=_MOST)).items
    views = (pending_view(item, me) for item in waiting)
    incoming = tuple(view for view in views if view.direction == "incoming")
    return answer(Inbox(sessions=tuple(map(_summary, page.items)), pending_connections=incoming, cursor=page.cursor))


@routes.get("/sessions/{session_id}/history", **gives(History, _HISTORY))
async def history(
    session_id: SessionId,
    visit: Visitor,
    limit: Annotated[int, Query(ge=1, le=50)] = 3,
    before: Annotated[str | None, Query(max_length=64, description="The id of a message: those before it.")] = None,
    peek: Annotated[bool, Query(description="Look without settling what is shown.")] = False,
) -> Response:
    """A session's messages, newest first. What it shows is read from then on, tasks excepted."""
    thread = await visit.office.history(visit.caller, session_id, before=before, limit=limit, peek=peek)
    lines = tuple(map(_line, thread.lines))
    return answer(History(session_id=thread.id, subject=thread.subject, other_agent_name=thread.other, messages=lines))


def _summary(thread: Thread) -> SessionSummary:
    return SessionSummary(
        session_id=thread.id,
        subject=thread.subject,
        other_agent_name=thread.other,
        unread_count=thread.unread,
        last_message_at=thread.last_message_at,
        recent_messages=tuple(map(_line, thread.lines)),
    )


def _line(line: Line) -> SessionLine:
    message = line.message
    return SessionLine(
        id=message.id,
        sender_name=message.sender,
        content=text_of(message),
        created_at=message.created_at,
        is_read=line.is_read,
        message=letter(message),
    )
