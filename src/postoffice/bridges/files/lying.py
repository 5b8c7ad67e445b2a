"""Looks at the files in an agent's folders, without taking any and without following links."""

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
    """A file in an agent's inbox, or among those it has handled."""

    agent: str
    name: str
    print: str
    """Tells it from another file of the same name, and from itself while it was being written."""


class Waiting(NamedTuple):
    """The files in an inbox."""

    names: frozenset[str]
    folder: str
    """Identifies the folder, as another may have been made in its place."""


def waiting(home: Home) -> Waiting | None:
    """The files in an inbox; None if there is no inbox."""
    room = _room(home, INBOX)
    return None if room is None else Waiting(_names(room), room.print_)


def archived(home: Home) -> frozenset[str]:
    """The names of the handled files."""
    room = _room(home, PROCESSED)
    return frozenset() if room is None else _names(room)


def reasons(home: Home, names: Iterable[str]) -> dict[str, str]:
    """Which of these files were set aside, and why."""
    room = _room(home, BAD)
    return {} if room is None else {name: _reason(room, name) for name in names if room.lstat(name) is not None}


def found(agent: str, home: Home, names: Iterable[str]) -> list[File]:
    """Which of these files are in the inbox or among the handled ones, and are not too old."""
    rooms = [room for name in (INBOX, PROCESSED) if (room := _room(home, name)) is not None]
    at = ((name, next((status for room in rooms if (status := room.lstat(name)) is not None), None)) for name in names)
    return [File(agent, name, disk.print_of(status)) for name, status in at if status is not None and not _is_stale(name, status)]


def lying(agent: str, home: Home, since: float) -> list[File]:
    """The files in the inbox, and those handled since a time, that are not too old."""
    # The inbox first: a file handled meanwhile is then seen twice instead of never.
    rooms = [(room, begin) for name, begin in ((INBOX, 0.0), (PROCESSED, since)) if (room := _room(home, name)) is not None]
    return list(dict.fromkeys(file for room, begin in rooms for file in _lying(agent, room, begin)))


def read(home: Home, agent: str, name: str, settings: Settings) -> dict[str, Any] | None:
    """The message in a file, which stays there; None if the file holds none or is too old."""
    for kind in (INBOX, PROCESSED):
        if (room := _room(home, kind)) is not None:
            with suppress(FileNotFoundError, NoLetter):
                letter, _ = read_letter(room, name, agent, settings)
                return None if _is_old(place(name).micros, parse_instant(letter["timestamp"])) else letter | {"filename": name}
    return None


def _room(home: Home, name: str) -> Folder | None:
    """One of an agent's folders. Anything else of that name counts as empty."""
    with suppress(NotAMailbox):
        return home.room(name)
    return None


def _names(room: Folder) -> frozenset[str]:
    return frozenset(name for name in room.names() if is_filename(name))


def _lying(agent: str, room: Folder, since: float) -> Iterator[File]:
    """The message files put into a folder since a time. There may be very many, so each costs as few system calls as possible."""
    if _touched(room.status()) < since:
        return
    with room.scan() as entries:
        for entry in entries:
            with suppress(FileNotFoundError):
                status = entry.stat(follow_symlinks=False)
                if _touched(status) >= since and is_filename(entry.name) and not _is_stale(entry.name, status):
                    yield File(agent, entry.name, disk.print_of(status))


def _touched(status: os.stat_result) -> float:
    """When the file was last moved or written."""
    return max(status.st_mtime, status.st_ctime)


def _reason(room: Folder, name: str) -> str:
    try:
        record = jsontext.decode(room.read(f"{name}.reason.json", _REASON_BYTES)[0])
    except (FileNotFoundError, Unreadable, jsontext.NotJson):
        record = None
    reason = record.get("reason") if isinstance(record, dict) else None
    return reason[:_REASON_CHARACTERS] if isinstance(reason, str) and reason else "its reader set it aside"


def _is_old(*times: int | None) -> bool:
    """Whether a message is older than the office remembers. The latest of its times counts, as a report bears the time of what it answers."""
    latest = max((micros for micros in times if micros is not None), default=None)
    return latest is not None and time.time() - latest / SECOND > _WEEK_SECONDS


def _is_stale(name: str, status: os.stat_result) -> bool:
    """Whether a file is too old, judged before it is read."""
    return _is_old(place(name).micros, status.st_mtime_ns // 1000)
