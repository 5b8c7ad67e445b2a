"""Codex's app server, which all its terminals share. Through it the bell begins a turn, or adds a line to one that is already running."""

import asyncio
import os
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
from websockets.asyncio.client import ClientConnection, unix_connect
from websockets.exceptions import WebSocketException

from postoffice import __version__
from postoffice.bridges.bell.place import Card

_ANSWER_SECONDS = 2.0
_SOCKET = Path("app-server-control", "app-server-control.sock")
_FAILURES = (OSError, TimeoutError, WebSocketException, msgspec.DecodeError, KeyError, TypeError, ValueError)


def is_open(card: Card) -> bool:
    """Whether the window has a conversation, and the socket exists and belongs to this user."""
    return card.session is not None and _is_ours(_path(card))


async def start(card: Card, text: str) -> bool:
    """Begin a turn in an open conversation. If one is running by now, the server adds the line to it."""
    if not (is_open(card) and card.process.alive):
        return False
    try:
        async with _connected(card) as line:
            if card.session not in (await _ask(line, "thread/loaded/list"))["data"]:
                return False  # the server would load it from disk, and its turn would run unseen
            await _ask(line, "turn/start", threadId=card.session, input=_said(text))
    except _FAILURES:
        return False
    return True


async def steer(card: Card, text: str) -> bool:
    """Add a line to the turn that a conversation is running; False if none is running, or nobody answers."""
    if not is_open(card):
        return False
    try:
        async with _connected(card) as line:
            (turn,) = (await _ask(line, "thread/turns/list", threadId=card.session, limit=1))["data"]
            if turn["status"] != "inProgress":
                return False
            await _ask(line, "turn/steer", threadId=card.session, expectedTurnId=turn["id"], input=_said(text))
    except _FAILURES:
        return False
    return True


@asynccontextmanager
async def _connected(card: Card) -> AsyncIterator[ClientConnection]:
    async with asyncio.timeout(_ANSWER_SECONDS), unix_connect(str(_path(card)), uri="ws://localhost/", proxy=None) as line:
        await _ask(line, "initialize", clientInfo={"name": "postoffice", "version": __version__})
        await line.send(msgspec.json.encode({"method": "initialized"}), text=True)
        yield line


def _path(card: Card) -> Path:
    return (Path(card.home) if card.home else Path.home() / ".codex") / _SOCKET


def _said(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text}]


async def _ask(line: ClientConnection, method: str, **what: Any) -> Any:
    """The result of one call. A refusal has no result and raises KeyError."""
    await line.send(msgspec.json.encode({"id": method, "method": method, "params": what}), text=True)
    while True:
        answer = msgspec.json.decode(await line.recv())
        if answer.get("id") == method and "method" not in answer:
            return answer["result"]


def _is_ours(path: Path) -> bool:
    with suppress(OSError):
        status = path.stat()
        return stat.S_ISSOCK(status.st_mode) and status.st_uid == os.getuid()
    return False
