"""One WebSocket that only listens: just enough of the protocol for a server's texts and pings, so that ten thousand fit into a client."""

import asyncio
from collections.abc import Callable

_KEY = "cG9zdG9mZmljZSBiZW5jaA=="
_END = b"\r\n\r\n"
_TEXT, _CLOSE, _PING = 0x1, 0x8, 0x9
_PONG = 0x8A
Told = Callable[[bytes], None]


class ListeningSocket(asyncio.Protocol):
    """Greets as one agent, answers pings, and gives every text to whoever asked for it."""

    def __init__(self, agent: str, told: Told) -> None:
        self._agent = agent
        self._told = told
        self._heard = b""
        self._transport: asyncio.Transport | None = None
        self.open: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]  # a stream's is one
        head = (
            f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Agent: {self._agent}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {_KEY}\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        self._transport.write(head.encode())  # type: ignore[union-attr]

    def data_received(self, data: bytes) -> None:
        self._heard += data
        if not self.open.done():
            self._greeted()
        if self.open.done():
            opened, self._heard = frames(self._heard)
            for kind, payload in opened:
                self._frame(kind, payload)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.open.done():
            self.open.set_exception(exc or ConnectionError("the server hung up"))

    def close(self) -> None:
        """Hang up."""
        if self._transport is not None:
            self._transport.abort()

    def _greeted(self) -> None:
        head, end, rest = self._heard.partition(_END)
        if not end:
            return
        if not head.startswith(b"HTTP/1.1 101"):
            self.open.set_exception(RuntimeError(head.decode(errors="replace")))
            return
        self._heard = rest
        self.open.set_result(None)

    def _frame(self, kind: int, payload: bytes) -> None:
        assert self._transport is not None
        if kind == _TEXT:
            self._told(payload)
        elif kind == _PING:
            # A mask of zeros is a mask.
            self._transport.write(bytes([_PONG, 0x80 | len(payload), 0, 0, 0, 0]) + payload)
        elif kind == _CLOSE:
            self._transport.close()


def frames(heard: bytes) -> tuple[list[tuple[int, bytes]], bytes]:
    """The whole frames a server has sent, each as its kind and payload, and what is left over."""
    found = []
    start = 0
    while (frame := _frame_at(heard, start)) is not None:
        kind, payload, start = frame
        found.append((kind, payload))
    return found, heard[start:]


def _frame_at(heard: bytes, start: int) -> tuple[int, bytes, int] | None:
    if len(heard) < start + 2:
        return None
    size, body = heard[start + 1] & 0x7F, start + 2
    if size > 125:
        width = 2 if size == 126 else 8
        size, body = int.from_bytes(heard[body : body + width], "big"), body + width
    if len(heard) < body + size:
        return None
    return heard[start] & 0x0F, heard[body : body + size], body + size
