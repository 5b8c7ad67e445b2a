"""Plain HTTP to one server: HTTP/1.1 on connections that stay open, with nothing between a call and the socket.

A general client spends several times longer on a call than the office does. It is used only where this one is not enough: with TLS,
and through a proxy.
"""

import asyncio
import select
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import getproxies, proxy_bypass

import httptools

from postoffice.client import own_office
from postoffice.client.proving import PATH, judged, question
from postoffice.core.errors import NotOurOffice
from postoffice.core.hosts import is_loopback

IDLE_CONNECTIONS = 20
"""Idle connections, kept for the next calls."""
_CONNECT_SECONDS = 30.0
ANSWER_SECONDS = 45.0
"""A server that is there answers within this time, unless it was asked to wait."""
Headers = Mapping[str, str]
JSON: Headers = {"Content-Type": "application/json"}
_PATH = "/%:@!$&'()*+,;=~?-._"
_FINAL_STATUS = 200


class Answer(NamedTuple):
    """A server's answer."""

    status: int
    content: bytes
    retry_after: str


def is_plain(server: str) -> bool:
    """Whether a server is reached by plain HTTP: no TLS, and no proxy in between.

    A proxy in the environment is meant for the internet, and would see the key.
    """
    parts = urlsplit(server)
    if is_loopback(parts.hostname or ""):
        return parts.scheme == "http"
    proxies = getproxies()
    return parts.scheme == "http" and (not proxies.keys() & {"http", "all"} or bool(proxy_bypass(parts.netloc)))


class PlainHttp:
    """Calls to one server. Each call has a connection to itself and leaves it to the next one."""

    def __init__(self, server: str, headers: dict[str, str], *, proven: bool = False) -> None:
        parts = urlsplit(server)
        self._server = server
        self._proven = proven
        self._host, self._port = parts.hostname or "", parts.port or 80
        self._prefix = parts.path
        always = {"Host": parts.netloc, "User-Agent": "postoffice", **headers}
        self._head = "".join(f"{name}: {value}\r\n" for name, value in always.items())
        self._loop: asyncio.AbstractEventLoop | None = None
        self._idle: list[_Connection] = []

    async def call(
        self, method: str, path: str, content: bytes | None, query: dict[str, str], within: float = ANSWER_SECONDS, said: Headers = JSON
    ) -> Answer:
        """Make one call; `said` are the headers of its content. If it gets no answer, for whatever reason, this raises an OSError."""
        target = quote(self._prefix + path, safe=_PATH) + (f"?{urlencode(query)}" if query else "")
        head = f"{method} {target} HTTP/1.1\r\n{self._head}"
        if content is not None or said is not JSON:
            head += "".join(f"{name}: {value}\r\n" for name, value in said.items())
        if content is not None:
            head += f"Content-Length: {len(content)}\r\n"
        self._attend()
        connection = self._take() or await self._connect()
        try:
            async with asyncio.timeout(within):
                answer = await connection.ask(f"{head}\r\n".encode() + (content or b""))
        except BaseException:
            connection.cut()  # nobody will read that answer, and this tells the server
            raise
        if connection.open and len(self._idle) < IDLE_CONNECTIONS:
            self._idle.append(connection)
        else:
            connection.cut()
        return answer

    def close(self) -> None:
        """Close the connections."""
        idle, self._idle = self._idle, []
        for connection in idle:
            with suppress(RuntimeError):  # their loop is closed
                connection.cut()

    def _attend(self) -> None:
        """Begin with new connections in a new loop, as connections belong to the loop they were made in."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self.close()
            self._loop = loop

    def _take(self) -> "_Connection | None":
        while self._idle:
            connection = self._idle.pop()
            if connection.fresh():
                return connection
            connection.cut()
        return None

    async def _connect(self) -> "_Connection":
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(_CONNECT_SECONDS):
            _, connection = await loop.create_connection(_Connection, self._host, self._port)
            await self._have_proven(connection)
        return connection

    async def _have_proven(self, connection: "_Connection") -> None:
        """If this machine's own office has to prove itself, it does so on every connection before the first call."""
        data = own_office.data_folder()
        if self._proven or not own_office.is_ours(data, self._server):
            return
        nonce, body = question()
        head = f"POST {PATH} HTTP/1.1\r\nHost: {urlsplit(self._server).netloc}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        proof = None
        try:
            answer = await connection.ask(head.encode() + body)
            proof = judged(answer.status, answer.content, own_office.secret(data), self._server, nonce)
        finally:
            if proof is None:
                connection.cut()
        if proof is None:
            raise NotOurOffice(server=self._server, data=data)


class _Connection(asyncio.Protocol):
    """One connection, with one call at a time."""

    def __init__(self) -> None:
        self.open = False
        self._answer: asyncio.Future[Answer] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: asyncio.Transport = transport  # type: ignore[assignment]  # a stream's transport is one
        self.open = True

    def connection_lost(self, exc: Exception | None) -> None:
        self.open = False
        if self._answer is None or self._answer.done():
            return
        if exc is None and self._until_end:
            self._finish()
        else:
            self._answer.set_exception(exc if isinstance(exc, OSError) else ConnectionResetError("the server hung up"))

    def data_received(self, data: bytes) -> None:
        if self._answer is None or self._answer.done():
            self.cut()  # data that nobody asked for
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            if not self._answer.done():  # an error after the answer does not change it
                self._answer.set_exception(ConnectionError(f"no HTTP: {error}"))
            self.cut()

    async def ask(self, request: bytes) -> Answer:
        """Send a call and wait for its answer."""
        self._parser = httptools.HttpResponseParser(self)
        self._body: list[bytes] = []
        self._headers: dict[bytes, bytes] = {}
        self._until_end = False
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return await self._answer

    def fresh(self) -> bool:
        """Whether nothing has come since the last answer, neither data nor the end of the connection."""
        if not self.open or self._transport.is_closing():
            return False
        if not hasattr(select, "poll"):  # not on every platform; without it only what the loop has seen counts
            return True
        poll = select.poll()
        poll.register(self._transport.get_extra_info("socket").fileno(), select.POLLIN)
        return not poll.poll(0)

    def cut(self) -> None:
        """Close at once."""
        self.open = False
        self._transport.abort()

    # Called by the parser

    def on_message_begin(self) -> None:
        if self._answer is not None and self._answer.done():
            self.open = False  # more than one answer: what follows cannot be trusted

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.lower()] = value

    def on_headers_complete(self) -> None:
        self._until_end = not self._headers.keys() & {b"content-length", b"transfer-encoding"}

    def on_body(self, body: bytes) -> None:
        self._body.append(body)

    def on_message_complete(self) -> None:
        if self._parser.get_status_code() < _FINAL_STATUS:
            self._headers.clear()  # that was only an interim answer
            return
        self.open = self.open and self._parser.should_keep_alive()
        self._finish()

    def _finish(self) -> None:
        assert self._answer is not None
        retry_after = self._headers.get(b"retry-after", b"").decode("latin-1")
        if not self._answer.done():
            self._answer.set_result(Answer(self._parser.get_status_code(), b"".join(self._body), retry_after))
