"""The calls that hooks, waiters, plugins and servers make to the bell. It listens on loopback, and its token is in a file only this user can read."""

import asyncio
import hmac
import logging
import os
import secrets
from contextlib import suppress
from typing import Any

import msgspec

from postoffice import __version__
from postoffice.bridges.bell import place
from postoffice.bridges.bell.bell import Bell
from postoffice.bridges.bell.window import Say, Window
from postoffice.client.lock import private, took
from postoffice.client.process import process

log = logging.getLogger(__name__)

_FIRST_WORD_SECONDS = 5.0
_MOST_BYTES = 1 << 20


async def keep_bell() -> bool:
    """Be the bell until no window needs it; False if another one is running."""
    with open(place.lock_path(), "wb", opener=private) as lock:  # noqa: ASYNC230 - opened once, and only we may open it
        if not took(lock):
            return False
        bell = Bell()
        calls = _Calls(bell, secrets.token_urlsafe(24))
        server = await asyncio.start_server(calls.serve, "127.0.0.1", 0, limit=_MOST_BYTES)
        me = process(os.getpid())
        assert me is not None
        port = server.sockets[0].getsockname()[1]
        bell.restore()
        place.keep_address(place.Address(port=port, token=calls.token, process=me, version=__version__))
        try:
            await bell.run()
        finally:
            server.close()
            await bell.leave()
    return True


class _Calls:
    """Answers everyone who calls the bell."""

    def __init__(self, bell: Bell, token: str) -> None:
        self._bell = bell
        self.token = token

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One call, from its first line to its end."""
        try:
            async with asyncio.timeout(_FIRST_WORD_SECONDS):
                words = msgspec.json.decode(await reader.readline(), type=dict[str, Any])
            if hmac.compare_digest(str(words.get("token", "")), self.token):
                await self._heed(words, reader, _sayer(writer))
        except (OSError, TimeoutError, ValueError, KeyError, TypeError, msgspec.DecodeError) as error:
            log.debug("a call broke off: %s", error)
        finally:
            writer.close()

    async def _heed(self, said: dict[str, Any], reader: asyncio.StreamReader, say: Say) -> None:
        kind = said["say"]
        if kind == "leave":
            self._bell.ended.set()
            return
        if kind == "hook" and said["event"] == "end":
            await self._bell.end(said)
            return
        window = await self._bell.window(said)
        if kind == "tools":
            window.has_tools()
            await say({"heard": True})
            return
        if kind == "name":
            await say(await self._bell.rename(window, said["name"]))
            return
        if kind == "hook":
            await say(await self._bell.heed(window, said["event"], said))
            return
        self._bell.calls += 1
        try:
            if kind == "wait":
                await self._wait(window, reader, say)
            elif kind == "plugin":
                await self._talk(window, reader, say)
            else:
                await self._tell(window, reader, say)
        finally:
            self._bell.calls -= 1

    async def _tell(self, window: Window, reader: asyncio.StreamReader, say: Say) -> None:
        """Keep a server beside its client informed of the window's name."""
        window.beside.add(say)
        if window.agent is not None:
            await say({"agent": window.agent, "window": window.id})
        try:
            await reader.read()
        finally:
            window.beside.discard(say)

    async def _wait(self, window: Window, reader: asyncio.StreamReader, say: Say) -> None:
        """Hold the line of a hook that waits to wake its client. A window has one; a second is sent away."""
        if window.waiter is not None:
            return
        window.waiter = say
        window.stirred.set()
        try:
            await reader.read()
        finally:
            window.waiter = None

    async def _talk(self, window: Window, reader: asyncio.StreamReader, say: Say) -> None:
        """Serve a plugin inside its client: it reports what happens there, and is told when to begin a turn."""
        window.plugin = say
        window.stirred.set()
        try:
            while line := await reader.readline():
                report = msgspec.json.decode(line, type=dict[str, Any])
                if report.get("session"):
                    window = await self._bell.window({**report, "say": "plugin"})
                    window.plugin = say
                answer = await self._bell.heed(window, report["event"], report)
                if "id" in report:
                    await say({"id": report["id"], **answer})
        finally:
            window.plugin = None


def _sayer(writer: asyncio.StreamWriter) -> Say:
    async def say(words: dict[str, object]) -> bool:
        with suppress(OSError, RuntimeError):
            writer.write(msgspec.json.encode(words) + b"\n")
            await writer.drain()
            return not writer.is_closing()
        return False

    return say
