"""Codex's terminals: which of them shows a conversation. All terminals share one daemon, which starts hooks and servers."""

import os
import time
from contextlib import suppress
from pathlib import Path
from uuid import UUID

from postoffice.client.process import Process, folder_of, name_of, process

NAME = "codex"
_JUST_NOW_SECONDS = 30.0
_PROC = Path("/proc")
_SERVER = b"app-server"


def terminal(session: str | None, folder: str | None) -> Process | None:
    """The terminal that shows a conversation: of those in its folder, the last one opened before the conversation began."""
    candidates = [one for one in _terminals() if folder is None or folder_of(one.pid) == folder]
    named = [one for one in candidates if session is not None and session.encode() in _words(one.pid)]
    begun = None if session is None else _begun(session)
    earlier = named or [one for one in candidates if begun is None or _opened(one) <= begun]
    best = max(earlier or candidates, key=_opened, default=None)
    return None if best is None or b"exec" in _words(best.pid).split(b"\0") else best


def latest() -> str | None:
    """The conversation that was just opened, for which Codex starts a server. A file marks it."""
    home = Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex")
    marks = [(path.stat().st_mtime, path.name) for path in (home / "tui-thread-reference-capabilities").glob("*")]
    now = time.time()
    recent = [mark for mark in marks if now - mark[0] < _JUST_NOW_SECONDS]
    return max(recent)[1] if recent else None


def _terminals() -> list[Process]:
    """The Codex processes of this user, without Codex's servers."""
    numbers = [int(path.name) for path in _PROC.glob("[0-9]*")] if _PROC.exists() else []
    processes = [process(pid) for pid in numbers if name_of(pid) == NAME and _SERVER not in _words(pid)]
    return [one for one in processes if one is not None]


def _words(pid: int) -> bytes:
    with suppress(OSError):
        return (_PROC / str(pid) / "cmdline").read_bytes()
    return b""


def _opened(one: Process) -> float:
    """When a process was started, in seconds since the epoch."""
    with suppress(OSError, ValueError, StopIteration):
        booted = next(line for line in (_PROC / "stat").read_text().splitlines() if line.startswith("btime "))
        return int(booted.split()[1]) + int(one.started.rpartition("-")[2]) / os.sysconf("SC_CLK_TCK")
    return 0.0


def _begun(session: str) -> float | None:
    """When a conversation began: its id starts with the time in milliseconds."""
    with suppress(ValueError):
        return (UUID(session).int >> 80) / 1000 + 1
    return None
