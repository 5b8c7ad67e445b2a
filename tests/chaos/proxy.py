"""A TCP relay between two programs that can delay, swallow, cut and half-cut what passes."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

_CHUNK = 1 << 16


class Side(StrEnum):
    """The two ends: who called, and who was called."""

    CLIENT = "client"
    SERVER = "server"


@dataclass(frozen=True)
class Rule:
    """What befalls the bytes. Counts begin anew on every connection when the rule changes."""

    delay: float = 0.0
    """Seconds that each piece is held up."""
    silent: bool = False
    """Nothing arrives, either way, until another rule: what was held back goes on then, as TCP would send it again."""
    up: int | None = None
    """Bytes towards the server before the connection is cut."""
    down: int | None = None
    """Bytes towards the client before the connection is cut."""
    spared: Side | None = None
    """Whose end of a cut connection stays open, and hears nothing any more until another rule: half-open."""


PASS: Final = Rule()


class Proxy:
    """Listens on a port of its own. `rule` may be changed at any time and holds for every connection from then on."""

    def __init__(self, target: str | tuple[str, int]) -> None:
        self._target = target
        self._rule = PASS
        self._changed = asyncio.Event()
        self._links: set[_Link] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.cuts = 0
        """How many connections were cut so far."""
        self.port = 0

    @property
    def rule(self) -> Rule:
        return self._rule

    @rule.setter
    def rule(self, rule: Rule) -> None:
        self._rule = rule
        self._changed.set()
        self._changed = asyncio.Event()
        for link in self._links:
            link.bury()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def cut(self) -> None:
        """Cut every connection now."""
        for link in list(self._links):
            link.cut(self._rule.spared)

    async def changed(self) -> None:
        """Wait for another rule."""
        await self._changed.wait()

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if isinstance(self._target, str):
            return await asyncio.open_unix_connection(self._target)
        return await asyncio.open_connection(*self._target)

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._relay(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        await asyncio.wait({task})

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while self._rule.silent:
                await self.changed()
            far_reader, far_writer = await self.connect()
        except (OSError, asyncio.CancelledError):
            writer.transport.abort()
            return
        link = _Link(self, writer, far_writer)
        self._links.add(link)
        try:
            await asyncio.gather(link.pump(Side.CLIENT, reader, far_writer), link.pump(Side.SERVER, far_reader, writer))
        finally:
            self._links.discard(link)
            link.end()

    async def end(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


class _Link:
    """One connection through the proxy."""

    def __init__(self, proxy: Proxy, client: asyncio.StreamWriter, server: asyncio.StreamWriter) -> None:
        self._proxy = proxy
        self._ends = {Side.CLIENT: client, Side.SERVER: server}
        self._rule = PASS
        self._passed = dict.fromkeys(Side, 0)
        self._is_cut = False

    async def pump(self, source: Side, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(_CHUNK):
                await self._pass(source, data, writer)
            if not self._is_cut:
                writer.write_eof()

    async def _pass(self, source: Side, data: bytes, writer: asyncio.StreamWriter) -> None:
        while self._proxy.rule.silent and not self._is_cut:
            await self._proxy.changed()
        rule = self._proxy.rule
        if rule is not self._rule:
            self._rule, self._passed = rule, dict.fromkeys(Side, 0)
        if rule.delay:
            await asyncio.sleep(rule.delay)
        most = rule.up if source is Side.CLIENT else rule.down
        left = None if most is None else max(most - self._passed[source], 0)
        self._passed[source] += len(data)
        if self._is_cut:
            return
        writer.write(data[:left])
        await writer.drain()
        if left is not None and len(data) > left:
            self.cut(rule.spared)

    def cut(self, spared: Side | None) -> None:
        """Reset the connection, on both ends or on all but the spared one."""
        if self._is_cut:
            return
        self._is_cut = True
        self._proxy.cuts += 1
        for side, writer in self._ends.items():
            if side is not spared:
                _reset(writer)

    def bury(self) -> None:
        """What was spared learns of the cut."""
        if self._is_cut:
            for writer in self._ends.values():
                _reset(writer)

    def end(self) -> None:
        for writer in self._ends.values():
            writer.transport.abort()


@asynccontextmanager
async def proxied(target: str | tuple[str, int]) -> AsyncIterator[Proxy]:
    """A proxy before a port or a socket file."""
    proxy = Proxy(target)
    server = await asyncio.start_server(proxy.accept, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        await proxy.end()
        await server.wait_closed()


def _reset(writer: asyncio.StreamWriter) -> None:
    """End a connection as a network does: at once, and not in order."""
    if writer.transport.is_closing():
        return
    found = writer.transport.get_extra_info("socket")
    if found.family != socket.AF_UNIX:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
