"""What an agent may be called, and what its message files are."""

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

# The longest name leaves room for what claims and reasons add within the usual 255 bytes.
_FILENAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,210}", re.ASCII)
_STAMP = re.compile(r"([0-9]{1,12})(?:\.([0-9]{1,6}))?_", re.ASCII)
_OURS = re.compile(r"[0-9]{1,12}\.[0-9]{6}_.+_p([1-5])-([A-Za-z0-9]+)", re.ASCII)


def folded(name: str) -> str:
    """The form in which two spellings of one name are equal."""
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
    # Names become folders, and these open a device on some systems, whatever follows the dot. Windows drops a last dot.
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
    """What claims and the bad folder call a file: its name, or a safe word for a name that is none."""
    if is_filename(name):
        return name
    plain = re.sub(r"[^A-Za-z0-9]+", "-", name)[:40].strip("-")
    return f"odd-{hashlib.sha256(os.fsencode(name)).hexdigest()[:16]}-{plain}".rstrip("-")


class Place(NamedTuple):
    """Where a message stands among the others, as far as its name tells."""

    priority: int | None
    micros: int | None
    order: str
    """What tells messages of one time apart."""


def filename(micros: int, sender: str, priority: int, token: str) -> str:
    """A name that sorts by time and is nobody else's. It begins as the seed's does: the second, the sender."""
    plain = re.sub(r"\.{2,}", "-", sender)  # an agent's name may have two dots in a row, a file's may not
    return f"{micros // 1_000_000}.{micros % 1_000_000:06}_{plain}_p{priority}-{token}{SUFFIX}"


@lru_cache(maxsize=1024)
def place(name: str) -> Place:
    """Reads our names and the seed's, `1745659200_coder.msg.json`."""
    stamp, ours = _STAMP.match(name), _OURS.fullmatch(name.removesuffix(SUFFIX))
    micros = None if stamp is None else int(stamp[1]) * 1_000_000 + int((stamp[2] or "").ljust(6, "0"))
    return Place(None if ours is None else int(ours[1]), micros, "" if ours is None else ours[2])
