"""A recipient's standing, in words for the mind that sent the mail."""

from datetime import datetime

from msgspec import UNSET

from postoffice.core.delivery import CANCELED, EXPIRED, Standing, State
from postoffice.core.pause import until_words
from postoffice.core.span import ago, span
from postoffice.doors.moments import now

ANSWERED = "answered"
"""The reason the office writes when an answer settles a message. Any other reason is in the recipient's words."""


def theirs(one: Standing) -> str:
    """What the sender wants to know: whether the mail was read."""
    match one.state:
        case State.ACKED:
            return f"read and {'answered' if one.reason == ANSWERED else 'done'}{_by(one)}{_when(one.settled_at)}"
        case State.LEASED:
            return f"taken{_by(one)}{_when(one.leased_at)}, not done yet"
        case State.DEAD:
            return _how_it_died(one)
        case _:
            return _of_waiting(one)


def _by(one: Standing) -> str:
    """Which of a role's agents took it."""
    return f" by {one.taken_by}" if isinstance(one.taken_by, str) else ""


def _of_waiting(one: Standing) -> str:
    """The same for mail that nobody has in hand."""
    if one.due_at is not None and one.leased_at is not None:
        return f"taken{_when(one.leased_at)}, and put off: it comes again in {span(one.due_at - now())}"
    if one.attempts:
        return f"taken {_times(one.attempts)}, not done yet"
    if one.seen_at is not None:
        return f"read{_when(one.seen_at)}, not done yet"
    return f"not read yet{_why(one)}"


def _how_it_died(one: Standing) -> str:
    if one.reason == CANCELED:
        return "canceled, nobody had taken it"
    if one.reason == EXPIRED and not one.attempts:
        return "expired, nobody had taken it"
    return f"not done, after {_times(one.attempts)}, and {'expired' if one.reason == EXPIRED else 'given up'}"


def _why(one: Standing) -> str:
    if one.paused_until is not UNSET:
        return f", its mail is {until_words(one.paused_until)}"
    return "" if one.in_words == one.state else f", {one.in_words}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _when(at: datetime | None) -> str:
    return "" if at is None else f" {ago(now() - at)}"
