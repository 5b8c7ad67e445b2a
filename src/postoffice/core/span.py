"""A duration as people and models read it."""

from datetime import timedelta

_JUST_NOW = timedelta(seconds=2)
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def span(length: timedelta) -> str:
    """In the unit that says most, in whole numbers: between one and two of a unit, the next smaller says more."""
    seconds = max(length.total_seconds(), 0)
    size, unit = next(((size, unit) for size, unit in _UNITS if seconds >= size * 2), _UNITS[-1])
    return f"{seconds / size:.0f} {unit}"


def ago(length: timedelta) -> str:
    """How long something is past."""
    return "just now" if length < _JUST_NOW else f"{span(length)} ago"
