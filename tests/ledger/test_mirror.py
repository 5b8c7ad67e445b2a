"""A mirror that behaves as none should: the mail waits for it, and not for good."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from postoffice.bridges.ledger import mirror
from postoffice.bridges.ledger.mirror import Mirror
from postoffice.core.errors import MirrorAway


@asynccontextmanager
async def answering(answer: Callable[[asyncio.StreamWriter], Awaitable[None]]) -> AsyncIterator[Mirror]:
    """A mirror that answers every question like this."""

    under_way: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            await answer(writer)
        writer.close()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        under_way.add(asyncio.create_task(serve(reader, writer)))

    server = await asyncio.start_server(begin, "127.0.0.1", 0)
    asked = Mirror("http://{}:{}".format(*server.sockets[0].getsockname()), 200)
    try:
        yield asked
    finally:
        await asked.close()
        server.close()
        await asyncio.gather(*under_way)  # each ends with the connection that it answers


async def test_an_answer_that_never_comes_to_its_end_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror, "_ANSWER_SECONDS", 0.3)

    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        while True:
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.01)

    async with answering(drip) as asked:
        with pytest.raises(MirrorAway):
            await asyncio.wait_for(asked.messages("0.0.1", 0), 30)


@pytest.mark.parametrize("wish", ["99999999", "9" * 400])
async def test_a_mirror_that_wants_to_be_left_alone_for_years_is_asked_again(monkeypatch: pytest.MonkeyPatch, wish: str) -> None:
    monkeypatch.setattr(mirror, "_LONGEST_QUIET_SECONDS", 0.1)

    async def wishes(writer: asyncio.StreamWriter) -> None:
        writer.write(f"HTTP/1.1 429 Too Many Requests\r\nRetry-After: {wish}\r\nContent-Length: 0\r\n\r\n".encode())
        await writer.drain()

    async with answering(wishes) as asked:
        for _ in range(2):
            with pytest.raises(MirrorAway):
                await asyncio.wait_for(asked.messages("0.0.1", 0), 30)
