"""What was said: a message, which never changes after it is accepted, and what became of it with each recipient."""

from datetime import datetime
from typing import Any

import msgspec

from postoffice.core.attachment import Attachment
from postoffice.core.connection import Assurance
from postoffice.core.errors import TooLarge
from postoffice.core.limits import Limits
from postoffice.core.mailing_list import ToMembers
from postoffice.core.question import Answer, Ask
from postoffice.core.reach import Known, Reach
from postoffice.core.text import render

TASK = "task"
TASK_UPDATE = "task_update"
NOTICE = "notice"
QUESTION = "question"
ANSWER = "answer"


class TaskRef(msgspec.Struct, frozen=True, omit_defaults=True):
    """The task a message asks for or reports on."""

    id: str | None = None
    state: str | None = None
    deadline: datetime | None = None
    parent: str | None = None
    """The task it is part of."""
    blocked_by: tuple[str, ...] = ()
    """The tasks that have to end before it can be done."""
    percent: int | None = None
    """How far it is, of a hundred; in a report."""
    open_parts: int = 0
    """In the report that it is completed: how many of its parts are not over."""


class Forwarded(msgspec.Struct, frozen=True, omit_defaults=True, rename={"sender": "from"}):
    """Whose words a forward passes on: the message they first stood in."""

    id: str
    sender: str
    created_at: datetime
    from_verified: bool
    subject: str = ""
    own_words: bool = False
    """Whether the forwarder wrote words of its own in their place."""


class Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename={"sender": "from"}, gc=False):
    """What was said. Never changes after it is accepted."""

    id: str
    sender: str
    to: str | tuple[str, ...]
    created_at: datetime
    from_verified: bool
    type: str = "message"
    client_id: str | None = None
    subject: str = ""
    content: str | None = None
    parts: tuple[dict[str, Any], ...] = ()
    payload: Any = msgspec.UNSET
    context: Any = None
    correlation_id: str | None = None
    reply_to: str | None = None
    priority: int = 3
    ttl: int = 3
    trace: tuple[str, ...] = ()
    task: TaskRef | None = None
    callback: dict[str, Any] | None = None
    ref_id: str | None = None
    ref_type: str | None = None
    metadata: dict[str, Any] | None = None
    forward_of: str | None = None
    ask: Ask | None = None
    """What it asks a person."""
    answer: Answer | None = None
    """Which question it answers, and how."""
    forwarded_from: Forwarded | None = None
    attachments: tuple[Attachment, ...] = ()
    automatic: bool = False
    deliver_at: datetime | None = None
    """When its recipients get it, where that was not at once."""
    expires_at: datetime | None = None
    """From when on nobody gets it any more who has not taken it before."""
    assurance: Assurance | None = None
    """How the connection was made that admitted it; nothing where the recipient's own list did."""


def said(message: Message) -> str:
    """What a message says, with its subject, as search has it."""
    payload = None if message.payload is msgspec.UNSET else message.payload
    names = "".join(f"\n{one.name}" for one in message.attachments)
    return f"{message.subject}\n{render(message.content, message.parts, payload)}{names}"


class Posted(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What became of a message with one recipient when it was accepted."""

    recipient: str
    session_id: str | None = None
    unseen: bool = False
    """Nobody of that name has been here yet: the mail waits for its first call."""
    near: str | None = None
    """The nearest name of those who have been here, beside `unseen`."""
    refusal: str | None = None
    """The code of the error, where one of many recipients did not get it."""
    detail: str | None = None
    reach: Reach | None = None
    """Whether it can be taken now. Told with each answer anew, also where the message was sent before."""
    known: Known | None = None
    """The office works out the reach from it, and removes it from what it answers."""
    ledger: str | None = None
    """`awaiting`: it goes by the ledger; `direct`: asked to, but one side has no topics; nothing where nobody asked."""


class Accepted(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The office's answer to a send: durable by the time it is given."""

    message_id: str
    created_at: datetime
    subject: str = ""
    client_id: str | None = None
    posted: tuple[Posted, ...] = ()
    to_list: ToMembers | None = None
    """Of a letter to a list: to how many of its members it went. `posted` then names those who did not get it, and some of the others."""
    deliver_at: datetime | None = None
    """When it is delivered, where that is not at once."""
    expires_at: datetime | None = None
    duplicate: bool = False
    ledger: str | None = None
    """Of a note: whether its entity's topic will tell of it (`awaiting`) or only the office does (`direct`)."""

    @property
    def session_id(self) -> str | None:
        """The session of a message to one agent or to a list."""
        if self.to_list is not None:
            return self.to_list.session_id
        return self.posted[0].session_id if self.posted else None


def is_note(type: str) -> bool:
    """Notes are kept with their entity and belong to no session."""
    return type.endswith(".note")


def check_size(size: int, limits: Limits) -> None:
    """Refuse a message too large to keep."""
    if size > limits.message_bytes:
        raise TooLarge(what="message", size=f"{size} bytes", limit=limits.message_bytes)
