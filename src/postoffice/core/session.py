"""A conversation of two agents under one subject."""

from datetime import datetime

import msgspec

from postoffice.core.delivery import Standing, State
from postoffice.core.message import Message


def subject_key(subject: str) -> str:
    """The form in which two spellings of one subject are equal."""
    return subject.strip().casefold()


def pair(one: str, other: str) -> tuple[str, str]:
    """Two agents, by their folded names, in the order every session of theirs is kept under."""
    return (one, other) if one < other else (other, one)


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One message as it stands in a session, for whoever reads the thread."""

    message: Message
    to: str
    state: State
    number: int
    seen: bool = False
    """A person has opened it."""
    standing: Standing | None = None
    """The same at length, where somebody asks how it came to be so."""

    @property
    def is_read(self) -> bool:
        """Unread means waiting and not seen."""
        return self.seen or self.state not in (State.PENDING, State.HELD)


class Thread(msgspec.Struct, frozen=True, kw_only=True):
    """One session as one of its two agents sees it."""

    id: str
    subject: str
    other: str
    unread: int
    created_at: datetime
    last_message_at: datetime
    lines: tuple[Line, ...] = ()
    reader: str = ""
    """Whose side it is seen from, where somebody else looks."""
