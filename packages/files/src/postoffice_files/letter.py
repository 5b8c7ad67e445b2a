"""Reads a message file: gives a message, or the reason why it is not one."""

import os
from typing import Any

from postoffice_files import disk, jsontext
from postoffice_files.clock import instant
from postoffice_files.errors import BadMessage, Unreadable
from postoffice_files.folder import Folder
from postoffice_files.loops import came_round
from postoffice_files.message import check, fill
from postoffice_files.names import SUFFIX, folded, is_filename, place
from postoffice_files.settings import Settings


class NoLetter(Exception):
    """A file that is not a message: why, whether it may still become one, and what could be read of it."""

    def __init__(self, reason: str, *, unfinished: bool = False, found: dict[str, Any] | None = None) -> None:
        super().__init__(reason)
        self.reason, self.unfinished, self.found = reason, unfinished, found


def read_letter(folder: Folder, name: str, agent: str, settings: Settings) -> tuple[dict[str, Any], str]:
    """The message in a file and the file's print. Raises FileNotFoundError or NoLetter."""
    if not is_filename(name):
        reason = f"its name is not that of a message: plain letters, digits, '.', '_' and '-', ending in {SUFFIX}"
        raise NoLetter(reason, unfinished=not name.endswith(SUFFIX))
    try:
        data, status = folder.read(name, settings.max_bytes)
        letter = jsontext.decode(data)
    except (Unreadable, jsontext.NotJson) as error:
        why = error.facts["why"] if isinstance(error, Unreadable) else error
        raise NoLetter(str(why), unfinished=isinstance(error, jsontext.Torn)) from None
    if not isinstance(letter, dict):
        reason = "it is JSON, but not an object"
        raise NoLetter(reason)
    to = letter.get("to")
    if to is not None and (not isinstance(to, str) or folded(to) != folded(agent)):
        reason = f"it is addressed to {str(to)[:100]!r}, not to {agent!r}"
        raise NoLetter(reason, found=letter)
    written = place(name).micros
    message = fill(
        letter,
        id=_id(name, status),
        sender=letter.get("from", ""),
        to=agent,
        timestamp=instant(status.st_mtime_ns // 1000 if written is None else written),
        ttl=settings.ttl,
    )
    try:
        check(message)
    except BadMessage as error:
        raise NoLetter(str(error), found=letter) from None
    if came_round(message, agent):
        reason = f"it has run in a circle: {' → '.join(message['trace'])} → {agent}"
        raise NoLetter(reason, found=message)
    return message, disk.print_of(status)


def _id(name: str, status: os.stat_result) -> str:
    """An id for a message without one. A file name without a time may be reused, so then the id is made from the file itself."""
    stays = f"{status.st_mtime_ns}-{status.st_ino}"  # these stay the same through every move and renaming
    return f"msg_{stays if place(name).micros is None else name.removesuffix(SUFFIX)}"[:200]
