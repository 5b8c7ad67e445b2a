"""Times as people write them: `tomorrow`, `friday 17:00`, `in 2h`, or a date."""

import re
from contextlib import suppress
from datetime import date, datetime, time, timedelta

from postoffice.core.errors import BadSetting

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_UNITS = {
    "m": "minutes",
    "min": "minutes",
    "minute": "minutes",
    "h": "hours",
    "hour": "hours",
    "d": "days",
    "day": "days",
    "w": "weeks",
    "week": "weeks",
}
_AHEAD = re.compile(r"(?:in\s+)?(?:(\d{1,5})|an?)\s*([a-z]+?)s?", re.ASCII)
_CLOCK = re.compile(r"(?:at\s+)?(\d{1,2})(?::(\d{2}))?\s*(am|pm)?", re.ASCII)
_END_OF_DAY, _DAY_BEGINS = time(23, 59), time(0)
_NOON_HOUR = 12


def moment_of(text: str, now: datetime, setting: str = "--deadline", *, begins: bool = False) -> datetime:
    """The time that a text means, by this machine's clock. A day alone means its end or beginning; an hour alone means its next occurrence."""
    words = " ".join(text.lower().split())
    with suppress(ValueError, OverflowError):
        moment = _ahead(words, now) or _day(words, now, _DAY_BEGINS if begins else _END_OF_DAY) or _hour(words, now) or _written(text, now)
        if moment is not None:
            return moment
    why = f"{text!r} is not a time; write it like tomorrow, friday 17:00, in 2h, 2026-12-31 or 2026-12-31T18:00Z"
    raise BadSetting(name=setting, why=why)


def span_of(text: str, setting: str) -> timedelta:
    """A duration: `30m`, `2h`, `1d`."""
    span = _AHEAD.fullmatch(text.strip().lower())
    if span is None or span[1] is None or (unit := _UNITS.get(span[2])) is None:
        raise BadSetting(name=setting, why=f"{text!r} is not a duration; write 30m, 1h or 2d")
    return timedelta(**{unit: int(span[1])})


def _ahead(words: str, now: datetime) -> datetime | None:
    """`in 2h`, `30 min`, `in a week`."""
    if (span := _AHEAD.fullmatch(words)) is None or (unit := _UNITS.get(span[2])) is None:
        return None
    return now + timedelta(**{unit: int(span[1] or 1)})


def _day(words: str, now: datetime, alone: time) -> datetime | None:
    """`today`, `tomorrow`, `friday` or a date, with or without an hour."""
    first, _, rest = words.partition(" ")
    if first in ("today", "tonight"):
        day = now.date()
    elif first == "tomorrow":
        day = now.date() + timedelta(days=1)
    elif len(first) > 2 and (named := [n for n, name in enumerate(_DAYS) if name.startswith(first)]):  # noqa: PLR2004 - mon, tue …
        day = now.date() + timedelta(days=(named[0] - now.weekday() - 1) % 7 + 1)
    elif re.fullmatch(r"\d{4}-\d{2}-\d{2}", first):
        day = date.fromisoformat(first)
    else:
        return None
    at = _time(rest) if rest else alone
    return None if at is None else datetime.combine(day, at).astimezone()


def _hour(words: str, now: datetime) -> datetime | None:
    """`18:00`, `6pm`: today, or tomorrow if that has passed."""
    if (":" not in words and not words.endswith(("am", "pm"))) or (at := _time(words)) is None:
        return None
    moment = datetime.combine(now.date(), at).astimezone()
    return moment if moment > now else datetime.combine(now.date() + timedelta(days=1), at).astimezone()


def _time(words: str) -> time | None:
    if (clock := _CLOCK.fullmatch(words)) is None:
        return None
    hour = int(clock[1])
    if clock[3] is not None:
        hour = hour % _NOON_HOUR + (_NOON_HOUR if clock[3] == "pm" else 0)
    return time(hour, int(clock[2] or 0))


def _written(text: str, now: datetime) -> datetime | None:
    """A time as programs write it. Without a zone it is by this machine's clock."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=now.tzinfo).astimezone()
