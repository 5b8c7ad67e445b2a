"""Claude Code's windows: what it writes of each, and its inbox socket, by which another session may begin a turn."""

import asyncio
import json
import os
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from postoffice.bridges.bell.place import Card

_ANSWER_SECONDS = 1.0
_BYPASS = "bypassPermissions"
_HOLDS = ("hold", "refuse")


def status(card: Card) -> str | None:
    """What the window itself says that it does: `idle`, `busy`; None where it says nothing that can be believed."""
    return _text(_record(card), "status")


def socket_path(card: Card) -> Path | None:
    """Its inbox, if it has one that belongs to this user."""
    named = _text(_record(card), "messagingSocketPath")
    if named is None:
        return None
    with suppress(OSError):
        status = Path(named).lstat()
        if stat.S_ISSOCK(status.st_mode) and status.st_uid == os.getuid():
            return Path(named)
    return None


def holds(card: Card) -> bool:
    """Whether it would keep what comes by its socket back for its user, or turn it away."""
    setting = _setting(card)
    return setting in _HOLDS or (setting is None and card.mode == _BYPASS)


async def ring(card: Card, text: str) -> bool:
    """Put a line into its inbox. Nothing comes back: only the turn that begins shows that it was heard."""
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
    """What Claude Code writes of the window with this process, if the file is this user's and speaks of this very process."""
    path = _folder(card) / "sessions" / f"{card.process.pid}.json"
    if sys.platform == "win32":  # its inbox is a named pipe there, which nobody has tried
        return {}
    try:
        if path.lstat().st_uid != os.getuid():
            return {}
        record = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    began = _text(record, "procStart")
    # Elsewhere than on Linux its own word for the beginning is not ours to read; there the number has to do.
    same = sys.platform != "linux" or began is None or card.process.started.endswith(f"-{began}")
    return record if isinstance(record, dict) and same else {}


def _setting(card: Card) -> str | None:
    """The last word of its settings on messages from other sessions."""
    project = Path(card.folder) / ".claude"
    for path in (project / "settings.local.json", project / "settings.json", _folder(card) / "settings.json"):
        with suppress(OSError, ValueError):
            if setting := _text(json.loads(path.read_bytes()), "crossSessionInbound"):
                return setting
    return None


def _text(fields: Any, name: str) -> str | None:
    value = fields.get(name) if isinstance(fields, dict) else None
    return value if isinstance(value, str) else None
