"""What lies in an agent's folders, as the bridge looks at it: without taking anything, and without following anything."""

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from postoffice_files import NotAMailbox, Settings, disk, jsontext
from postoffice_files.clock import SECOND, parse_instant
from postoffice_files.errors import Unreadable
from postoffice_files.folder import Folder
from postoffice_files.home import BAD, INBOX, PROCESSED, Home
from postoffice_files.letter import NoLetter, read_letter
from postoffice_files.names import is_filename, place

_REASON_CHARACTERS = 400
_REASON_BYTES = 64 * 1024
_WEEK_SECONDS = 7 * 24 * 3600.0


class File(NamedTuple):
    """A file that lies in an agent's inbox, or among what it has handled."""

    agent: str
    name: str
    print: str
    """What tells it from another that was put under the same name, and from itself while it was not whole."""


class Waiting(NamedTuple):
    """What lies in an inbox."""

    names: frozenset[str]
    folder: str
    """Which folder that is: another may have been made in its place."""


def waiting(home: Home) -> Waiting | None:
    """None if there is no inbox to look into."""
    room = _room(home, INBOX)
    return None if room is None else Waiting(_names(room), room.print_)


def archived(home: Home) -> frozenset[str]:
    """The names of the files that were handled."""
    room = _room(home, PROCESSED)
    return frozenset() if room is None else _names(room)


def reasons(home: Home, names: Iterable[str]) -> dict[str, str]:
    """Of these files, those set aside, and why."""
    room = _room(home, BAD)
    return {} if room is None else {name: _reason(room, name) for name in names if room.lstat(name) is not None}


def found(agent: str, home: Home, names: Iterable[str]) -> list[File]:
    """Of these, those that lie in the inbox or among what was handled, and are not old."""
    rooms = [room for name in (INBOX, PROCESSED) if (room := _room(home, name)) is not None]
    at = ((name, next((status for room in rooms if (status := room.lstat(name)) is not None), None)) for name in names)
    return [File(agent, name, disk.print_of(status)) for name, status in at if status is not None and not _is_stale(name, status)]


def lying(agent: str, home: Home, since: float) -> list[File]:
    """Those that lie in the inbox, or were handled since a time, and are not old."""
    # The inbox first: what is handled meanwhile is met twice, and never missed.
    rooms = [(room, begin) for name, begin in ((INBOX, 0.0), (PROCESSED, since)) if (room := _room(home, name)) is not None]
    return list(dict.fromkeys(file for room, begin in rooms for file in _lying(agent, room, begin)))


def read(home: Home, agent: str, name: str, settings: Settings) -> dict[str, Any] | None:
    """The message in a file, without taking it; None if it is none, or old."""
    for kind in (INBOX, PROCESSED):
        if (room := _room(home, kind)) is not None:
            with suppress(FileNotFoundError, NoLetter):
                letter, _ = read_letter(room, name, agent, settings)
                return None if _is_old(place(name).micros, parse_instant(letter["timestamp"])) else letter | {"filename": name}
    return None


def _room(home: Home, name: str) -> Folder | None:
    """One of an agent's folders; what stands there and is no folder holds nothing."""
    with suppress(NotAMailbox):
        return home.room(name)
    return None


def _names(room: Folder) -> frozenset[str]:
    return frozenset(name for name in room.names() if is_filename(name))


def _lying(agent: str, room: Folder, since: float) -> Iterator[File]:
    """The message files that were put into a folder since a time. There may be very many, so each is asked for no more than that takes."""
    if _touched(room.status()) < since:
        return
    with room.scan() as entries:
        for entry in entries:
            with suppress(FileNotFoundError):
                status = entry.stat(follow_symlinks=False)
                if _touched(status) >= since and is_filename(entry.name) and not _is_stale(entry.name, status):
                    yield File(agent, entry.name, disk.print_of(status))


def _touched(status: os.stat_result) -> float:
    """When something was last put there, or into it."""
    return max(status.st_mtime, status.st_ctime)


def _reason(room: Folder, name: str) -> str:
    try:
        record = jsontext.decode(room.read(f"{name}.reason.json", _REASON_BYTES)[0])
    except (FileNotFoundError, Unreadable, jsontext.NotJson):
        record = None
    reason = record.get("reason") if isinstance(record, dict) else None
    return reason[:_REASON_CHARACTERS] if isinstance(reason, str) and reason else "its reader set it aside"


def _is_old(*times: int | None) -> bool:
    """Whether a message is older than the office may remember, by all that tells: a report bears the time of what it answers."""
    latest = max((micros for micros in times if micros is not None), default=None)
    return latest is not None and time.time() - latest / SECOND > _WEEK_SECONDS


def _is_stale(name: str, status: os.stat_result) -> bool:
    """Whether that is so of a file before it is read."""
    return _is_old(place(name).micros, status.st_mtime_ns // 1000)
