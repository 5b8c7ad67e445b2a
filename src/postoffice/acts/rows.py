"""Rows as the desk holds them while a group of acts changes them. They never leave the acts and the store."""

import sys
from operator import attrgetter
from typing import Any

from msgspec import Struct
from msgspec.json import Decoder

from postoffice.core.agent import Card
from postoffice.core.clock import moment
from postoffice.core.delivery import UNREAD, State
from postoffice.core.errors import Unavailable
from postoffice.core.message import Message
from postoffice.core.pause import Pause

Row = tuple[Any, ...]
ThreadKey = tuple[str, str, str]
MailKey = tuple[str, str]  # message id, mailbox
Version = tuple[int, int]
"""The versions at which an agent's mailbox and own row were read, on a database that counts them."""
_card = Decoder(Card).decode
_message = Decoder(Message).decode


class Box(Struct, gc=False):
    """An agent and its mailbox's counts."""

    agent: str
    name: str
    id: str
    card: Card
    has_key: bool
    acted: bool
    created_at: int
    last_seen: int | None
    counted: int = 0
    held: int = 0
    pending: int = 0
    leased: int = 0
    dead: int = 0
    waiting_bytes: int = 0
    forgotten: bool = False
    """The owner has forgotten it: as if it were not there, until it is used or written to again."""
    paused_at: int | None = None
    paused_until: int | None = None
    paused_by: str | None = None
    pause_reason: str | None = None

    @classmethod
    def of(cls, row: Row) -> "Box":
        """An agent and its mailbox as one query gives them: the card is JSON, truths may be numbers."""
        agent, name, id, card, has_key, acted, *rest = row
        box = cls(agent, name, id, _card(card), bool(has_key), bool(acted), *rest)
        box.forgotten = bool(box.forgotten)
        return box

    @property
    def depth(self) -> int:
        """What still has to be dealt with."""
        return self.held + self.pending + self.leased

    @property
    def hands_free(self) -> int:
        """How many more of its letters may be in hand."""
        most = self.card.max_in_hand
        return sys.maxsize if most is None else max(0, most - self.leased)

    def is_paused(self, now: int) -> bool:
        """Whether nothing of its mail is given out. A pause ends by itself when its time has come, whether that is written down yet or not."""
        return self.paused_at is not None and (self.paused_until is None or self.paused_until > now)

    def pause(self, now: int) -> Pause | None:
        """The pause it is in, as it may be shown."""
        if self.paused_at is None or not self.is_paused(now):
            return None
        until = None if self.paused_until is None else moment(self.paused_until)
        return Pause(since=moment(self.paused_at), until=until, by=self.paused_by or "", reason=self.pause_reason)


class Boxes(dict[str, Box]):
    """Mailboxes by agent. Every agent that acts has one, except one remembered from before a backup replaced the mail."""

    def __missing__(self, agent: str) -> Box:
        raise Unavailable(why=f"there is no mailbox of {agent} any more, a backup has taken the place of the mail")


class ThreadRow(Struct, gc=False):
    """A session, with both members' counts."""

    id: str
    low: str
    high: str
    subject: str
    subject_key: str
    counted: int
    unread_low: int
    unread_high: int
    replies_left: int
    created_at: int
    last_at: int


class DeliveryRow(Struct, gc=False):
    """A delivery, with its message as stored."""

    id: object  # the engine's own: a number in SQLite, a UUID in PostgreSQL
    message_id: str
    mailbox: str
    number: int
    priority: int
    state: str
    sender: str
    type: str
    session_id: str | None
    session_number: int | None
    correlation_id: str | None
    attempts: int
    token: str | None
    holder: str | None  # whose lease it is, or was until it ran out; nobody's once it was given back
    due_at: int | None
    created_at: int
    leased_at: int | None
    settled_at: int | None
    reason: str | None
    size: int  # of the message as stored, in bytes
    seen_at: int | None = None  # when a person opened it
    deliver_at: int | None = None  # when it comes to its recipient, as long as it has not
    expires_at: int | None = None  # from when on it is not given out any more
    client_id: str | None = None
    body: str = ""
    message: Message | None = None  # what the body says, where it is known without reading it

    @property
    def lent(self) -> bool:
        """Whether it is leased without an end. Its reason then says where it is kept, which nobody else is told."""
        return self.due_at is None and self.state == State.LEASED

    @property
    def put_off(self) -> bool:
        """Whether its last holder put it off by name, and nobody has taken it since."""
        return self.token is None and self.holder is not None and self.state in UNREAD

    @property
    def hidden(self) -> bool:
        """Whether it has been held since it was sent, or ended while held. Until it is let through only its sender sees it."""
        return self.deliver_at is not None or (self.state == State.HELD and self.due_at is None)

    def comes_due(self, now: int) -> bool:
        """Whether it has waited for its time, and that has come."""
        return self.state == State.HELD and self.deliver_at is not None and self.deliver_at <= now

    def is_expired(self, now: int) -> bool:
        """Whether it is too late to give it out."""
        return self.expires_at is not None and self.expires_at <= now

    @property
    def unread(self) -> bool:
        """Whether its session counts it as unread."""
        return self.state == State.HELD or (self.state == State.PENDING and self.seen_at is None)

    def read(self) -> Message:
        """What was said."""
        return _message(self.body) if self.message is None else self.message


in_turn = attrgetter("priority", "number")
"""Where a delivery stands among those that wait in its mailbox."""


class TaskRow(Struct):
    """A task, its steps and callback still as JSON."""

    message_id: str
    id: str
    requester: str
    assignee: str
    state: str
    subject: str
    session_id: str | None
    deadline: int | None
    overdue: bool
    callback: str | None
    steps: str
    created_at: int
    updated_at: int
    parent: str | None = None
    percent: int | None = None
    blocked: bool = False
    """Whether it waits for others, and its assignee is to be told when that is over."""
    gone: bool = False
    """Whether its requester was told that its assignee's window is gone."""
    blockers: str | None = None
    """What it waits for, each as its id, state and assignee."""
    open_parts: int = 0
    role: str | None = None
    """The role it was sent to, where one of its agents has accepted it."""

    @property
    def mailbox(self) -> str:
        """In whose mailbox the letter is that asked for it."""
        return self.role or self.assignee


class QuestionRow(Struct):
    """A question to a person, and how it ended."""

    message_id: str
    asker: str
    person: str
    session_id: str | None
    state: str
    deadline: int | None
    created_at: int
    by: str | None = None
    choice: str | None = None
    text: str | None = None
    answer_id: str | None = None
    via: str | None = None
    closed_at: int | None = None


class MemoryRow(Struct):
    """What an agent remembers of letters to and fro, still as JSON."""

    agent: str
    body: str
    refreshed_at: int


class ConnectionRow(Struct):
    """A connection as stored."""

    id: str
    requester: str
    target: str
    status: str
    code: str
    note: str | None
    assurance: str | None
    created_at: int
    updated_at: int
    expires_at: int


class KeyRow(Struct):
    """A key as stored: its hash."""

    hash: str
    agent: str
    prefix: str
    created_at: int
    expires_at: int | None
    revoked_at: int | None


class RingRow(Struct):
    """For which letter somebody was rung, how often, and what came of it."""

    message_id: str
    mailbox: str
    times: int
    first_at: int
    last_at: int
    turn_at: int | None
    told_at: int | None


class WindowRow(Struct):
    """An open window as stored."""

    id: str
    agent: str
    client: str
    session: str | None
    process: int
    started: str
    folder: str
    machine: str
    ring: str
    state: str
    state_at: int
    shared: bool
    opened_at: int
    seen_at: int
    until: int

    @classmethod
    def of(cls, row: Row) -> "WindowRow":
        """A window as one query gives it: truths may be numbers."""
        fields = list(row)
        fields[11] = bool(fields[11])
        return cls(*fields)
