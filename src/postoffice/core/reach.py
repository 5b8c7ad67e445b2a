"""Whether mail to an agent is heard now: in an open window, by a program that waits, or by nobody until somebody comes."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from postoffice.core.pause import Pause, until_words
from postoffice.core.window import Ring, Window, WindowState, name_of_folder

_CLIENTS: Final = {
    "claude-code": "Claude Code",
    "codex": "Codex",
    "copilot": "Copilot CLI",
    "cursor": "Cursor",
    "gemini": "Gemini CLI",
    "kilo": "Kilo",
    "omp": "OMP",
    "opencode": "opencode",
    "pi": "Pi",
    "qwen": "Qwen Code",
}
"""What people call the clients we know. What others call themselves are words of their own, which no sentence of ours repeats."""
_DEAF: Final = (Ring.NONE, Ring.TURN_END)
_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "min"))


class Way(StrEnum):
    """How mail reaches an agent."""

    WINDOW = "window"
    """A client is open, and can be woken or is at a turn."""
    PROGRAM = "program"
    """A program waits for its mail: a runner, a script."""
    PERSON = "person"
    """A person, who finds it on the page."""
    ASLEEP = "asleep"
    """It is there, but nothing wakes it."""
    OFFLINE = "offline"
    """Nobody has been there for a while, or ever."""
    PAUSED = "paused"
    """Its mail is held, until a time or until it is resumed."""


class Reach(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Whether somebody can take an agent's mail now."""

    way: Way
    text: str
    """In words of ours alone."""
    until: datetime | UnsetType | None = UNSET
    """Of a pause: when it ends; nothing where somebody has to resume it."""


class Known(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What whoever accepts a message for an agent knows of it anyway."""

    came: bool
    """Whether it was ever here."""
    silent_for: timedelta | None
    """Nothing where it said that it goes."""
    at_work: bool
    """Whether it has mail in hand."""
    pause: Pause | None = None
    person: bool = False


class Signs(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What is known of an agent besides its windows."""

    came: bool
    """Whether it was ever here."""
    silent_for: timedelta | None
    """Nothing where it said that it goes."""
    waits: bool
    """Whether somebody waits for its mail."""
    at_work: bool
    """Whether it has mail in hand."""
    pause: Pause | None = None
    person: bool = False
    waits_for_some: bool = False
    """Whether somebody waits for one answer, or one conversation, alone."""
    certain: bool = True
    """Whether nobody can wait for its mail where we would not know of it."""


def reach_of(windows: Sequence[Window], signs: Signs, timeout: timedelta, now: datetime, *, whole: bool = False) -> Reach:
    """What reaches an agent with these windows; `whole`: for the owner, who is told of folders too."""
    if signs.pause is not None:
        return Reach(way=Way.PAUSED, text=until_words(signs.pause.until), until=signs.pause.until)
    best = max(windows, key=_rank, default=None)
    if best is not None and (best.ring not in _DEAF or not signs.waits):
        return _of_window(best, len(windows), now, whole=whole)
    way, text = _without_window(signs, timeout)
    return Reach(way=way, text=text)


def _without_window(signs: Signs, timeout: timedelta) -> tuple[Way, str]:
    if signs.waits:
        return Way.PROGRAM, "a program waits for its mail"
    if signs.waits_for_some:
        return Way.PROGRAM, "waits for one answer, and takes other mail after that"
    if signs.person:
        seen = "not here yet" if signs.silent_for is None else f"last here {_span(max(timedelta(0), signs.silent_for))} ago"
        return Way.PERSON, f"a person, who finds it on the page ({seen})"
    if signs.silent_for is None or signs.silent_for > timeout:
        since = "offline" if signs.silent_for is None else f"offline since {_span(signs.silent_for)}"
        return Way.OFFLINE, since if signs.came else "nobody has been here under that name yet"
    here = f"was here {_span(max(timedelta(0), signs.silent_for))} ago"
    if signs.at_work:
        return Way.PROGRAM, f"at work on earlier mail ({here})"
    return (Way.ASLEEP, f"asleep: nothing wakes it ({here})") if signs.certain else (Way.PROGRAM, here)


def _rank(window: Window) -> tuple[bool, bool, datetime]:
    """Which of several windows mail reaches first: one that can be woken, one that is idle, the last to have become so."""
    return window.ring not in _DEAF, window.state is WindowState.IDLE, window.state_since


def _of_window(window: Window, count: int, now: datetime, *, whole: bool) -> Reach:
    client = _CLIENTS.get(window.client, "a client")
    place = f"window in {name_of_folder(window.folder)} ({client})" if whole else f"open in {client}"
    others = f", with {count - 1} more" if count > 1 else ""
    does = f"{window.state} {_span(max(timedelta(0), now - window.state_since))}"
    busy = window.state is WindowState.BUSY
    if window.ring not in _DEAF:
        return Reach(way=Way.WINDOW, text=f"{place}{others}, {does}, can be woken")
    if window.ring is Ring.TURN_END and busy:
        return Reach(way=Way.WINDOW, text=f"{place}{others}, {does}, hears of mail when its turn ends")
    hears = "hears of mail after its next turn, but nothing wakes it" if window.ring is Ring.TURN_END else "nothing wakes it"
    return Reach(way=Way.ASLEEP, text=f"{place}{others}, {does}; asleep: {hears}")


def _span(length: timedelta) -> str:
    """A while in its largest unit."""
    seconds = int(length.total_seconds())
    if seconds < _UNITS[-1][0]:
        return "<1 min"
    return next(f"{seconds // size} {unit}" for size, unit in _UNITS if seconds >= size)
