"""The tmux pane that shows a client, read from the client's environment."""

import os
import re
from contextlib import suppress
from pathlib import Path

import msgspec


class Pane(msgspec.Struct, frozen=True):
    """Tmux's socket, and the pane's number there."""

    socket: str
    pane: str


def pane_of(pid: int) -> Pane | None:
    """The pane a process runs in, read from its environment."""
    variables = dict(os.environ)
    with suppress(OSError):
        words = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        variables = dict(word.decode(errors="replace").partition("=")[::2] for word in words)
    socket, pane = variables.get("TMUX", "").rpartition(",")[0].rpartition(",")[0], variables.get("TMUX_PANE", "")
    return Pane(socket, pane) if socket and re.fullmatch(r"%\d+", pane) else None
