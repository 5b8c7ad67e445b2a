"""Moments and durations as people read them."""

from datetime import UTC, datetime, timedelta

from markupsafe import Markup

from postoffice.doors.moments import now

_UNITS = ((86_400, "d", 3_600), (3_600, "h", 60), (60, "m", 1), (1, "s", 1))
"""Units: seconds, sign, and the next smaller unit."""
_MILLISECONDS = 10
_ROUND_SECONDS = 10
"""Rounded to this, so that a fragment shown again a moment later is the same."""


def when(at: datetime | None) -> Markup:
    """How long ago, with the exact moment as a title. Scripts keep it up to date."""
    if at is None:
        return Markup('<span class="never">never</span>')
    exact = at.strftime("%Y-%m-%d %H:%M:%S UTC")
    return Markup('<time datetime="{}" title="{}">{}</time>').format(at.isoformat(), exact, ago(at))


def since(length: timedelta | None) -> Markup:
    """For how long something has lasted. Scripts keep it up to date."""
    if length is None:
        return Markup()
    seconds = round((now() - length).timestamp() / _ROUND_SECONDS) * _ROUND_SECONDS
    return Markup('<time datetime="{}" data-age>{}</time>').format(datetime.fromtimestamp(seconds, UTC).isoformat(), age(length))


def clock(at: datetime) -> Markup:
    """The time of day to the second, with the day as a title. Scripts show it in the reader's own zone."""
    exact = at.strftime("%Y-%m-%d %H:%M:%S UTC")
    return Markup('<time datetime="{}" title="{}" data-clock>{}</time>').format(at.isoformat(), exact, at.strftime("%H:%M:%S"))


def ago(at: datetime) -> str:
    """The distance from now, in one unit."""
    past = (now() - at).total_seconds()
    return "now" if abs(past) < 1 else f"{span(timedelta(seconds=past))} ago" if past > 0 else f"in {span(timedelta(seconds=-past))}"


def age(length: timedelta | None) -> str:
    """For how long something has lasted, in whole seconds at least."""
    return "" if length is None else "now" if length < timedelta(seconds=1) else span(timedelta(seconds=round(length.total_seconds())))


def usual(length: timedelta) -> str:
    """How long something usually takes."""
    return "less than a second" if length < timedelta(seconds=1) else age(length)


def span(length: timedelta | None) -> str:
    """A duration in the unit that says most."""
    if length is None:
        return ""
    seconds = length.total_seconds()
    if seconds < _MILLISECONDS:
        return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s".replace(".0 ", " ")
    # Between one and two of a unit, use the next smaller unit, unless it would round to two.
    size, unit, _ = next((one for one in _UNITS if seconds >= one[0] * 2 - one[2] / 2), _UNITS[-1])
    return f"{seconds / size:.0f} {unit}"
