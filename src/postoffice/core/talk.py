"""What people see who look over everybody's shoulder: conversations by their last letter, and who waits on whom."""

from datetime import datetime, timedelta

import msgspec

from postoffice.core.message import Message
from postoffice.core.session import Line


class Talk(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation as a list shows it: what was said last in it, and where that stands."""

    last: Message
    session_id: str | None
    """None where a letter stands outside of sessions, or ends several at once."""
    recipients: int
    waiting: int
    leased: int
    dead: int
    letters: int
    """Said in it so far."""


class Aside(msgspec.Struct, frozen=True, kw_only=True):
    """A letter with the conversation it stands in, where letters of several are shown together."""

    line: Line
    session_id: str
    subject: str


class Custom(msgspec.Struct, frozen=True, kw_only=True):
    """How an agent takes its mail as a rule: how many letters that was seen on, and how long 95 of 100 waited."""

    name: str
    taken: int
    wait: timedelta


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """What one agent waits for from another: letters that the other has not taken, and work it has not done."""

    waiter: str
    waited_on: str
    letters: int
    tasks: int
    since: datetime
