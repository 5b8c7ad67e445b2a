"""The bell's address and its windows, in files that only this user can read."""

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
"""A window gives these to what it starts: the path of its inbox, and a secret that proves who was started by it."""
PLUGGED = ("copilot", "kilo", "opencode")
"""Clients that are rung by their own plugin over a line to the bell: only the bell knows whether that line is open."""


class Address(msgspec.Struct, frozen=True, kw_only=True):
    """How to reach the bell on this machine. Who can read this may call it."""

    port: int
    token: str
    process: Process
    version: str


class Inbox(msgspec.Struct, frozen=True, array_like=True):
    """A socket that a client opens for what it starts, and the secret that proves who that is."""

    path: str
    token: str


class Card(msgspec.Struct, kw_only=True):
    """One window, as it is written down for the next bell."""

    client: str
    process: Process
    folder: str
    server: str
    session: str | None = None
    wished: str | None = None
    """The name a person chose in `setup`."""
    named: str | None = None
    """The name a person gave in the client. It goes before the one from `setup`."""
    shared: bool = False
    home: str | None = None
    """Where its client keeps its files, if that was changed."""
    mode: str | None = None
    """How the client asks for permission."""
    pane: Pane | None = None
    """The tmux pane that shows it, if a person wants rings typed there."""
    inbox: Inbox | None = None
    """Where its client listens to what it started itself, if its hook was told."""
    agent: str | None = None
    tools: bool = False
    """Whether its client has our tools."""
    reach: str | None = None
    """The way it could be rung when the bell last looked."""
    ringing: Ringing = Ringing()


def folder() -> Path:
    """The bell's folder, made if it is missing."""
    path = user_cache_path("postoffice") / "bell"
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def lock_path() -> Path:
    """The process that holds this lock is the bell."""
    return folder() / "lock"


def log_path() -> Path:
    """The bell's log."""
    return folder() / "bell.log"


def address() -> Address | None:
    """The address of the bell that runs, if one does."""
    with suppress(OSError, msgspec.DecodeError, msgspec.ValidationError):
        bell = msgspec.json.decode((folder() / "address.json").read_bytes(), type=Address)
        return bell if bell.process.alive else None
    return None


def keep_address(address: Address) -> None:
    """Write down where the bell is found."""
    _write(folder() / "address.json", msgspec.json.encode(address))


def cards() -> list[Card]:
    """Every window that was written down."""
    all_cards = []
    for path in sorted((folder() / "windows").glob("*.json")):
        with suppress(OSError, msgspec.DecodeError, msgspec.ValidationError):
            all_cards.append(msgspec.json.decode(path.read_bytes(), type=Card))
    return all_cards


def keep(card: Card) -> None:
    """Write a window down."""
    path = _card_path(card)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    _write(path, msgspec.json.encode(card))


def forget(card: Card) -> None:
    """Strike out a window that has closed."""
    _card_path(card).unlink(missing_ok=True)


def _card_path(card: Card) -> Path:
    return folder() / "windows" / f"{card.client}-{card.process.pid}-{re.sub('[^A-Za-z0-9]', '', card.process.started)}.json"


def _write(path: Path, content: bytes) -> None:
    """Write whole or not at all, with rights for the owner only from the start."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
