"""Waits that can be called off: a client of the earlier era says so in another request, and leaves the line open."""

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
    """Those of one process, by who waits and the id of its request.

    Clients that share a key may count alike. So a wait that is called off ends as if its time were over: nobody's is harmed by another's.
    """

    def __init__(self) -> None:
        self._waits: dict[tuple[object, str | int], set[asyncio.Future[None]]] = {}

    @contextmanager
    def kept(self, request: McpRequest, id: str | int) -> Iterator[None]:
        """Have a request's wait end when it is called off."""
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
        """Call off what a body says is cancelled, if it says so."""
        if _CANCELLED.encode() not in body:
            return
        try:
            notice = _decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return  # the SDK has to say what is wrong with it
        if notice.method == _CANCELLED:
            for ends in self._waits.get((request.credentials, notice.params.id), ()):
                if not ends.done():
                    ends.set_result(None)
