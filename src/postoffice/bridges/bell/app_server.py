"""Codex's app server, which all its terminals share. Through it the bell adds a line to a turn that is already running."""

import asyncio
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from websockets.asyncio.client import ClientConnection, unix_connect
from websockets.exceptions import WebSocketException

from postoffice import __version__
from postoffice.bridges.bell.place import Card

_ANSWER_SECONDS = 2.0
_SOCKET = Path("app-server-control", "app-server-control.sock")


async def steer(card: Card, text: str) -> bool:
    """Add a line to the turn that a conversation is running; False if none is running, or nobody answers."""
    path = (Path(card.home) if card.home else Path.home() / ".codex") / _SOCKET
    if card.session is None or not _is_ours(path):
        return False
    try:
        async with asyncio.timeout(_ANSWER_SECONDS), unix_connect(str(path), uri="ws://localhost/", proxy=None) as line:
            await _ask(line, "initialize", clientInfo={"name": "postoffice", "version": __version__})
            await line.send(msgspec.json.encode({"method": "initialized"}), text=True)
            (turn,) = (await _ask(line, "thread/turns/list", threadId=card.session, limit=1))["data"]
            if turn["status"] != "inProgress":
                return False
            items = [{"type": "text", "text": text}]
            await _ask(line, "turn/steer", threadId=card.session, expectedTurnId=turn["id"], input=items)
    except (OSError, TimeoutError, WebSocketException, msgspec.DecodeError, KeyError, TypeError, ValueError):
        return False
    return True


async def _ask(line: ClientConnection, method: str, **what: Any) -> Any:
    """The result of one call. A refusal has no result and raises KeyError."""
    await line.send(msgspec.json.encode({"id": method, "method": method, "params": what}), text=True)
    while True:
        said = msgspec.json.decode(await line.recv())
        if said.get("id") == method and "method" not in said:
            return said["result"]


def _is_ours(path: Path) -> bool:
    with suppress(OSError):
        status = path.stat()
        return stat.S_ISSOCK(status.st_mode) and status.st_uid == os.getuid()
    return False
