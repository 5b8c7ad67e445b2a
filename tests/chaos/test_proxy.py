"""The fault proxy does to a connection what its rule says, and nothing else."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.chaos.proxy import PASS, Proxy, Rule, Side, proxied
from tests.proof.patience import until

BOUND = 30.0
SILENCE = 0.2


class Echo:
    """A server that says back what it hears, and remembers it and how each connection ended."""

    def __init__(self) -> None:
        self.heard = b""
        self.ended: list[str] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(100):
                self.heard += data
                writer.write(data)
                await writer.drain()
            self.ended.append("in order")
        except ConnectionError:
            self.ended.append("reset")
        finally:
            writer.close()


@asynccontextmanager
async def echoing() -> AsyncIterator[tuple[Echo, Proxy, asyncio.StreamReader, asyncio.StreamWriter]]:
    """An echo, the proxy before it, and a connection through that."""
    echo = Echo()
    server = await asyncio.start_server(echo.serve, "127.0.0.1", 0)
    async with asyncio.timeout(BOUND), proxied(server.sockets[0].getsockname()[:2]) as proxy:
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        yield echo, proxy, reader, writer
        writer.close()
    server.close()
    await server.wait_closed()


async def nothing_comes(reader: asyncio.StreamReader) -> bool:
    try:
        async with asyncio.timeout(SILENCE):
            return not await reader.read(1)
    except TimeoutError:
        return True


async def test_what_passes_is_unchanged_and_an_end_is_passed_on() -> None:
    async with echoing() as (echo, _, reader, writer):
        writer.write(b"hello")
        assert await reader.readexactly(5) == b"hello"
        writer.write_eof()
        assert await reader.read() == b""
        assert echo.ended == ["in order"]


async def test_a_cut_towards_the_server_lets_so_many_bytes_through_and_resets_both_ends() -> None:
    async with echoing() as (echo, proxy, reader, writer):
        proxy.rule = Rule(up=3)
        writer.write(b"hello")
        with pytest.raises(ConnectionError):
            await reader.readexactly(5)
        await until(lambda: echo.ended)
        assert (echo.heard, echo.ended, proxy.cuts) == (b"hel", ["reset"], 1)


async def test_a_cut_towards_the_client_comes_after_the_server_has_heard_everything() -> None:
    async with echoing() as (echo, proxy, reader, writer):
        proxy.rule = Rule(down=0)
        writer.write(b"hello")
        with pytest.raises(ConnectionError):
            await reader.readexactly(1)
        assert echo.heard == b"hello"


async def test_a_black_hole_holds_everything_back_until_it_ends() -> None:
    async with echoing() as (echo, proxy, reader, writer):
        proxy.rule = Rule(silent=True)
        writer.write(b"hello")
        assert await nothing_comes(reader)
        assert echo.heard == b""
        proxy.rule = PASS
        assert await reader.readexactly(5) == b"hello"


@pytest.mark.parametrize("spared", list(Side))
async def test_of_a_half_open_connection_one_end_is_gone_and_the_other_hears_nothing(spared: Side) -> None:
    async with echoing() as (echo, proxy, reader, writer):
        proxy.rule = Rule(down=0, spared=spared)
        writer.write(b"hello")
        if spared is Side.CLIENT:
            await until(lambda: echo.ended)
            assert echo.ended == ["reset"]
            assert await nothing_comes(reader)
            assert not reader.at_eof()
            return
        with pytest.raises(ConnectionError):
            await reader.readexactly(1)
        await asyncio.sleep(SILENCE)
        assert echo.ended == []


async def test_a_delay_changes_nothing_but_the_time() -> None:
    async with echoing() as (_, proxy, reader, writer):
        proxy.rule = Rule(delay=0.05)
        writer.write(b"hello")
        assert await reader.readexactly(5) == b"hello"
