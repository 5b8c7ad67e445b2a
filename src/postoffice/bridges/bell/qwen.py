"""Qwen Code's windows: each opens an inbox for what it started itself, such as our hook. A line in it begins a turn."""

import asyncio
import json
import os
import stat
import tempfile
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from postoffice.bridges.bell.glance import glance
from postoffice.bridges.bell.place import Card

_RECEIPT_SECONDS = 15.0
_LETS_IN: Final = (None, "accept")
"""The setting on messages from other sessions. By default a window takes what comes from a program it started."""
_VERSION: Final = {"msgV": 1}


def has_inbox(card: Card) -> bool:
    """Whether the inbox that its hook was told of is there, and this user owns it."""
    if card.inbox is None:
        return False
    with suppress(OSError):
        status = Path(card.inbox.path).lstat()
        return stat.S_ISSOCK(status.st_mode) and status.st_uid == os.getuid()
    return False


def holds(card: Card) -> bool:
    """Whether its settings refuse what comes through its inbox, or hold it back. A project's settings may be stricter than its user's."""
    home = Path(card.home) if card.home else Path.home() / ".qwen"
    return any(_setting(folder / "settings.json") not in _LETS_IN for folder in (Path(card.folder) / ".qwen", home))


async def ring(card: Card, text: str) -> bool:
    """Write a line into its inbox. A receipt says that it was taken; it comes to a socket of ours that nobody else can reach."""
    if card.inbox is None:
        return False
    id = uuid.uuid4().hex
    with tempfile.TemporaryDirectory(prefix="postoffice-") as folder:
        answer_to = str(Path(folder) / "receipt")
        frame = _VERSION | {"msgId": id, "type": "user", "from": answer_to, "message": {"role": "user", "content": text}}
        if card.session is not None:
            frame["toSessionId"] = card.session
        try:
            async with asyncio.timeout(_RECEIPT_SECONDS):
                return await _receipt(card.inbox.path, [_VERSION | {"type": "auth", "token": card.inbox.token}, frame], answer_to, id)
        except (OSError, TimeoutError):
            return False


async def _receipt(inbox: str, lines: list[dict[str, Any]], answer_to: str, id: str) -> bool:
    """Send the line and wait for the receipt."""
    status: asyncio.Future[object] = asyncio.get_running_loop().create_future()

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, ValueError):
            async for line in reader:
                answer = json.loads(line)
                if isinstance(answer, dict) and answer.get("origMsgId") == id and not status.done():
                    status.set_result(answer.get("status"))
        writer.close()

    async with await asyncio.start_unix_server(hear, answer_to):
        _, writer = await asyncio.open_unix_connection(inbox)
        try:
            writer.write(b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines))
            writer.write_eof()
            return await status == "delivered"
        finally:
            writer.close()


def _setting(path: Path) -> object:
    return glance(path, _inbound)


def _inbound(content: bytes) -> object:
    with suppress(ValueError, KeyError, TypeError):
        return json.loads(content)["agents"]["crossSessionInbound"]
    return None
