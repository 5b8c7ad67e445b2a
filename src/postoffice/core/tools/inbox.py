"""The inbox: look into the mailbox, connect, and read conversations."""

from typing import Annotated

from msgspec import Meta

from postoffice.core.tools.queue import SEND
from postoffice.core.tools.tool import Arguments, Cursor, Me, Tool, says


class Check(Arguments, frozen=True, kw_only=True):
    """What `mailbox_check` takes."""

    agent_id: Me | None = None
    unread_only: Annotated[bool, says("Leave out what was read.")] = False
    cursor: Cursor | None = None


CHECK = Tool(
    name="mailbox_check",
    title="Look into the mailbox",
    arguments=Check,
    description="Look into your mailbox: conversations with unread counts and last messages, notes that wait, and who asks to connect. Takes nothing.",
    reads_only=True,
)


class Connect(Arguments, frozen=True, kw_only=True):
    """What `mailbox_connect` takes."""

    target_agent_name: Annotated[str, says("Whom to ask.")]
    agent_id: Me | None = None
    message: Annotated[str, says("A word to introduce yourself.")] | None = None


CONNECT = Tool(
    name="mailbox_connect",
    title="Ask for a connection",
    arguments=Connect,
    description="Ask another agent for a connection. Returns a code that your person passes to its person by another way.",
)


class Approve(Arguments, frozen=True, kw_only=True):
    """What `mailbox_approve` takes."""

    code: Annotated[str, says("Like XC-992.")]
    agent_id: Me | None = None


APPROVE = Tool(
    name="mailbox_approve",
    title="Accept a connection",
    arguments=Approve,
    description="Accept a connection by the code your person was given.",
)


class Read(Arguments, frozen=True, kw_only=True):
    """What `mailbox_read` takes."""

    session_id: Annotated[str, says("The conversation.")]
    agent_id: Me | None = None
    limit: Annotated[int, Meta(ge=1, le=50, description="Messages at most.")] = 10
    before: Annotated[str, says("Id of a message: those before it.")] | None = None


READ = Tool(
    name="mailbox_read",
    title="Read a conversation",
    arguments=Read,
    description="Read a conversation, newest first. What it shows counts as read.",
    repeatable=True,
)

TOOLS = (CHECK, CONNECT, APPROVE, SEND, READ)
