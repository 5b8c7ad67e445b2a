"""WebSockets of a served office, held by a real client, and what most tests do with them."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlencode

import httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.doors.served import Served

PATIENCE = 30.0


@asynccontextmanager
async def plugged(
    url: str, *, headers: Mapping[str, str] | None = None, max_size: int | None = 1 << 20, **query: str | None
) -> AsyncIterator[ClientConnection]:
    """An open socket; what is given besides the address goes into its query."""
    asked = urlencode({name: value for name, value in query.items() if value is not None})
    address = f"{url}?{asked}" if asked else url
    async with connect(
        address, additional_headers=headers, compression=None, proxy=None, open_timeout=PATIENCE, close_timeout=1, max_size=max_size
    ) as socket:
        yield socket


async def heard(socket: ClientConnection, within: float = PATIENCE) -> dict[str, Any]:
    """The next frame."""
    async with asyncio.timeout(within):
        return dict(json.loads(await socket.recv()))


async def heard_of(socket: ClientConnection, kind: str) -> dict[str, Any]:
    """The next frame of that type, others passed over."""
    while (frame := await heard(socket))["type"] != kind:
        pass
    return frame


async def said(socket: ClientConnection, frame: Any) -> dict[str, Any]:
    """Say something and hear what comes next."""
    await socket.send(frame if isinstance(frame, str | bytes) else json.dumps(frame))
    return await heard(socket)


async def silence(socket: ClientConnection, seconds: float = 0.2) -> None:
    """Nothing comes."""
    try:
        frame = await heard(socket, seconds)
    except TimeoutError:
        return
    raise AssertionError(frame)


async def closing(socket: ClientConnection, within: float = PATIENCE) -> int | None:
    """The code that the server closes with, whatever it says before."""
    try:
        async with asyncio.timeout(within):
            while True:
                await socket.recv()
    except ConnectionClosed:
        return socket.close_code


async def open_sockets(client: httpx.AsyncClient) -> int:
    """How many sockets the server counts."""
    return await counted(client, "sockets")


async def counted(client: httpx.AsyncClient, what: str) -> int:
    """How many of them the server counts."""
    shown = await client.get("/metrics")
    found = re.search(rf"^postoffice_{what} (\S+)$", shown.text, re.MULTILINE)
    assert found is not None, shown.text
    return int(float(found[1]))


async def sockets_become(served: Served, wanted: int, within: float = PATIENCE) -> None:
    """Wait until the server counts so many sockets."""
    async with served.client(key=served.owner_key) as owner, asyncio.timeout(within):
        while await open_sockets(owner) != wanted:  # noqa: ASYNC110 - the server's number, not ours
            await asyncio.sleep(0.02)
