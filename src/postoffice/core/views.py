"""What the office shows: lists with a cursor, a message with its standings, counts."""

from datetime import datetime, timedelta
from typing import Generic, TypeVar

import msgspec

from postoffice.core.agent import Card, Presence
from postoffice.core.delivery import Standing
from postoffice.core.message import Message
from postoffice.core.pause import Pause
from postoffice.core.reach import Reach

T = TypeVar("T")


class Page(msgspec.Struct, Generic[T], frozen=True):
    """Some of a list; `cursor` asks for more, None says that this was all."""

    items: tuple[T, ...]
    cursor: str | None = None


class RoleMail(msgspec.Struct, frozen=True):
    """What one agent of a role would be given of its mail now."""

    role: str
    messages: tuple[Message, ...]


class Proof(msgspec.Struct, frozen=True, kw_only=True):
    """Where a message stands with everyone it went to. A purged message has left only its id."""

    message_id: str
    message: Message | None
    standings: tuple[Standing, ...]
    counts: dict[str, int] | None = None
    """Of a letter to a list: with how many of its members it stands how. `standings` are then a page of them."""
    cursor: str | None = None
    purged_at: datetime | None = None


class Found(msgspec.Struct, frozen=True):
    """A message that a search found, and the words around the hit."""

    message: Message
    excerpt: str


class DeadLetter(msgspec.Struct, frozen=True):
    """A message that could not be delivered, and why."""

    message: Message
    standing: Standing


class Entity(msgspec.Struct, frozen=True, kw_only=True):
    """Something notes are about."""

    id: str
    type: str
    notes: int
    created_at: datetime
    last_at: datetime


class Totals(msgspec.Struct, frozen=True, kw_only=True):
    """The whole office in numbers."""

    agents: int
    held: int
    pending: int
    leased: int
    dead: int
    counted: int


class Numbers(msgspec.Struct, frozen=True, kw_only=True):
    """What is counted of the whole office, whichever process is asked."""

    totals: Totals
    oldest: timedelta
    """How long the oldest waiting message has waited."""
    posts: dict[str, int]
    """What is put on the ledger, by how far it is, where mail goes by one."""


class Seat(msgspec.Struct, frozen=True, kw_only=True):
    """An agent and its mailbox, as whoever runs the office sees them."""

    name: str
    card: Card
    presence: Presence
    tasks: int
    unread: int
    leased: int
    dead: int
    has_key: bool
    acted: bool
    last_seen: datetime | None
    oldest_waiting: timedelta | None
    paused: Pause | None = None
    reach: Reach | None = None
    """Whether it can take mail now."""


class Longest(msgspec.Struct, frozen=True):
    """A mailbox in which mail has been waiting."""

    name: str
    pending: int
    waiting: timedelta


class Glance(msgspec.Struct, frozen=True, kw_only=True):
    """A message, and in numbers where it stands with those it went to."""

    message: Message
    recipients: int
    waiting: int
    leased: int
    dead: int
    session_id: str | None
    """The session of a message to one agent."""


class MailboxCounts(msgspec.Struct, frozen=True, kw_only=True):
    """One mailbox in numbers."""

    held: int
    pending: int
    unread: int
    """What waits and no person has opened."""
    leased: int
    dead: int
    counted: int
    oldest_waiting: timedelta | None
    paused: Pause | None = None


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """A machine's key as it may be shown: never whole."""

    prefix: str
    """Its windows' names begin with this and a dash."""
    shown: str
    """How the key begins."""
    created_at: datetime


class LedgerStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The ledger in numbers."""

    kept: bool
    """Whether mail goes by a ledger at all."""
    privacy: str
    log: bool
    agents: int
    topics: int
    """Watched besides agents' own."""
    posts: dict[str, int]
    """By state: waiting, submitted, confirmed, failed."""
    quarantined: int
    troubles: dict[str, int]
    """By reason: how much waits or has failed for it."""
