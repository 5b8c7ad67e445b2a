"""A transaction pooler as strict as they come: every transaction gets another connection, and nothing stays with any."""

import asyncio
import shutil
import struct
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

_SOCKET = ".s.PGSQL.5432"
_CONNECTIONS = 3
_PROTOCOL = 196608
_NO_ENCRYPTION = (80877103, 80877104)  # what a client may ask for before it starts
_ALLOWED = {b"user", b"database", b"client_encoding", b"application_name"}
_ANSWERED = (b"Q", b"S")  # messages after which the server says that it is ready


class Server:
    """One connection to the database, which clients use in turn."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.greeting = b""

    async def start(self, user: bytes, database: bytes) -> None:
        body = struct.pack("!i", _PROTOCOL) + b"\0".join((b"user", user, b"database", database, b"", b""))
        self.writer.write(struct.pack("!i", len(body) + 4) + body)
        await self.until_ready()

    async def discard(self) -> None:
        """Forget everything the last client may have left."""
        query = b"DISCARD ALL\0"
        self.writer.write(b"Q" + struct.pack("!i", len(query) + 4) + query)
        await self.until_ready()

    async def until_ready(self) -> None:
        self.greeting = b""
        while True:
            kind, message = await _message(self.reader)
            assert kind != b"E", message
            self.greeting += message
            if kind == b"Z":
                return


class Pooler:
    """Clients on one side, a few connections on the other."""

    def __init__(self, target: str, database: str) -> None:
        self._target = target
        self._database = database.encode()
        self._free: asyncio.Queue[Server] = asyncio.Queue()
        self._clients: dict[Client, asyncio.Task[None]] = {}
        self.greeting = b""
        self.transactions = 0

    async def open(self) -> None:
        for _ in range(_CONNECTIONS):
            server = await self._connect()
            self.greeting = server.greeting
            self._free.put_nowait(server)

    async def _connect(self) -> Server:
        server = Server(*await asyncio.open_unix_connection(self._target))
        await server.start(b"postgres", self._database)
        return server

    async def close(self) -> None:
        """Hang up on everybody; each client's task ends by that."""
        for client in self._clients:
            client.writer.close()
        await asyncio.gather(*self._clients.values(), return_exceptions=True)
        while not self._free.empty():
            await _hang_up(self._free.get_nowait().writer)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One client from its first message to its last."""
        task = asyncio.current_task()
        assert task is not None
        client = Client(reader, writer)
        self._clients[client] = task
        try:
            await self._greet(reader, writer)
            while True:
                await self._transaction(client)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client is gone
        finally:
            await client.close()
            del self._clients[client]

    async def _greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        code, body = await _first(reader)
        while code in _NO_ENCRYPTION:
            writer.write(b"N")
            code, body = await _first(reader)
        words = body.split(b"\0")
        unknown = set(words[:-2:2]) - _ALLOWED
        if code != _PROTOCOL or unknown:
            why = b"SFATAL\0C08P01\0Munsupported startup parameter: " + b", ".join(sorted(unknown)) + b"\0\0"
            writer.write(b"E" + struct.pack("!i", len(why) + 4) + why)
            raise ConnectionResetError
        writer.write(self.greeting)

    async def _transaction(self, client: "Client") -> None:
        """Give the client a connection when it says something, and take it back when nothing is open any more."""
        await asyncio.wait((client.saying(),))
        server = await self._free.get()
        hearing = asyncio.create_task(_message(server.reader))
        owed = 0
        try:
            while True:
                saying = client.saying()
                await asyncio.wait((hearing, saying), return_when=asyncio.FIRST_COMPLETED)
                if saying.done():
                    kind, message = client.said()
                    server.writer.write(message)
                    owed += kind in _ANSWERED
                if hearing.done():
                    kind, message = hearing.result()
                    client.writer.write(message)
                    owed -= kind == b"Z"
                    if kind == b"Z" and message[-1:] == b"I" and not owed:
                        break
                    hearing = asyncio.create_task(_message(server.reader))
        except BaseException:
            hearing.cancel()
            await asyncio.gather(hearing, return_exceptions=True)
            await _hang_up(server.writer)
            self._free.put_nowait(await self._connect())
            raise
        self.transactions += 1
        await server.discard()
        self._free.put_nowait(server)


class Client:
    """Somebody who talks to the pooler. What it says next is waited for across transactions, so that nothing gets lost."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writer = writer
        self._reader = reader
        self._saying: asyncio.Task[tuple[bytes, bytes]] | None = None

    def saying(self) -> "asyncio.Task[tuple[bytes, bytes]]":
        """Its next message, perhaps still on the way."""
        if self._saying is None:
            self._saying = asyncio.create_task(_message(self._reader))
        return self._saying

    def said(self) -> tuple[bytes, bytes]:
        """Its next message, which has come."""
        kind, message = self.saying().result()
        self._saying = None
        if kind == b"X":
            raise ConnectionResetError
        return kind, message

    async def close(self) -> None:
        if self._saying is not None:
            self._saying.cancel()
            await asyncio.gather(self._saying, return_exceptions=True)
        await _hang_up(self.writer)


async def _hang_up(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()


async def _first(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    (length,) = struct.unpack("!i", await reader.readexactly(4))
    body = await reader.readexactly(length - 4)
    return struct.unpack("!i", body[:4])[0], body[4:]


async def _message(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """One message: its kind, and all of it."""
    head = await reader.readexactly(5)
    (length,) = struct.unpack("!i", head[1:])
    return head[:1], head + await reader.readexactly(length - 4)


@asynccontextmanager
async def pooled(url: str) -> AsyncIterator[tuple[str, Pooler]]:
    """An address behind which a pooler stands between the client and the server."""
    parts = urlsplit(url)
    target = str(Path(parse_qs(parts.query)["host"][0]) / _SOCKET)
    pooler = Pooler(target, parts.path.lstrip("/"))
    folder = tempfile.mkdtemp(prefix="postoffice-pooler-")
    try:
        await pooler.open()
        listening = await asyncio.start_unix_server(pooler.serve, str(Path(folder) / _SOCKET))
        try:
            yield f"postgresql://postgres:@{parts.path}?host={folder}", pooler
        finally:
            listening.close()
            await pooler.close()
            await listening.wait_closed()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
