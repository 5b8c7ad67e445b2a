"""Waits that can be called off: a client of the earlier era does that by another request, and keeps the connection open."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from postoffice.doors.mcp.request import McpRequest

_CANCELLED = "notifications/cancelled"


class _Cancelled(msgspec.Struct):
    id: str | int = msgspec.field(name="requestId")


class _Notice(msgspec.Struct):
    method: str
    params: _Cancelled


_decode = msgspec.json.Decoder(_Notice).decode


class Waits:
    """The waits of one process, by caller and request id.

    Clients that share a key may use the same ids. So a wait that is called off only ends early, as if its time were over, which harms no other client.
    """

    def __init__(self) -> None:
        self._waits: dict[tuple[object, str | int], set[asyncio.Future[None]]] = {}

    @contextmanager
    def kept(self, request: McpRequest, id: str | int) -> Iterator[None]:
        """End a request's wait when it is called off."""
        key = (request.credentials, id)
        ends = request.called_off = asyncio.get_running_loop().create_future()
        self._waits.setdefault(key, set()).add(ends)
        try:
            yield
        finally:
            self._waits[key].discard(ends)
            if not self._waits[key]:
                del self._waits[key]

    def heed(self, request: McpRequest, body: bytes) -> None:
        """Call off the wait that a body cancels, if it cancels one."""
        if _CANCELLED.encode() not in body:
            return
        try:
            notice = _decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return  # left to the SDK, which says what is wrong with it
        if notice.method == _CANCELLED:
            for ends in self._waits.get((request.credentials, notice.params.id), ()):
                if not ends.done():
                    ends.set_result(None)
