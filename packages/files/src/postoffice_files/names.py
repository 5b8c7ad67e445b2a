"""The names of agents and of their message files."""

import hashlib
import os
import re
import sys
from functools import lru_cache
from typing import Final, NamedTuple

from postoffice_files.errors import BadFilename, BadName, ReservedName

SYSTEM: Final = "system"
SUFFIX: Final = ".msg.json"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)
_DEVICES = {"con", "prn", "aux", "nul"} | {f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10)}
_NOBODY = frozenset({"all", "me", "register"})
_RESERVED = _NOBODY | {SYSTEM, "owner"}

# Even with the longest name, the additions of claims and reasons fit into the usual 255 bytes.
_FILENAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,210}", re.ASCII)
_STAMP = re.compile(r"([0-9]{1,12})(?:\.([0-9]{1,6}))?_", re.ASCII)
_OURS = re.compile(r"[0-9]{1,12}\.[0-9]{6}_.+_p([1-5])-([A-Za-z0-9]+)", re.ASCII)


def folded(name: str) -> str:
    """The folded form, which is equal for all spellings of a name."""
    return name.lower()


def check_name(name: object) -> str:
    """The name, if an agent of that name can exist."""
    if not isinstance(name, str):
        raise BadName(name=name)
    return _checked(name)


@lru_cache(maxsize=1024)
def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise BadName(name=name)
    # Names become folders. On Windows these open a device, whatever follows the dot, and a final dot is dropped.
    if folded(name).split(".")[0] in _DEVICES or (name.endswith(".") and sys.platform == "win32"):
        raise ReservedName(name=name)
    return name


def check_recipient(name: object) -> str:
    """The name, if mail may be addressed to it."""
    checked = check_name(name)
    if folded(checked) in _NOBODY | {SYSTEM}:
        raise ReservedName(name=name)
    return checked


def check_free(name: object) -> str:
    """The name, if an agent may take it."""
    checked = check_name(name)
    if folded(checked) in _RESERVED:
        raise ReservedName(name=name)
    return checked


@lru_cache(maxsize=1024)
def is_filename(name: str) -> bool:
    """Whether a message file may be called this."""
    return name.endswith(SUFFIX) and ".." not in name and _FILENAME.fullmatch(name) is not None


def check_filename(name: object) -> str:
    """The name, if a message file may be called this: one plain name that cannot lead anywhere else."""
    if not isinstance(name, str) or not is_filename(name):
        raise BadFilename(filename=name)
    return name


def handle(name: str) -> str:
    """A file's name for claims and the bad folder: its own, or a safe one if it is not a valid message name."""
    if is_filename(name):
        return name
    plain = re.sub(r"[^A-Za-z0-9]+", "-", name)[:40].strip("-")
    return f"odd-{hashlib.sha256(os.fsencode(name)).hexdigest()[:16]}-{plain}".rstrip("-")


class Place(NamedTuple):
    """A message's place in the order, as far as its name shows it."""

    priority: int | None
    micros: int | None
    order: str
    """Tells messages of the same time apart."""


def filename(micros: int, sender: str, priority: int, token: str) -> str:
    """A unique file name that sorts by time. It begins like the seed's: second, then sender."""
    plain = re.sub(r"\.{2,}", "-", sender)  # an agent's name may contain two dots in a row, a file's may not
    return f"{micros // 1_000_000}.{micros % 1_000_000:06}_{plain}_p{priority}-{token}{SUFFIX}"


@lru_cache(maxsize=1024)
def place(name: str) -> Place:
    """Read a file name, ours or the seed's (`1745659200_coder.msg.json`)."""
    stamp, ours = _STAMP.match(name), _OURS.fullmatch(name.removesuffix(SUFFIX))
    micros = None if stamp is None else int(stamp[1]) * 1_000_000 + int((stamp[2] or "").ljust(6, "0"))
    return Place(None if ours is None else int(ours[1]), micros, "" if ours is None else ours[2])
