"""The inbox's tools: look into the mailbox, connect, and read conversations. Sending is the queue's tool."""

from collections.abc import Sequence
from typing import ClassVar

import msgspec

from postoffice.core.agent import Caller
from postoffice.core.connection import Assurance, Status
from postoffice.core.fence import Fence
from postoffice.core.letter import Letter, letter
from postoffice.core.tools import inbox
from postoffice.doors.mcp.request import McpRequest
from postoffice.doors.mcp.tools.reading import ANSWER_TOKENS, Readable, beginning, fitting, ids_in, shorten
from postoffice.doors.mcp.tools.result import Result, more
from postoffice.doors.mcp.tools.verb import Verb
from postoffice.doors.thread import History, Inbox, history_view, inbox_view

_PENDING_SHOWN = 200
_SESSIONS_READ, _NOTES_READ, _REQUESTS_READ = 8, 5, 10
"""A model is shown at most so many of each at once. With their descriptions they cost about as much as one answer may."""
_GLANCE_TOKENS, _NOTE_TOKENS = 80, 60
_HEAD_TOKENS = 300
"""Room for the text around a conversation."""


class WholeInbox(Inbox, frozen=True, kw_only=True):
    """An inbox, and the mail that has no session: notes, and mail to oneself."""

    notes: tuple[Letter, ...]


class Overview(Readable, frozen=True, kw_only=True):
    """A mailbox at a glance."""

    shape: ClassVar = WholeInbox
    inbox: WholeInbox
    unread_only: bool = False
    """Whether sessions without unread mail are left out."""

    def text(self) -> str:
        inbox, fence = self.inbox, self.fence()
        if not inbox.sessions and not inbox.notes and not inbox.pending_connections:
            empty = "The mailbox is empty: no conversations, no notes, and nobody asking to connect."
            return "Nothing is unread, and nobody asks to connect." if self.unread_only else empty
        lines = []
        for session in inbox.sessions:
            lines.append(f"Session {session.session_id} with {session.other_agent_name}: {session.unread_count} unread.")
            if session.recent_messages:
                lines += self._begin(fence, [line.message for line in session.recent_messages])
        if inbox.cursor:
            lines.append(more(inbox.cursor))
        if inbox.notes:
            shown = inbox.notes[:_NOTES_READ] if self.in_text else inbox.notes
            lines += [f"Outside of sessions: {len(inbox.notes)} waiting.", *self._begin(fence, shown)]
        asking = inbox.pending_connections[:_REQUESTS_READ] if self.in_text else inbox.pending_connections
        for pending in asking:
            lines.append(f"{pending.from_agent_name} asks to connect; code {pending.verification_code}.")
            if pending.message:
                who, note = pending.from_agent_name, pending.message
                lines.append(fence.clipped(who, note, _NOTE_TOKENS) if self.in_text else fence.words(who, note))
        if hidden := len(inbox.pending_connections) - len(asking):
            lines.append(f"And {hidden} more ask to connect.")
        return "\n".join(lines)

    def _begin(self, marks: Fence, letters: Sequence[Letter]) -> list[str]:
        """Only beginnings for a model: they are enough to choose what to read."""
        return [beginning(marks, item, _GLANCE_TOKENS) for item in letters] if self.in_text else [marks.around(letters)]

    def bare(self) -> WholeInbox:
        return self.inbox


async def check(request: McpRequest, given: inbox.Check) -> Overview:
    """Look into the mailbox."""
    me = await request.caller(given.agent_id)
    return await overview(request, me, given.cursor, unread_only=given.unread_only, in_text=request.in_text)


async def overview(
    request: McpRequest, me: Caller, cursor: str | None = None, *, unread_only: bool = False, in_text: bool = False
) -> Overview:
    """A mailbox at a glance, or the next page of its sessions."""
    page = await request.office.inbox(me, cursor, _SESSIONS_READ if in_text else None, unread_only=unread_only)
    pending = await request.office.connections(me, Status.PENDING, limit=_PENDING_SHOWN)
    notes = await request.office.waiting(me, outside=True)
    shown = msgspec.structs.asdict(inbox_view(page, pending.items, me))
    inbox = WholeInbox(**shown, notes=tuple(map(letter, notes.items)))
    if not in_text:
        return Overview(inbox=inbox, unread_only=unread_only)
    letters = [*(line.message for session in inbox.sessions for line in session.recent_messages), *inbox.notes[:_NOTES_READ]]
    return Overview(inbox=inbox, unread_only=unread_only, short=await shorten(request, me, ids_in(letters)), in_text=True)


class Requested(Result, frozen=True, kw_only=True):
    """A connection asked for."""

    connection_id: str
    verification_code: str
    target_agent_name: str
    status: str

    def text(self) -> str:
        return (
            f"Asked {self.target_agent_name} for a connection. Give your person the code {self.verification_code}: "
            f"they pass it to {self.target_agent_name}'s person, who has it approved within the hour; after that, ask again. Once connected, send your mail."
        )


async def connect(request: McpRequest, given: inbox.Connect) -> Requested:
    """Ask for a connection."""
    me = await request.caller(given.agent_id)
    made = await request.office.request_connection(me, given.target_agent_name, given.message)
    return Requested(connection_id=made.id, verification_code=made.code, target_agent_name=made.target, status=made.status)


class Approved(Result, frozen=True, kw_only=True):
    """A connection made."""

    connection_id: str
    status: str
    connected_agent_name: str
    assurance: Assurance | None

    def text(self) -> str:
        return f"Connected with {self.connected_agent_name} ({self.assurance})."


async def approve(request: McpRequest, given: inbox.Approve) -> Approved:
    """Give consent by a code."""
    made = await request.office.approve_connection(await request.caller(given.agent_id), given.code)
    return Approved(connection_id=made.id, status=made.status, connected_agent_name=made.requester, assurance=made.assurance)


class Conversation(Readable, frozen=True, kw_only=True):
    """A session's messages, newest first."""

    shape: ClassVar = History
    history: History
    older: bool = False
    """Whether there is more than one answer has room for."""

    def text(self) -> str:
        history = self.history
        if not history.messages:
            return f"Session {history.session_id} with {history.other_agent_name} has no messages here."
        head = f"Session {history.session_id} with {history.other_agent_name}, newest first."
        lines = [head, *self.letters([line.message for line in history.messages])]
        if self.older:
            lines.append(
                f'There is more: mailbox_read(session_id="{history.session_id}", before="{self.id(history.messages[-1].message.id)}").'
            )
        return "\n".join(lines)

    def bare(self) -> History:
        return self.history


async def read(request: McpRequest, given: inbox.Read) -> Conversation:
    """Read a conversation."""
    me = await request.caller(given.agent_id)
    limit, office = given.limit, request.office
    if request.in_text:  # mail that does not fit must not count as read
        looked = await office.history(me, given.session_id, before=given.before, limit=limit, peek=True)
        limit = fitting([letter(line.message) for line in looked.lines], ANSWER_TOKENS - _HEAD_TOKENS)
        looked_on = msgspec.structs.replace(looked, lines=looked.lines[:limit])
    if request.in_text and all(line.is_read for line in looked_on.lines):
        thread = looked_on  # there is nothing to settle
    else:
        thread = await office.history(me, given.session_id, before=given.before, limit=max(1, limit))
    history = history_view(thread)
    if not request.in_text:
        return Conversation(history=history)
    short = await shorten(request, me, ids_in(line.message for line in history.messages))
    return Conversation(history=history, older=limit < len(looked.lines), short=short, in_text=True)


VERBS = (
    Verb(inbox.CHECK, check, Overview),
    Verb(inbox.CONNECT, connect, Requested),
    Verb(inbox.APPROVE, approve, Approved),
    Verb(inbox.READ, read, Conversation),
)
