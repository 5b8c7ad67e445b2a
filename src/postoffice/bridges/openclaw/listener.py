"""The relay's listener: a WebSocket to the office that reports new mail, and connects again whenever it is cut off."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping
from typing import Any, Literal
from urllib.parse import urlsplit

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, WebSocketException

from postoffice.client.wire import pauses
from postoffice.core.hosts import is_loopback

log = logging.getLogger(__name__)

_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 1.0, 30.0
_PING_SECONDS = 25.0
_OPEN_SECONDS = 10.0
_BAD_CURSOR = 4022
_PING = msgspec.json.encode({"type": "ping"}).decode()


class Listener:
    """Listens for hints; the relay then looks itself."""

    def __init__(self, server: str, headers: Mapping[str, str], ring: Callable[[], None], *, ping_every: float = _PING_SECONDS) -> None:
        self._address = f"{server.replace('http', 'ws', 1)}/ws"
        self._headers = headers
        self._ring = ring
        self._ping_every = ping_every
        self._cursor: str | None = None
        self._heard = False
        # A proxy in the environment is meant for the internet.
        self._proxy: Literal[True] | None = None if is_loopback(urlsplit(server).hostname or "") else True

    async def listen(self) -> None:
        """Listen until cancelled."""
        pausing = pauses(_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS)
        while True:
            self._heard = False
            await self._hold()
            if self._heard:
                pausing = pauses(_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS)  # that connection was good, so begin with short pauses again
            await asyncio.sleep(await anext(pausing))

    async def _hold(self) -> None:
        """One connection, from its greeting to its end."""
        address = self._address if self._cursor is None else f"{self._address}?cursor={self._cursor}"
        try:
            async with connect(address, additional_headers=self._headers, proxy=self._proxy, open_timeout=_OPEN_SECONDS) as socket:
                self._ring()  # something may have come while we were not listening
                pinging = asyncio.create_task(self._ping(socket))
                try:
                    await self._hear(socket)
                finally:
                    pinging.cancel()
                    await asyncio.gather(pinging, return_exceptions=True)
        except ConnectionClosed as closed:
            code = closed.rcvd.code if closed.rcvd else None
            if code == _BAD_CURSOR:
                self._cursor = None  # another office, or an office that began again
            reason = closed.rcvd.reason if closed.rcvd else ""
            log.info("the office closed the connection (%s); connecting again soon", reason or code or "without a word")
        except (OSError, TimeoutError, WebSocketException) as error:
            log.debug("the office cannot be reached (%s); trying again", type(error).__name__)

    async def _hear(self, socket: ClientConnection) -> None:
        while True:
            async with asyncio.timeout(2 * self._ping_every):  # a socket on which not even a pong arrives is dead
                text = await socket.recv()
            self._heard = True
            frame = self._frame(text)
            if isinstance(cursor := frame.get("cursor"), str):
                self._cursor = cursor
            if frame.get("type") == "new_message":
                self._ring()

    async def _ping(self, socket: ClientConnection) -> None:
        while True:
            await socket.send(_PING)
            await asyncio.sleep(self._ping_every)

    @staticmethod
    def _frame(text: str | bytes) -> dict[str, Any]:
        with contextlib.suppress(msgspec.DecodeError):
            frame = msgspec.json.decode(text)
            if isinstance(frame, dict):
                return frame
        return {}
