"""Codex's queue, through which a turn begins in a conversation."""

import asyncio
import os
import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from postoffice.bridges.bell.place import Card
from postoffice.bridges.bell.terminal import NAME

_QUEUE_SECONDS = 10.0
_PROC = Path("/proc")


async def ring(card: Card, text: str) -> bool:
    """Queue a prompt for the conversation."""
    program = _program(card)
    if program is None or card.session is None:
        return False
    environment = dict(os.environ) | ({"CODEX_HOME": card.home} if card.home else {})
    try:
        child = await asyncio.create_subprocess_exec(
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
            return await child.wait() == 0
    except TimeoutError:
        with suppress(ProcessLookupError):
            child.kill()
        return False


def can_queue(card: Card) -> bool:
    """Whether there is a conversation to queue a prompt for, and a program to queue it with."""
    return card.session is not None and _program(card) is not None


def still_queued(card: Card) -> bool:
    """Whether an earlier ring still waits in the client's queue."""
    for path in (Path(card.home) if card.home else Path.home() / ".codex").glob("queue_*.sqlite"):
        with suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=1)) as queue:
            if queue.execute("SELECT 1 FROM queued_items WHERE thread_id = ?", (card.session,)).fetchone():
                return True
    return False


def _program(card: Card) -> str | None:
    """The program that the terminal runs: another version might keep its files elsewhere."""
    with suppress(OSError):
        program = (_PROC / str(card.process.pid) / "exe").readlink()
        if program.name == NAME and program.exists():
            return str(program)
    return shutil.which(NAME)
