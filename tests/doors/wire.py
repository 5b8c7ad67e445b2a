"""A bare TCP connection, for clients as rude, slow or dead as a test needs them."""

import asyncio
import os
import socket
import struct
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec

PATIENCE = 30.0
TEXT = 1
CLOSE = 8
PING = 9
PONG = 10
_LINGER_ZERO = struct.pack("ii", 1, 0)


class Answer(NamedTuple):
    """What came back by HTTP."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def code(self) -> str:
        return str(msgspec.json.decode(self.body)["code"])


class Frame(NamedTuple):
    """What came back on a WebSocket."""

    opcode: int
    payload: bytes

    @property
    def close_code(self) -> int:
        assert self.opcode == CLOSE
        return int.from_bytes(self.payload[:2], "big")


class Wire:
    """One connection and the words on it."""

    def __init__(self, host: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.host = host
        self._reader = reader
        self._writer = writer

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def ask(self, method: str, path: str, headers: Mapping[str, str] | None = None, body: bytes = b"") -> None:
        """A request with exactly these headers, and Host unless given."""
        lines = {"Host": self.host} | dict(headers or {})
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        await self.send(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode("latin-1") + body)

    async def answer(self) -> Answer:
        async with asyncio.timeout(PATIENCE):
            head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            first, *lines = head.rstrip().split("\r\n")
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
            body = await self._reader.readexactly(int(headers.get("content-length", "0")))
        return Answer(int(first.split()[1]), headers, body)

    async def piece(self) -> bytes:
        """What comes next, as much of it as comes at once."""
        async with asyncio.timeout(PATIENCE):
            return await self._reader.read(65536)

    async def upgrade(self, path: str, headers: Mapping[str, str] | None = None) -> Answer:
        """Ask for a WebSocket. Nothing on this side will ever answer a ping."""
        asked = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "x" * 22 + "=="}
        await self.ask("GET", path, asked | dict(headers or {}))
        return await self.answer()

    async def frame(self, within: float = PATIENCE) -> Frame:
        async with asyncio.timeout(within):
            first, second = await self._reader.readexactly(2)
            size = second & 127
            if size >= 126:
                size = int.from_bytes(await self._reader.readexactly(2 if size == 126 else 8), "big")
            return Frame(first & 15, await self._reader.readexactly(size))

    async def closed(self, within: float = PATIENCE) -> bool:
        """Whether the other side hangs up in time, whatever it says before."""
        try:
            async with asyncio.timeout(within):
                while await self._reader.read(65536):
                    pass
        except TimeoutError:
            return False
        except ConnectionError:
            return True
        return True

    async def rest(self, pause: float = 0) -> int:
        """How many bytes still come before the other side hangs up, by one who pauses between looking."""
        came = 0
        async with asyncio.timeout(PATIENCE):
            with suppress(ConnectionError):
                while some := await self._reader.read(65536):
                    came += len(some)
                    await asyncio.sleep(pause)
        return came

    def vanish(self) -> None:
        """Be gone without a goodbye."""
        gone: socket.socket = self._writer.get_extra_info("socket")
        gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_ZERO)
        self._writer.transport.abort()
        # The transport lets go of its socket in the loop's next turn, in which the server may still answer: by then it is another file.
        with Path(os.devnull).open() as nothing:
            os.dup2(nothing.fileno(), gone.fileno())


@asynccontextmanager
async def wired(url: str, *, receive_buffer: int | None = None) -> AsyncIterator[Wire]:
    """A connection to the server at this address. With a small buffer, whatever is not read soon stops the sender."""
    parts = urlsplit(url)
    raw = socket.socket(proto=socket.IPPROTO_TCP)
    limit = 1 << 20
    if receive_buffer is not None:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        limit = receive_buffer
    raw.settimeout(0)
    await asyncio.get_running_loop().sock_connect(raw, (parts.hostname, parts.port))
    reader, writer = await asyncio.open_connection(sock=raw, limit=limit)
    try:
        yield Wire(parts.netloc, reader, writer)
    finally:
        writer.transport.abort()
