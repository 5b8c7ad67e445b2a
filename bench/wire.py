"""One keep-alive connection that speaks just enough HTTP/1.1: the machine's time belongs to the servers."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec

_END = b"\r\n\r\n"
_LENGTH = b"content-length: "
_LAST = b"\r\n0\r\n\r\n"
_encode = msgspec.json.Encoder().encode


class Wire(asyncio.Protocol):
    """A connection with one call at a time."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._answer: asyncio.Future[bytes] | None = None
        self._heard = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]  # a stream's is one

    def data_received(self, data: bytes) -> None:
        heard = self._heard = self._heard + data
        head = heard.find(_END)
        if head < 0 or self._answer is None:
            return
        body = _whole(heard, head)
        if body is not None:
            self._heard = b""
            answer, self._answer = self._answer, None
            if heard[9:10] == b"2":
                answer.set_result(body)
            else:
                answer.set_exception(RuntimeError(heard.decode()))

    def connection_lost(self, exc: Exception | None) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(exc or ConnectionError("the server hung up"))

    async def call(self, request: bytes) -> bytes:
        """Send a request, and give the body of its answer."""
        assert self._transport is not None
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return await self._answer

    def close(self) -> None:
        """Hang up."""
        assert self._transport is not None
        self._transport.close()


def _whole(heard: bytes, head: int) -> bytes | None:
    """The body after a head, if all of it is there: as long as the head says, or in chunks."""
    body = head + len(_END)
    if (at := heard.find(_LENGTH, 0, head)) >= 0:
        at += len(_LENGTH)
        return heard[body:] if len(heard) - body >= int(heard[at : heard.index(b"\r", at)]) else None
    return unchunked(heard[body:]) if heard.endswith(_LAST) else None


def unchunked(heard: bytes) -> bytes:
    """What chunks carry."""
    carried, at = b"", 0
    while size := int(heard[at : (line := heard.index(b"\r\n", at))], 16):
        carried += heard[line + 2 : line + 2 + size]
        at = line + 2 + size + 2
    return carried


def request(method: str, path: str, agent: str, body: Any = None) -> bytes:
    """A request as it goes over the wire."""
    content = b"" if body is None else _encode(body)
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Agent: {agent}\r\n"
    if content:
        head += f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n"
    return head.encode() + b"\r\n" + content


@asynccontextmanager
async def wires(ports: int | Sequence[int], count: int) -> AsyncIterator[list[Wire]]:
    """So many connections to a port of this machine, or to several in turn."""
    loop = asyncio.get_running_loop()
    turns = itertools.cycle([ports] if isinstance(ports, int) else ports)
    made = [(await loop.create_connection(Wire, "127.0.0.1", port))[1] for port in itertools.islice(turns, count)]
    try:
        yield made
    finally:
        for wire in made:
            wire.close()
