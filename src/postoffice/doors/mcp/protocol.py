"""The SDK's side of the door: the part of the protocol that we do not answer ourselves."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple

from starlette.types import Receive, Scope, Send

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager


class Protocol:
    """Loaded by the first call that needs it: the SDK would take a third of a server's start, and 25 MB."""

    def __init__(self, body_bytes: int) -> None:
        self._body_bytes = body_bytes
        self._wanted = asyncio.Event()
        self._closing = asyncio.Event()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run while the application lives."""
        self._managers: asyncio.Future[_Managers] = asyncio.get_running_loop().create_future()
        # A task of its own: the task that begins the SDK's sessions has to end them, and that cannot be any single call.
        speaking = asyncio.create_task(self._speak())
        try:
            yield
        finally:
            self._closing.set()
            self._wanted.set()
            await speaking

    async def answer(self, scope: Scope, receive: Receive, send: Send, *, in_json: bool) -> None:
        """Answer one request, in plain JSON or, if there may be progress before the answer, by events."""
        self._wanted.set()
        managers = await asyncio.shield(self._managers)
        await (managers.in_json if in_json else managers.by_events).handle_request(scope, receive, send)

    async def _speak(self) -> None:
        await self._wanted.wait()
        if self._closing.is_set():
            return
        try:
            managers = await asyncio.to_thread(_load, self._body_bytes)
            async with managers.in_json.run(), managers.by_events.run():
                self._managers.set_result(managers)
                await self._closing.wait()
        except Exception as error:
            if self._managers.done():
                raise
            self._managers.set_exception(error)  # every call that needs them raises it, and so it reaches the log


class _Managers(NamedTuple):
    """The SDK's managers: one answers clients of the earlier era in JSON, one by events."""

    in_json: "StreamableHTTPSessionManager"
    by_events: "StreamableHTTPSessionManager"


def _load(body_bytes: int) -> _Managers:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager  # noqa: PLC0415 - loaded only when needed

    from postoffice.doors.mcp.server import create_server  # noqa: PLC0415

    def manager(*, in_json: bool) -> StreamableHTTPSessionManager:
        # Without sessions any replica can answer any call. Streamed answers notice a hang-up.
        return StreamableHTTPSessionManager(create_server(), stateless=True, json_response=in_json, max_request_body_size=body_bytes)

    return _Managers(in_json=manager(in_json=True), by_events=manager(in_json=False))
