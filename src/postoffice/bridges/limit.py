"""A CLI's limit: what it says when its limit is reached, and when that ends. Only its own errors are read, never what a model answers."""

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
"""An hour that comes next only a day from now has just been: then the limit should be over, and a day would be lost."""
_NOON_HOUR = 12


def _claude_errors(output: str, errors: str) -> Iterator[str]:
    """What Claude Code says of itself: the result of a run that failed, or one line where it gave none."""
    yield errors
    results = [event for event in objects(output) if "result" in event]
    yield from (str(event["result"]) for event in results if event.get("is_error") is True)
    if not results and len(output.strip().splitlines()) == 1:
        yield output


def _codex_errors(output: str, errors: str) -> Iterator[str]:
    """What Codex says of itself: its events of errors."""
    yield errors
    for event in objects(output):
        if event.get("type") in ("error", "turn.failed"):
            yield _message(event)
            yield _message(event.get("error"))


def _gemini_errors(output: str, errors: str) -> Iterator[str]:
    """What Gemini CLI says of itself: its error, as JSON or in its log."""
    yield errors
    for event in (*objects(output), *objects(errors)):
        yield _message(event.get("error"))


ERRORS: dict[str, Callable[[str, str], Iterator[str]]] = {"claude": _claude_errors, "codex": _codex_errors, "gemini": _gemini_errors}
"""By the CLI. What somebody's own command prints may mean anything."""


def limit_ends(said: str, now: datetime) -> datetime | None:
    """When the limit ends that this error tells of, by the clock of this machine; nothing where it tells of none, or not when."""
    said = said.replace("\u2019", "'")
    with suppress(ValueError, OverflowError, OSError, KeyError):  # no such day, hour or zone
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
        return now + timedelta(days=days, hours=hours, minutes=minutes + 1)  # what it says is rounded down
    if match := _GEMINI.search(said):
        hours, minutes, seconds = (int(part or 0) for part in match.groups())
        return now + timedelta(hours=hours, minutes=minutes, seconds=seconds + 1)
    return None


def _written(parts: dict[str, str | None], now: datetime) -> datetime | None:
    """A day and an hour, or the next time that hour comes."""
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
    said = error.get("message") if isinstance(error, dict) else None
    return said if isinstance(said, str) else ""
