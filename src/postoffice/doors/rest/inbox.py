"""The inbox and its sessions, as the first promise has them."""

from typing import Annotated

from fastapi import Path, Query, Response

from postoffice.core.connection import Status
from postoffice.doors.reply import Json
from postoffice.doors.rest.answer import answer, gives
from postoffice.doors.rest.body import Uuid, router
from postoffice.doors.rest.call import Identified
from postoffice.doors.rest.connections import PENDING_EXAMPLE
from postoffice.doors.rest.examples import LETTER, MESSAGE_ID, SESSION_ID, WHEN
from postoffice.doors.rest.paging import Cursor, Limit, Of
from postoffice.doors.thread import History, Inbox, history_view
from postoffice.doors.written import Writer

routes = router("inbox")

SessionId = Annotated[Uuid, Path(examples=[SESSION_ID])]
_PENDING_SHOWN = 200
_writer = Writer()


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
    call: Identified,
    unread_only: Annotated[bool, Query(description="Only sessions with something unread.")] = False,
    cursor: Cursor = None,
    limit: Limit = None,
    of: Of = None,
) -> Response:
    """The caller's sessions with what was said last, and who wants to connect. Settles nothing."""
    office, me = call
    page = await office.inbox(me, cursor, limit or _PENDING_SHOWN, unread_only=unread_only, of=of)
    waiting = () if of is not None else (await office.connections(me, Status.PENDING, limit=_PENDING_SHOWN)).items
    return Json(_writer.inbox(page, waiting, me))


@routes.get("/sessions/{session_id}/history", **gives(History, _HISTORY))
async def history(
    session_id: SessionId,
    call: Identified,
    limit: Annotated[int, Query(ge=1, le=50)] = 3,
    before: Annotated[Uuid | None, Query(description="The id of a message: those before it.")] = None,
    peek: Annotated[bool, Query(description="Look without settling what is shown.")] = False,
) -> Response:
    """A session's messages, newest first. What it shows is read from then on, tasks excepted."""
    thread = await call.office.history(call.caller, session_id, before=before, limit=limit, peek=peek)
    return answer(history_view(thread))
