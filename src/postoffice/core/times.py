"""When a letter is to be delivered, and until when it may be."""

from datetime import datetime, timedelta

from postoffice.core.clock import micros, moment
from postoffice.core.errors import BadLimit, BadMessage
from postoffice.core.limits import LONGEST

When = datetime | timedelta
"""An instant, or so long after the office has accepted the letter."""
_NOTHING = timedelta(0)


def check_when(field: str, when: When | None) -> None:
    """Refuse what is no time that the office could keep to."""
    if isinstance(when, timedelta):
        if not _NOTHING <= when <= LONGEST:
            raise BadLimit(
                what=field, least="0 seconds", most=f"{LONGEST.total_seconds():.15g} seconds", value=f"{when.total_seconds():.15g} seconds"
            )
    elif when is not None:
        if when.tzinfo is None:
            raise BadMessage(field=field, why="it needs a time zone")
        try:
            moment(micros(when))
        except OverflowError:
            raise BadMessage(field=field, why="it is beyond the calendar") from None


def one_time(field: str, at: datetime | None, span: float | None) -> When | None:
    """A time given as an instant or as seconds from now, and not as both."""
    if at is not None and span is not None:
        raise BadMessage(field=f"{field}_at", why=f"give {field}_at or {field}_in, not both")
    return at if span is None else timedelta(seconds=span)


def begin_and_end(deliver: When | None, expires: When | None, now: datetime) -> tuple[datetime | None, datetime | None]:
    """The instants meant, for a letter accepted now. What was to be delivered before goes at once; what could never be taken is refused."""
    begin, end = _instant(deliver, now), _instant(expires, now)
    if begin is not None and begin <= now:
        begin = None
    if end is not None and end <= (begin or now):
        raise BadMessage(field="expires_at", why="it is over before the message could be taken")
    return begin, end


def _instant(when: When | None, now: datetime) -> datetime | None:
    return now + when if isinstance(when, timedelta) else when
