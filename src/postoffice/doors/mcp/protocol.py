"""The SDK's side of the door: all of the protocol that is not answered without it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.types import Receive, Scope, Send

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager


class Protocol:
    """Loaded by the first call that needs it: the SDK would be a third of a server's start, and 25 MB."""

    def __init__(self, body_bytes: int) -> None:
        self._body_bytes = body_bytes
        self._wanted = asyncio.Event()
        self._closing = asyncio.Event()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """While the application lives."""
        self._manager: asyncio.Future[StreamableHTTPSessionManager] = asyncio.get_running_loop().create_future()
        # A task of its own: the SDK's sessions have to be ended by whoever began them, and that is no single call.
        speaking = asyncio.create_task(self._speak())
        try:
            yield
        finally:
            self._closing.set()
            self._wanted.set()
            await speaking

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        self._wanted.set()
        manager = await asyncio.shield(self._manager)
        await manager.handle_request(scope, receive, send)

    async def _speak(self) -> None:
        await self._wanted.wait()
        if self._closing.is_set():
            return
        try:
            manager = await asyncio.to_thread(_load, self._body_bytes)
            async with manager.run():
                self._manager.set_result(manager)
                await self._closing.wait()
        except Exception as error:
            if self._manager.done():
                raise
            self._manager.set_exception(error)  # to each call that needs it, and to the log by that way


def _load(body_bytes: int) -> "StreamableHTTPSessionManager":
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager  # noqa: PLC0415 - not before it is needed

    from postoffice.doors.mcp.server import create_server  # noqa: PLC0415

    # Without sessions any replica answers any call; streamed answers notice a hang-up.
    return StreamableHTTPSessionManager(create_server(), stateless=True, json_response=False, max_request_body_size=body_bytes)
