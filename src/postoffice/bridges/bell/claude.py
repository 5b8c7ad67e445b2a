"""Claude Code's windows: the record it writes of each, and the inbox socket through which another session may begin a turn."""

import asyncio
import json
import os
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from postoffice.bridges.bell.glance import glance
from postoffice.bridges.bell.place import Card

_ANSWER_SECONDS = 1.0
_BYPASS = "bypassPermissions"
_HOLDS = ("hold", "refuse")


def status(card: Card) -> str | None:
    """What the window says of itself: `idle` or `busy`; None if it says nothing we can trust."""
    return _text(_record(card), "status")


def socket_path(card: Card) -> Path | None:
    """The window's inbox socket, if it has one and this user owns it."""
    named = _text(_record(card), "messagingSocketPath")
    if named is None:
        return None
    with suppress(OSError):
        status = Path(named).lstat()
        if stat.S_ISSOCK(status.st_mode) and status.st_uid == os.getuid():
            return Path(named)
    return None


def holds(card: Card) -> bool:
    """Whether the window refuses what comes through its socket, or holds it back until its user agrees."""
    setting = _setting(card)
    return setting in _HOLDS or (setting is None and card.mode == _BYPASS)


async def ring(card: Card, text: str) -> bool:
    """Write a line into its inbox. There is no receipt: only a turn that begins shows that the line arrived."""
    path = socket_path(card)
    if path is None:
        return False
    line = json.dumps({"type": "user", "message": {"role": "user", "content": text}}, ensure_ascii=False)
    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            _, writer = await asyncio.open_unix_connection(str(path))
            try:
                writer.write(line.encode() + b"\n")
                await writer.drain()
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return False
    return True


def _folder(card: Card) -> Path:
    return Path(card.home) if card.home else Path.home() / ".claude"


def _record(card: Card) -> dict[str, Any]:
    """Claude Code's record of the window with this process, if this user owns the file and it is about this very process."""
    path = _folder(card) / "sessions" / f"{card.process.pid}.json"
    if sys.platform == "win32":  # its inbox is a named pipe there, which is untested
        return {}
    record = glance(path, _parse, own=True)
    began = _text(record, "procStart")
    # Only on Linux can we read the start time as Claude Code writes it. Elsewhere the process number has to do.
    same = sys.platform != "linux" or began is None or card.process.started.endswith(f"-{began}")
    return record if isinstance(record, dict) and same else {}


def _setting(card: Card) -> str | None:
    """The setting in force on messages from other sessions."""
    project = Path(card.folder) / ".claude"
    for path in (project / "settings.local.json", project / "settings.json", _folder(card) / "settings.json"):
        if setting := _text(glance(path, _parse), "crossSessionInbound"):
            return setting
    return None


def _parse(content: bytes) -> Any:
    with suppress(ValueError):
        return json.loads(content)
    return None


def _text(fields: Any, name: str) -> str | None:
    value = fields.get(name) if isinstance(fields, dict) else None
    return value if isinstance(value, str) else None
