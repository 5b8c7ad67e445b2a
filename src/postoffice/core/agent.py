"""A named participant: its card, its keys, and whether it is there."""

import re
import secrets
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import Any

import msgspec

from postoffice.core.errors import TooLarge
from postoffice.core.limits import bounded
from postoffice.core.names import OWNER, check_name, folded
from postoffice.core.pause import Pause
from postoffice.core.policy import ANYONE
from postoffice.core.reach import Reach
from postoffice.core.text import check_json

KEY_PREFIX = "amb_"
KEYS_OF = "keys:"
"""Before a name: the hint that an agent's keys changed. No name has a colon in it."""
_KEY = re.compile(r"amb_[0-9a-f]{64}", re.ASCII)
_PREFIX_CHARACTERS = 8
_CARD_BYTES = 64 * 1024


class Presence(StrEnum):
    """Whether an agent is there to read its mail."""

    IDLE = "idle"
    BUSY = "busy"
    OFFLINE = "offline"


class Card(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an agent says of itself."""

    description: str = ""
    capabilities: tuple[str, ...] = ()
    allow_from: tuple[str, ...] = ()
    max_concurrent_tasks: int = 3
    owner_contact: str | None = None
    display_name: str | None = None
    model: str | None = None
    metadata: dict[str, Any] | None = None
    max_in_hand: int | None = None
    """How many letters of its mailbox may be in hand at once; the rest waits. Nothing: as many as are taken."""
    in_order: bool = False
    """Of each conversation only one letter is in hand at a time, so that they are done in their order."""
    person: bool = False
    """A person, who finishes mail as people do and answers questions. Only the owner says so."""


def is_person(name: str, card: Card) -> bool:
    """Whether an agent is a person: the owner, or one whom the owner has marked so."""
    return card.person or folded(name) == OWNER


class Agent(msgspec.Struct, frozen=True, kw_only=True):
    """An agent as the directory shows it."""

    id: str
    name: str
    card: Card
    presence: Presence
    current_tasks: tuple[str, ...]
    unread: int
    leased: int
    dead: int
    has_key: bool
    acted: bool
    created_at: datetime
    last_seen: datetime | None
    paused: Pause | None = None
    reach: Reach | None = None
    """Whether it can take mail now."""


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """A key as it may be shown: never whole."""

    agent: str
    prefix: str
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None


class Forgotten(msgspec.Struct, frozen=True, kw_only=True):
    """A name that the owner has forgotten, and how many letters that waited there are dead."""

    name: str
    dead: int


class Caller(msgspec.Struct, frozen=True):
    """Who is asking, and how we know."""

    name: str
    verified: bool
    owner: bool = False
    key: str | None = None
    """The hash of the key that proved it, for acts that must not outlive the key."""
    new: bool = False
    """No agent of that name exists: a call that only looks makes none."""
    machine: str | None = None
    """The prefix of its agents' names, where a machine's key proved it."""
    window: str | None = None
    """The window it calls from, where that is known."""


def check_card(card: Card) -> Card:
    """The card, if the office can keep it."""
    check_json(msgspec.to_builtins(card), "card")
    for entry in card.allow_from:
        if entry != ANYONE:
            check_name(entry)
    bounded("max_concurrent_tasks", card.max_concurrent_tasks, 0, 0, 10_000)
    bounded("max_in_hand", card.max_in_hand, 1, 1, 10_000)
    size = len(msgspec.json.encode(card))
    if size > _CARD_BYTES:
        raise TooLarge(what="card", size=f"{size} bytes", limit=_CARD_BYTES)
    return card


def presence(silent_for: timedelta | None, tasks_under_way: int, timeout: timedelta) -> Presence:
    """Offline without a sign of life, busy with tasks, else idle."""
    if silent_for is None or silent_for > timeout:
        return Presence.OFFLINE
    return Presence.BUSY if tasks_under_way else Presence.IDLE


def new_key() -> str:
    """A key, to be shown once and then kept only as its hash."""
    return KEY_PREFIX + secrets.token_hex(32)


def key_from(seed: str, name: str) -> str:
    """The key that a secret seed gives a name: always the same one, and for every name another."""
    return KEY_PREFIX + sha256(f"{seed} {folded(name)}".encode()).hexdigest()


def key_hash(key: str) -> str | None:
    """What the store keeps of a key; None for what cannot be one."""
    return sha256(key.encode()).hexdigest() if _KEY.fullmatch(key) else None


def code_hash(code: str) -> str:
    """What the store keeps of a code or of the proof of a login; it hashes whatever text somebody gives."""
    return sha256(code.encode(errors="surrogatepass")).hexdigest()


def key_prefix(key: str) -> str:
    """The part of a key by which people tell keys apart."""
    return key[:_PREFIX_CHARACTERS]
