"""Codex's windows: which terminal a conversation is shown in, and its queue, by which a turn begins there."""

import asyncio
import os
import shutil
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path
from uuid import UUID

from postoffice.bridges.bell.place import Card
from postoffice.client.process import Process, folder_of, name_of, process

_QUEUE_SECONDS = 10.0
_JUST_NOW_SECONDS = 30.0
_NAME = "codex"
_PROC = Path("/proc")
_SERVER = b"app-server"


def terminal(session: str | None, folder: str) -> Process | None:
    """The terminal a conversation is in: hooks and servers are started by a daemon that all terminals share.

    It is one that works in the same folder, and the last to be opened before the conversation was.
    """
    found = [one for one in _terminals() if folder_of(one.pid) == folder]
    named = [one for one in found if session is not None and session.encode() in _words(one.pid)]
    begun = None if session is None else _begun(session)
    earlier = named or [one for one in found if begun is None or _opened(one) <= begun]
    best = max(earlier or found, key=_opened, default=None)
    return None if best is None or b"exec" in _words(best.pid).split(b"\0") else best


def latest(folder: str) -> str | None:
    """The conversation that was opened just now, for which a server is started; it is marked by a file."""
    home = Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex")
    marks = [(path.stat().st_mtime, path.name) for path in (home / "tui-thread-reference-capabilities").glob("*")]
    now = time.time()
    found = [mark for mark in marks if now - mark[0] < _JUST_NOW_SECONDS]
    return max(found)[1] if found and folder else None


async def ring(card: Card, text: str) -> bool:
    """Queue a prompt for the conversation."""
    program = _program(card)
    if program is None or card.session is None:
        return False
    environment = dict(os.environ) | ({"CODEX_HOME": card.home} if card.home else {})
    try:
        asked = await asyncio.create_subprocess_exec(
            *(program, "queue", "--thread", card.session, "--message", text),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            cwd=card.folder,
            env=environment,
        )
    except OSError:
        return False
    try:
        async with asyncio.timeout(_QUEUE_SECONDS):
            return await asked.wait() == 0
    except TimeoutError:
        with suppress(ProcessLookupError):
            asked.kill()
        return False


def can_queue(card: Card) -> bool:
    """Whether there is a conversation to queue for, and a program that does it."""
    return card.session is not None and _program(card) is not None


def still_queued(card: Card) -> bool:
    """Whether an earlier ring waits in the client's own queue."""
    for path in (Path(card.home) if card.home else Path.home() / ".codex").glob("queue_*.sqlite"):
        with suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=1)) as queue:
            if queue.execute("SELECT 1 FROM queued_items WHERE thread_id = ?", (card.session,)).fetchone():
                return True
    return False


def _program(card: Card) -> str | None:
    """The program that the terminal runs, so that both agree on their files."""
    with suppress(OSError):
        found = (_PROC / str(card.process.pid) / "exe").readlink()
        if found.name == _NAME and found.exists():
            return str(found)
    return shutil.which(_NAME)


def _terminals() -> list[Process]:
    """Every Codex of this user but its servers."""
    numbers = [int(path.name) for path in _PROC.glob("[0-9]*")] if _PROC.exists() else []
    found = [process(pid) for pid in numbers if name_of(pid) == _NAME and _SERVER not in _words(pid)]
    return [one for one in found if one is not None]


def _words(pid: int) -> bytes:
    with suppress(OSError):
        return (_PROC / str(pid) / "cmdline").read_bytes()
    return b""


def _opened(one: Process) -> float:
    """Seconds since the epoch."""
    with suppress(OSError, ValueError, StopIteration):
        booted = next(line for line in (_PROC / "stat").read_text().splitlines() if line.startswith("btime "))
        return int(booted.split()[1]) + int(one.started.rpartition("-")[2]) / os.sysconf("SC_CLK_TCK")
    return 0.0


def _begun(session: str) -> float | None:
    """When a conversation was opened: its id begins with the time, in milliseconds."""
    with suppress(ValueError):
        return (UUID(session).int >> 80) / 1000 + 1
    return None
