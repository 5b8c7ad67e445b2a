"""Where the bell is found, and the windows it has: files that nobody else can read."""

import os
import re
import tempfile
from contextlib import suppress
from pathlib import Path

import msgspec
from platformdirs import user_cache_path

from postoffice.bridges.bell.pane import Pane
from postoffice.client.process import Process
from postoffice.core.ringing import Ringing

CLAUDE, CODEX, GEMINI, QWEN = "claude-code", "codex", "gemini", "qwen"
QWEN_INBOX = ("QWEN_CODE_MESSAGING_SOCKET", "QWEN_CODE_MESSAGING_TOKEN")
"""In the environment of what a window starts: its inbox, and the word that proves who was started by it."""
PLUGGED = ("copilot", "kilo", "opencode")
"""Clients that are rung from inside, by a line to the bell: only it knows whether that is open."""


class Address(msgspec.Struct, frozen=True, kw_only=True):
    """How to reach the bell on this machine: whoever can read this may speak to it."""

    port: int
    token: str
    process: Process
    version: str


class Inbox(msgspec.Struct, frozen=True, array_like=True):
    """A socket that a client opened for what it starts, and the word that proves who was."""

    path: str
    token: str


class Card(msgspec.Struct, kw_only=True):
    """One window, as it is kept for a bell that comes after this one."""

    client: str
    process: Process
    folder: str
    server: str
    session: str | None = None
    wished: str | None = None
    """The name that a person chose."""
    named: str | None = None
    """One that a person said in the client, which counts before what was set up."""
    shared: bool = False
    home: str | None = None
    """Where its client keeps its own files, if it was told."""
    mode: str | None = None
    """How the client asks for permission."""
    pane: Pane | None = None
    """Where it is shown by tmux, if a person wants rings typed there."""
    inbox: Inbox | None = None
    """Where its client hears what it started itself, if it told its hook."""
    agent: str | None = None
    tools: bool = False
    """Whether its client has our tools."""
    reach: str | None = None
    """By which way it could be rung when the bell last looked."""
    ringing: Ringing = Ringing()


def folder() -> Path:
    """Ours, made if need be."""
    path = user_cache_path("postoffice") / "bell"
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def lock_path() -> Path:
    """Who holds this is the bell."""
    return folder() / "lock"


def log_path() -> Path:
    """What the bell says."""
    return folder() / "bell.log"


def address() -> Address | None:
    """The bell that runs, if one does."""
    with suppress(OSError, msgspec.DecodeError, msgspec.ValidationError):
        bell = msgspec.json.decode((folder() / "address.json").read_bytes(), type=Address)
        return bell if bell.process.alive else None
    return None


def keep_address(address: Address) -> None:
    """Have it found."""
    _write(folder() / "address.json", msgspec.json.encode(address))


def cards() -> list[Card]:
    """Every window there was."""
    all_cards = []
    for path in sorted((folder() / "windows").glob("*.json")):
        with suppress(OSError, msgspec.DecodeError, msgspec.ValidationError):
            all_cards.append(msgspec.json.decode(path.read_bytes(), type=Card))
    return all_cards


def keep(card: Card) -> None:
    """Remember a window."""
    path = _card_path(card)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    _write(path, msgspec.json.encode(card))


def forget(card: Card) -> None:
    """It has closed."""
    _card_path(card).unlink(missing_ok=True)


def _card_path(card: Card) -> Path:
    return folder() / "windows" / f"{card.client}-{card.process.pid}-{re.sub('[^A-Za-z0-9]', '', card.process.started)}.json"


def _write(path: Path, content: bytes) -> None:
    """Whole or not at all; the file is its owner's from the start."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
