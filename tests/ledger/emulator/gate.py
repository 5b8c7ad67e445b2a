"""The public port before a server: shut and opened again on the same port, and cut while somebody talks."""

import asyncio
import contextlib

HOST = "127.0.0.1"
_AT_ONCE = 65536


class Gate:
    def __init__(self, behind: int) -> None:
        self._behind = behind
        self._server: asyncio.Server | None = None
        self._talks: dict[asyncio.Task[None], list[asyncio.StreamWriter]] = {}
        self._allowance: int | None = None
        self.port = 0

    @property
    def address(self) -> str:
        return f"{HOST}:{self.port}"

    async def open(self) -> None:
        if self._server is None:
            self._server = await asyncio.start_server(self._admit, HOST, self.port)
            self.port = self._server.sockets[0].getsockname()[1]

    async def shut(self) -> None:
        """Refuse new connections and cut the ones there are."""
        if self._server is not None:
            self._server.close()
            self._server = None
        self.cut()
        await asyncio.gather(*self._talks, return_exceptions=True)

    def cut(self) -> None:
        """Break every connection, as a network does."""
        self._allowance = None
        for writers in self._talks.values():
            for writer in writers:
                writer.transport.abort()

    def cut_after(self, size: int) -> None:
        """Let so many bytes more out, then break every connection."""
        self._allowance = size

    async def _admit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._talks[task] = [writer]
        try:
            inner_reader, inner_writer = await asyncio.open_connection(HOST, self._behind)
            self._talks[task].append(inner_writer)
            if writer.transport.is_closing():  # it was cut while the other side was still being reached
                inner_writer.transport.abort()
            await asyncio.gather(self._pass(reader, inner_writer, out=False), self._pass(inner_reader, writer, out=True))
        except OSError:
            writer.transport.abort()
        finally:
            for end in self._talks.pop(task):
                end.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, out: bool) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(_AT_ONCE):
                if out and self._allowance is not None:
                    data, self._allowance = data[: self._allowance], self._allowance - len(data)
                writer.write(data)
                await writer.drain()
                if out and self._allowance is not None and self._allowance <= 0:
                    await asyncio.sleep(0)
                    self.cut()
            if writer.can_write_eof():
                writer.write_eof()
