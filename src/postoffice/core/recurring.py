"""Letters that are sent again and again, by the calendar: at nine on weekdays, on the first of a month."""

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
from cronsim import CronSim, CronSimError
from msgspec import UNSET

from postoffice.core.draft import Draft
from postoffice.core.errors import Invalid

LATE = timedelta(minutes=1)
"""What could not be sent for so long counts as missed."""
_FIELDS = 5


class Missed(StrEnum):
    """What becomes of letters whose time came while nobody could send them."""

    ONCE = "once"
    SKIP = "skip"


class Template(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What each of them says, and to whom."""

    to: str | tuple[str, ...]
    type: str = "message"
    subject: str | None = None
    content: str | None = None
    parts: tuple[dict[str, Any], ...] = ()
    payload: Any = UNSET
    priority: int | None = None
    expires_in: float | None = None
    """Seconds after which it is not given out any more."""

    def draft(self) -> Draft:
        """The message as the office takes it."""
        return Draft(
            to=self.to,
            type=self.type,
            subject=self.subject,
            content=self.content,
            parts=self.parts,
            payload=self.payload,
            priority=self.priority,
            expires_at=None if self.expires_in is None else timedelta(seconds=self.expires_in),
        )


class Recurring(msgspec.Struct, frozen=True, kw_only=True):
    """A letter that is sent again and again until it is stopped."""

    id: str
    sender: str
    every: str
    """Minute, hour, day, month and weekday, as cron has them."""
    zone: str
    missed: Missed
    letter: Template
    next_at: datetime
    created_at: datetime
    last_at: datetime | None
    sent: int
    trouble: str | None
    """Why the last one was refused."""


def next_after(every: str, zone: str, after: datetime) -> datetime | None:
    """When it comes next by the clocks there; nothing where it never does. A time that is skipped in spring comes right after, one that is twice in autumn once."""
    at = next(CronSim(every, after.astimezone(ZoneInfo(zone))), None)
    return None if at is None else at.astimezone(UTC)


def first_after(every: str, zone: str, after: datetime) -> datetime:
    """The same, of what somebody asks for."""
    try:
        ZoneInfo(zone)
    except (KeyError, ValueError, OSError):
        raise Invalid(what="zone", why=f"{zone!r} is no time zone; write it like Europe/Berlin or UTC") from None
    if len(every.split()) != _FIELDS:
        raise Invalid(what="every", why=f"{every!r} has not five fields; write minute, hour, day, month and weekday, like 0 9 * * 1-5")
    try:
        at = next_after(every, zone, after)
    except CronSimError as error:
        raise Invalid(what="every", why=f"{every!r}: {error}; write it like 0 9 * * 1-5") from None
    if at is None:
        raise Invalid(what="every", why=f"{every!r} never comes")
    return at
