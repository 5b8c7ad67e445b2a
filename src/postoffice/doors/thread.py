"""A session as the doors show it: as a summary in the inbox, or with its messages."""

from collections.abc import Iterable
from datetime import datetime

import msgspec

from postoffice.core.agent import Caller
from postoffice.core.connection import Connection
from postoffice.core.letter import Letter, letter, text_of
from postoffice.core.session import Line, Thread
from postoffice.core.views import Page
from postoffice.doors.consent import Pending, pending_view


class SessionLine(msgspec.Struct, frozen=True, kw_only=True):
    """A message in a session. `content` is always text; `message` has the raw message."""

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


def inbox_view(page: Page[Thread], waiting: Iterable[Connection], caller: Caller) -> Inbox:
    """An inbox: its sessions, and the requests that its agent has to answer."""
    views = (pending_view(item, caller) for item in waiting)
    incoming = tuple(view for view in views if view.direction == "incoming")
    return Inbox(sessions=tuple(map(_summary, page.items)), pending_connections=incoming, cursor=page.cursor)


def history_view(thread: Thread) -> History:
    """A session's messages."""
    lines = tuple(map(line_view, thread.lines))
    return History(session_id=thread.id, subject=thread.subject, other_agent_name=thread.other, messages=lines)


def _summary(thread: Thread) -> SessionSummary:
    return SessionSummary(
        session_id=thread.id,
        subject=thread.subject,
        other_agent_name=thread.other,
        unread_count=thread.unread,
        last_message_at=thread.last_message_at,
        recent_messages=tuple(map(line_view, thread.lines)),
    )


def line_view(line: Line) -> SessionLine:
    """A message as it stands in a session."""
    message = line.message
    return SessionLine(
        id=message.id,
        sender_name=message.sender,
        content=text_of(message),
        created_at=message.created_at,
        is_read=line.is_read,
        message=letter(message),
    )
