"""The numbers the office goes by, each with its default."""

from datetime import timedelta
from typing import TypeVar

import msgspec

from postoffice.core.errors import BadLimit

T = TypeVar("T", int, timedelta)


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What is allowed and how long things last."""

    visibility: timedelta = timedelta(seconds=30)
    visibility_least: timedelta = timedelta(seconds=1)
    visibility_most: timedelta = timedelta(hours=12)
    max_attempts: int = 10
    depth: int = 10_000
    message_bytes: int = 1 << 20
    subject_chars: int = 255
    id_chars: int = 255
    recipients: int = 1_000
    batch: int = 100
    receive: int = 10
    wait: timedelta = timedelta(seconds=25)
    wait_most: timedelta = timedelta(seconds=240)
    page: int = 50
    page_most: int = 200
    priority: int = 3
    ttl: int = 3
    ttl_most: int = 10
    automatic_replies: int = 100
    heartbeat_timeout: timedelta = timedelta(seconds=60)
    code_life: timedelta = timedelta(hours=1)
    pending_requests: int = 20
    wrong_codes_in_a_row: int = 5
    wrong_codes_per_hour: int = 10
    note_chars: int = 500
    dedupe_for: timedelta = timedelta(days=30)
    key_overlap: timedelta = timedelta(hours=24)
    retention: timedelta | None = None  # None keeps everything
    sends_per_minute: int | None = None  # None: no limit
    registrations_per_hour: int | None = None


def bounded(what: str, value: T | None, default: T, least: T, most: T) -> T:
    """The value, or the default where none was given; out of bounds is refused, never bent."""
    if value is None:
        return default
    if not least <= value <= most:
        raise BadLimit(what=what, least=least, most=most, value=value)
    return value
