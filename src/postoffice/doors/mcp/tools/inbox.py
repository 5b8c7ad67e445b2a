"""The inbox at work: look into the mailbox, connect, and read conversations. What it sends goes by the queue's tool."""

from typing import ClassVar

import msgspec

from postoffice.core.agent import Caller
from postoffice.core.connection import Assurance, Status
from postoffice.core.fence import Fence
from postoffice.core.letter import Letter, letter
from postoffice.core.tools import inbox
from postoffice.doors.mcp.request import McpRequest
from postoffice.doors.mcp.tools.result import Result, more
from postoffice.doors.mcp.tools.verb import Verb
from postoffice.doors.moments import now
from postoffice.doors.thread import History, Inbox, history_view, inbox_view

_PENDING_SHOWN = 200


class WholeInbox(Inbox, frozen=True, kw_only=True):
    """An inbox, and what waits outside of its sessions: notes, and mail to oneself."""

    notes: tuple[Letter, ...]


class Overview(Result, frozen=True, kw_only=True):
    """A mailbox at a glance."""

    shape: ClassVar = WholeInbox
    inbox: WholeInbox
    unread_only: bool = False
    """Whether what was read is left out of it."""

    def text(self) -> str:
        inbox, fence = self.inbox, Fence(now())
        if not inbox.sessions and not inbox.notes and not inbox.pending_connections:
            empty = "The mailbox is empty: no conversations, no notes, and nobody asking to connect."
            return "Nothing is unread, and nobody asks to connect." if self.unread_only else empty
        lines = []
        for session in inbox.sessions:
            lines.append(f"Session {session.session_id} with {session.other_agent_name}: {session.unread_count} unread.")
            if session.recent_messages:
                lines.append(fence.around([line.message for line in session.recent_messages]))
        if inbox.cursor:
            lines.append(more(inbox.cursor))
        if inbox.notes:
            lines += [f"Outside of sessions: {len(inbox.notes)} waiting.", fence.around(inbox.notes)]
        for pending in inbox.pending_connections:
            lines.append(f"{pending.from_agent_name} asks to connect; code {pending.verification_code}.")
            if pending.message:
                lines.append(fence.words(pending.from_agent_name, pending.message))
        return "\n".join(lines)

    def bare(self) -> WholeInbox:
        return self.inbox


async def check(request: McpRequest, given: inbox.Check) -> Overview:
    """Look into the mailbox."""
    return await overview(request, await request.caller(given.agent_id), given.cursor, unread_only=given.unread_only)


async def overview(request: McpRequest, me: Caller, cursor: str | None = None, *, unread_only: bool = False) -> Overview:
    """A mailbox at a glance, or where its sessions go on."""
    page = await request.office.inbox(me, cursor, unread_only=unread_only)
    pending = await request.office.connections(me, Status.PENDING, limit=_PENDING_SHOWN)
    notes = await request.office.waiting(me, outside=True)
    shown = msgspec.structs.asdict(inbox_view(page, pending.items, me))
    return Overview(inbox=WholeInbox(**shown, notes=tuple(map(letter, notes.items))), unread_only=unread_only)


class Requested(Result, frozen=True, kw_only=True):
    """A connection asked for."""

    connection_id: str
    verification_code: str
    target_agent_name: str
    status: str

    def text(self) -> str:
        return (
            f"Asked {self.target_agent_name} for a connection. Give your person the code {self.verification_code}: "
            f"they pass it to {self.target_agent_name}'s person, who has it approved within the hour, or else ask again. Then send your mail."
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


class Conversation(Result, frozen=True, kw_only=True):
    """A session's messages, newest first."""

    shape: ClassVar = History
    history: History

    def text(self) -> str:
        history = self.history
        if not history.messages:
            return f"Session {history.session_id} with {history.other_agent_name} has no messages here."
        head = f"Session {history.session_id} with {history.other_agent_name}, newest first."
        return f"{head}\n{Fence(now()).around([line.message for line in history.messages])}"

    def bare(self) -> History:
        return self.history


async def read(request: McpRequest, given: inbox.Read) -> Conversation:
    """Read a conversation."""
    me = await request.caller(given.agent_id)
    thread = await request.office.history(me, given.session_id, before=given.before, limit=given.limit)
    return Conversation(history=history_view(thread))


VERBS = (
    Verb(inbox.CHECK, check, Overview),
    Verb(inbox.CONNECT, connect, Requested),
    Verb(inbox.APPROVE, approve, Approved),
    Verb(inbox.READ, read, Conversation),
)
