"""A notify address: where the owner is told, away from the page, that something waits for them."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from zoneinfo import ZoneInfo

import msgspec

from postoffice.core.errors import Invalid
from postoffice.core.event import Event, Kind
from postoffice.core.invisible import visible
from postoffice.core.message import TASK, Message
from postoffice.core.names import OWNER
from postoffice.core.quiet import read_hours, within
from postoffice.core.webhook import WebhookState

SHOWN_AT_ONCE: Final = 10
"""What more waits is only counted."""
TEXT_CHARACTERS: Final = 500
_SUBJECT_CHARACTERS, _NAME_CHARACTERS = 120, 64
_ADDRESS_CHARACTERS = 2000
_CANCELED = "canceled"
_WIDE = 0xFEE0
_HARMLESS = {ord(char): ord(char) + _WIDE for char in "@<>&#*_~`|[]\\"}
"""Characters by which chats format or call people, each as its wide form: it looks like it and does nothing."""
_LINKING = re.compile(r"(?<=\w)\.(?=[^\W\d])|://|(?<=\w):(?=[^\W\d])")
"""What makes programs take words for an address."""
_UNLINKED = str.maketrans({".": "\u2024", ":": "\u2236", "/": "\uff0f"})


class NotifyKind(StrEnum):
    """What somebody may be told of: what For you lists, in five kinds."""

    QUESTION = "question"
    TASK = "task"
    MAIL = "mail"
    CONSENT = "consent"
    STUCK = "stuck"


class Stuck(StrEnum):
    """What does not go on without the owner."""

    DEAD = "dead"
    WEBHOOK = "webhook"
    SILENT = "silent"


class Manner(msgspec.Struct, frozen=True, kw_only=True):
    """How an address is told, beside its kinds."""

    service: str
    """What takes it there, as its makers call it: ntfy, Slack, E-Mail."""
    quiet: str | None = None
    """Hours without a word, as 22:00-07:00."""
    zone: str = ""
    """In which time zone these are; the office's own where it is empty."""
    trusted: bool = False
    """Whether its links open a question without a login."""


class Notify(msgspec.Struct, frozen=True, kw_only=True):
    """One, as its owner sees it; the address itself holds secrets, and is not shown again."""

    name: str
    service: str
    kinds: tuple[NotifyKind, ...]
    """Empty: all."""
    quiet: str | None
    zone: str
    bodies: bool
    trusted: bool
    state: WebhookState
    since: datetime
    error: str | None
    created_at: datetime
    told_at: datetime | None
    waiting: int


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened, of which an address is to be told if it still waits then."""

    matter: NotifyKind
    id: str
    agent: str
    """Whose it is: in whose log it stands, or who did not come."""
    stuck: Stuck | None = None


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """What is told of one thing."""

    matter: NotifyKind
    who: str
    what: str
    text: str = ""
    whom: str = ""
    link: str | None = None


class NewLink(msgspec.Struct, frozen=True, kw_only=True):
    """A link that is being made: its token goes out, and its hash is kept."""

    id: str
    hash: str
    question: str


class AnswerLink(msgspec.Struct, frozen=True, kw_only=True):
    """A link in somebody's hands that opens one question."""

    id: str
    question: str
    name: str
    """Of the address that was told it."""
    trusted: bool
    created_at: datetime
    expires_at: datetime


class Word(msgspec.Struct, frozen=True, kw_only=True):
    """Something to be said at an address. Without words, only the service that would take it there is asked for."""

    address: str
    title: str = ""
    text: str = ""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """How that went."""

    service: str = ""
    error: str | None = None


def check_address(address: str) -> str:
    """What may be an address, or a refusal. Whether it is one its library decides."""
    if not address.isprintable() or "://" not in address or len(address) > _ADDRESS_CHARACTERS:
        raise Invalid(what="address", why=f"it has to be like ntfys://ntfy.sh/topic, in at most {_ADDRESS_CHARACTERS} characters")
    return address


def check_quiet(quiet: str | None, zone: str) -> None:
    """Refuse hours and a time zone that nobody could keep."""
    if quiet is not None:
        read_hours(quiet)
    if zone:
        _zone(zone)


def candidate_of(event: Event, message: Message | None) -> Candidate | None:
    """What an event may be to the owner, as far as it shows."""
    matter = None
    if event.kind is Kind.CONNECTION_REQUEST:
        matter = NotifyKind.CONSENT
    elif event.kind is Kind.STUCK:
        stuck = Stuck(event.data["what"])
        return Candidate(matter=NotifyKind.STUCK, id=event.ref, agent=str(event.data.get("agent", event.agent)), stuck=stuck)
    elif event.kind is Kind.DEAD_LETTER and event.data.get("reason") != _CANCELED:
        return Candidate(matter=NotifyKind.STUCK, id=event.ref, agent=event.agent, stuck=Stuck.DEAD)
    elif event.kind in (Kind.NEW_MESSAGE, Kind.REMINDER) and event.agent == OWNER and message is not None:
        matter = NotifyKind.TASK if message.type == TASK else NotifyKind.MAIL if message.ask is None else NotifyKind.QUESTION
    return None if matter is None else Candidate(matter=matter, id=event.ref, agent=event.agent)


def may_be_told(manner: Manner, told_at: datetime | None, now: datetime, pause: timedelta) -> bool:
    """Whether it is no quiet hour, and long enough since it was told last."""
    if told_at is not None and now - told_at < pause:
        return False
    return manner.quiet is None or not within(*read_hours(manner.quiet), now.astimezone(_zone(manner.zone) if manner.zone else None))


def words(lines: Sequence[Line], more: int, page: str | None) -> tuple[str, str]:
    """A title and a text. What agents wrote is data in it: one line each, that formats, links and calls nobody."""
    count = len(lines) + more
    title = _head(lines[0]) if count == 1 else f"{count} things wait for you"
    parts = [part for line in lines for part in _parts(line, alone=count == 1)]
    if more:
        parts.append(f"and {more} more")
    if page is not None and (more or any(line.link is None for line in lines)):
        parts.append(f"For you: {page}/")
    return title, "\n".join(parts) or title


def harmless(text: str, most: int) -> str:
    """One line, with nothing in it that a chat would format, link or call people by."""
    line = _LINKING.sub(lambda found: found[0].translate(_UNLINKED), " ".join(visible(text).translate(_HARMLESS).split()))
    return line if len(line) <= most else line[: most - 1] + "…"


def _head(line: Line) -> str:
    who, whom = harmless(line.who, _NAME_CHARACTERS), harmless(line.whom, _NAME_CHARACTERS)
    match line.matter:
        case NotifyKind.QUESTION:
            return f"{who} asks you"
        case NotifyKind.TASK:
            return f"{who} asks you for work"
        case NotifyKind.CONSENT:
            return f"{who} asks to write to {whom}"
        case NotifyKind.STUCK:
            return f"Stuck: {who}" + (f" to {whom}" if whom else "")
        case _:
            return f"{who} wrote to you"


def _parts(line: Line, *, alone: bool) -> list[str]:
    what = harmless(line.what, _SUBJECT_CHARACTERS)
    head = what if alone else ": ".join(part for part in (_head(line), what) if part)
    return [part for part in (head, harmless(line.text, TEXT_CHARACTERS), line.link or "") if part]


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, LookupError):
        raise Invalid(what="zone", why=f"{name!r} is no time zone; say one like Europe/Berlin") from None
