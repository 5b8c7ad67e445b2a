"""A pause: an agent's mail is held, until a time or until somebody resumes it."""

from datetime import datetime, timedelta

import msgspec

_HALF_A_MINUTE = timedelta(seconds=30)
"""An end is kept as a duration, by the store's clock, so it may differ by a moment from the minute that was meant."""


class Pause(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Since when, until when, whose doing it was, and why."""

    since: datetime
    until: datetime | None
    """Nothing where it lasts until somebody resumes it."""
    by: str
    """The agent itself, or the owner."""
    reason: str | None
    """In the words of whoever paused it."""


def until_words(until: datetime | None) -> str:
    """In words of ours alone. The reason is somebody else's."""
    return "paused until it is resumed" if until is None else f"paused until {until + _HALF_A_MINUTE:%Y-%m-%d %H:%M} UTC"
