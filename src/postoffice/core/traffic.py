"""How mail flowed: how much, how long it waited, and who wrote to whom."""

from datetime import datetime, timedelta
from enum import StrEnum

import msgspec


class Span(StrEnum):
    """How far back somebody looks."""

    HOUR = "hour"
    DAY = "day"
    WEEK = "week"


SLOTS = {
    Span.HOUR: (timedelta(minutes=1), 60),
    Span.DAY: (timedelta(minutes=20), 72),
    Span.WEEK: (timedelta(hours=2), 84),
}
"""How wide the slots of a span are, and how many there are."""


class Slot(msgspec.Struct, frozen=True):
    """One stretch of time: how many deliveries began in it, and how long the middle and the 95th of a hundred took."""

    letters: int = 0
    wait_p50: timedelta | None = None
    wait_p95: timedelta | None = None
    latency_p50: timedelta | None = None
    latency_p95: timedelta | None = None


class Exchange(msgspec.Struct, frozen=True):
    """What one agent wrote to another."""

    sender: str
    recipient: str
    letters: int
    last_at: datetime


class Deed(msgspec.Struct, frozen=True, kw_only=True):
    """One delivery as it went: when it arrived, was first taken, and was settled."""

    message_id: str
    sender: str
    recipient: str
    state: str
    attempts: int
    created_at: datetime
    leased_at: datetime | None
    settled_at: datetime | None


class Traffic(msgspec.Struct, frozen=True, kw_only=True):
    """The flow of mail over a span."""

    begun_at: datetime
    width: timedelta
    slots: tuple[Slot, ...]
    exchanges: tuple[Exchange, ...]
    whole: bool
    """Whether all of the span was counted; of very much mail only the newest is."""
