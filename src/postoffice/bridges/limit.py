"""A CLI's usage limit: how we know that it is reached, and when it ends. Only the CLI's errors are read, never a model's answer."""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

from postoffice.bridges.preset import objects

_ANY = re.DOTALL | re.IGNORECASE
_STAMP = re.compile(r"usage limit reached\|(\d{10})\b", re.ASCII)
_CLAUDE = re.compile(
    r"(?:hit your [\w ]{0,20}limit|limit reached)\b.{0,40}?\bresets?(?: at)? "
    r"(?:(?P<month>[A-Z][a-z]{2}) (?P<day>\d{1,2})(?:,| at) )?"
    r"(?P<hour>\d{1,2})(?::(?P<minute>\d\d))?(?P<half>am|pm)(?: \((?P<zone>[\w/+-]+)\))?",
    _ANY,
)
_CODEX_AT = re.compile(
    r"hit your usage limit.{0,300}?try again at (?:(?P<month>[A-Z][a-z]{2}) (?P<day>\d{1,2})(?:st|nd|rd|th), (?P<year>\d{4}) )?"
    r"(?P<hour>\d{1,2}):(?P<minute>\d\d) (?P<half>AM|PM)",
    _ANY,
)
_CODEX_IN = re.compile(r"hit your usage limit.{0,300}?try again in (?=\d)(?:(\d+) days?\s*)?(?:(\d+) hours?\s*)?(?:(\d+) minutes?)?", _ANY)
_GEMINI = re.compile(r"quota will reset after (?=\d)(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)(?:\.\d+)?s)?", re.IGNORECASE)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_LONGEST_LIMIT = timedelta(days=32)
_OVER_WITHIN = timedelta(hours=1)
"""If the named hour is almost a day away, it has just passed: the limit is over, and waiting would lose a day."""
_NOON_HOUR = 12


def _claude_errors(output: str, errors: str) -> Iterator[str]:
    """Claude Code's own errors: the result of a failed run, or a single line if there was none."""
    yield errors
    results = [event for event in objects(output) if "result" in event]
    yield from (str(event["result"]) for event in results if event.get("is_error") is True)
    if not results and len(output.strip().splitlines()) == 1:
        yield output


def _codex_errors(output: str, errors: str) -> Iterator[str]:
    """Codex's own errors: its error events."""
    yield errors
    for event in objects(output):
        if event.get("type") in ("error", "turn.failed"):
            yield _message(event)
            yield _message(event.get("error"))


def _gemini_errors(output: str, errors: str) -> Iterator[str]:
    """Gemini CLI's own errors, as JSON or in its log."""
    yield errors
    for event in (*objects(output), *objects(errors)):
        yield _message(event.get("error"))


ERRORS: dict[str, Callable[[str, str], Iterator[str]]] = {"claude": _claude_errors, "codex": _codex_errors, "gemini": _gemini_errors}
"""How to read errors, by CLI. An own command may print anything, so there is none for it."""


def limit_ends(said: str, now: datetime) -> datetime | None:
    """When the limit in this error ends, by this machine's clock; None if it names no limit or no time."""
    said = said.replace("\u2019", "'")
    with suppress(ValueError, OverflowError, OSError, KeyError):  # no such day, hour or zone exists
        end = _end(said, now)
        if end is not None and now < end < now + _LONGEST_LIMIT:
            return end
    return None


def _end(said: str, now: datetime) -> datetime | None:
    if match := _STAMP.search(said):
        return datetime.fromtimestamp(int(match[1]), UTC)
    if (match := _CODEX_AT.search(said)) or (match := _CLAUDE.search(said)):
        return _written(match.groupdict(), now)
    if match := _CODEX_IN.search(said):
        days, hours, minutes = (int(part or 0) for part in match.groups())
        return now + timedelta(days=days, hours=hours, minutes=minutes + 1)  # the CLI rounds down
    if match := _GEMINI.search(said):
        hours, minutes, seconds = (int(part or 0) for part in match.groups())
        return now + timedelta(hours=hours, minutes=minutes, seconds=seconds + 1)
    return None


def _written(parts: dict[str, str | None], now: datetime) -> datetime | None:
    """The time that a day and an hour name, or without a day the next time that hour comes."""
    zone: tzinfo | None = ZoneInfo(str(parts["zone"])) if parts.get("zone") else now.tzinfo
    here = now.astimezone(zone)
    hour = int(parts["hour"] or 0) % _NOON_HOUR + (_NOON_HOUR if str(parts["half"]).lower() == "pm" else 0)
    at = here.replace(hour=hour, minute=int(parts["minute"] or 0), second=0, microsecond=0)
    if parts["month"]:
        at = at.replace(
            year=int(parts.get("year") or here.year), month=_MONTHS.index(parts["month"].lower()) + 1, day=int(parts["day"] or 0)
        )
        return at if at > here or parts.get("year") else at.replace(year=at.year + 1)
    if at > here:
        return at
    return None if here - at < _OVER_WITHIN else at + timedelta(days=1)


def _message(error: object) -> str:
    message = error.get("message") if isinstance(error, dict) else None
    return message if isinstance(message, str) else ""
