"""Hours of the day at which somebody wants to be left alone."""

from datetime import datetime, time

from postoffice.core.errors import Invalid


def read_hours(text: str) -> tuple[time, time]:
    """From when to when, as in 22:00-07:00."""
    begins, _, ends = text.partition("-")
    try:
        hours = time.fromisoformat(begins.strip()), time.fromisoformat(ends.strip())
    except ValueError:
        hours = None
    if hours is None or any(one.tzinfo is not None for one in hours):
        raise Invalid(what="hours", why=f"{text!r} is no pair of times; say 22:00-07:00")
    return hours


def within(begins: time, ends: time, at: datetime) -> bool:
    """Whether a moment lies between two times of its own day; they may be on either side of midnight."""
    of_day = at.time()
    return begins <= of_day < ends if begins <= ends else of_day >= begins or of_day < ends
