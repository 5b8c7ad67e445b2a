"""Uvicorn's protocols with less patience: they cut clients with slow or endless headers, and clients that read no answers."""

import asyncio
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.httptools_impl import HEADER_RE, HEADER_VALUE_RE, STATUS_LINE, HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode

from postoffice.doors.extensions import ARRIVAL, CUTOFF, DEPARTURE, HANGUP, RESET, UNREAD, WHOLE_ANSWER
from postoffice.doors.reply import JSON, Headers

_HEAD_SECONDS = 20.0
_HEAD_BYTES = 64 << 10
_TAKING_SECONDS = 60.0
_LAST_BODY_SECONDS = 1.0  # for bodies still on their way when the server is told to stop
_CLOSE_SECONDS = 1.0
_UNREAD_SECONDS = 1.0  # if a connection breaks later than this, its last answer counts as read
_HEED = frozenset({b"connection", b"transfer-encoding"})  # headers that say how the body is framed
_LENGTH = b"content-length"
_LARGE_BYTES = 64 << 10  # from this size on, copying a body behind its head costs more than a second write
_WRITABLE = asyncio.Event()  # shared by all sockets until one has to wait
_WRITABLE.set()


class HttpProtocol(HttpToolsProtocol):
    """Uvicorn's HTTP with limits: headers must arrive in time and in bounds, and answers must be read."""

    _head_since: float | None = None
    """When the present request's head began to arrive; None between requests."""
    _head_timer: asyncio.TimerHandle | None = None
    _head_bytes = 0
    _taking_timer: asyncio.TimerHandle | None = None
    _broken = False
    _leaving: asyncio.Future[None] | None = None
    """What the present request wants done when its caller hangs up."""
    _unread: Callable[[], None] | None = None
    """What to do if the last answer turns out to be unread."""
    _answered_at = 0.0

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._before: list[Any] = []
        """Earlier requests of a pipeline that are not answered yet: uvicorn reports a hang-up only to the last one."""
        # Shared by all requests of a connection, as they come one after the other.
        self._extensions: dict[str, Any] = {
            RESET: lambda: self._broken,
            UNREAD: self._tell_unread,
            ARRIVAL: lambda: not self.cycle.more_body,
            HANGUP: lambda: self.cycle.disconnected,
            DEPARTURE: self._tell_leaving,
            WHOLE_ANSWER: self._write_whole,
        }

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._begin_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._broken = exc is not None
        if self._leaving is not None and not self._leaving.done():
            self._leaving.set_result(None)
        if self._broken and self._unread is not None and self.loop.time() - self._answered_at < _UNREAD_SECONDS:
            self._unread()
        self._unread = None
        self._stop_looking()
        self._stop_timing()
        for cycle in self._before:
            cycle.disconnected = True
            cycle.message_event.set()
        self.pipeline.clear()  # nobody is there to get answers
        super().connection_lost(exc)

    def shutdown(self) -> None:
        super().shutdown()
        self.loop.call_later(_LAST_BODY_SECONDS, self._cut_unsent)

    def _cut_unsent(self) -> None:
        """Cut clients that have not sent a whole request, so that they do not hold up the stop. None of it was accepted."""
        if self.cycle is not None and self.cycle.more_body and not self.cycle.response_started:
            self.transport.abort()

    def handle_websocket_upgrade(self) -> None:
        self._stop_looking()  # from here on another protocol has the connection
        super().handle_websocket_upgrade()

    def data_received(self, data: bytes) -> None:
        if self._head_since is not None:
            self._head_bytes += len(data)
        super().data_received(data)
        if self._head_since is not None and self._head_bytes > _HEAD_BYTES:
            self._head_since = None
            self.send_400_response("The headers are larger than 64 KiB.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._unread = None  # a client that sends a new request has read the last answer
        self.scope["extensions"] = self._extensions
        self._begin_head()

    def on_headers_complete(self) -> None:
        self._head_since = None
        before = self.cycle
        super().on_headers_complete()
        if self.pipeline:
            self._before = [*(cycle for cycle in self._before if not cycle.response_complete), before]

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._head_since is not None:
            super().on_header(name, value.rstrip(b" \t"))  # trailing blanks are not part of a value
            return
        # After the head only trailers can come, which we do not read. Endless ones are cut.
        self._head_bytes += len(name) + len(value)
        if self._head_bytes > _HEAD_BYTES:
            self.transport.abort()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._time_taking()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_timing()

    def _tell_leaving(self, leaving: asyncio.Future[None]) -> None:
        self._leaving = leaving
        if self.cycle.disconnected:
            leaving.set_result(None)
        self.flow.resume_reading()  # otherwise a hang-up would not be noticed

    def _tell_unread(self, call: Callable[[], None]) -> None:
        self._unread, self._answered_at = call, self.loop.time()

    def _write_whole(self, status: int, headers: Headers, more: bytes, body: bytes) -> bool:
        """Write an answer as uvicorn does, but in one piece. Anything unusual is left to uvicorn."""
        cycle = self.cycle
        # With pipelined requests, the cycle is that of the last one.
        if self.pipeline or cycle.response_started or cycle.disconnected or self.flow.write_paused:
            return False
        if cycle.scope["method"] == "HEAD" or len(body) > _LARGE_BYTES:
            return False
        written = [STATUS_LINE[status]]
        for name, value in self.server_state.default_headers:
            written += (name, b": ", value, b"\r\n")
        for name, value in headers:
            if name == _LENGTH:
                if value != b"%d" % len(body):
                    return False
            elif (name, value) != JSON and (name in _HEED or HEADER_RE.search(name) or HEADER_VALUE_RE.search(value)):
                return False
            written += (name, b": ", value, b"\r\n")
        written += (more, b"\r\n" if cycle.keep_alive else b"connection: close\r\n\r\n", body)
        self.transport.write(b"".join(written))
        cycle.response_started = cycle.response_complete = True
        cycle.message_event.set()
        if not cycle.keep_alive:
            self.transport.close()
        cycle.on_response()
        return True

    def _time_taking(self) -> None:
        """Cut a client that reads nothing of an answer for too long, however slowly it may read. It and its answers would stay in memory for ever."""
        left = self.transport.get_write_buffer_size()
        self._taking_timer = self.loop.call_later(_TAKING_SECONDS, self._look_at_taking, left)

    def _look_at_taking(self, left: int) -> None:
        if self.transport.get_write_buffer_size() < left:
            self._time_taking()
        else:
            self.transport.abort()

    def _stop_timing(self) -> None:
        if self._taking_timer is not None:
            self._taking_timer.cancel()

    def _begin_head(self) -> None:
        if self._head_since is None:
            self._head_bytes = 0
            self._head_since = self.loop.time()
        # One timer for all heads of a connection: setting and cancelling one for each would cost more than everything else here.
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(_HEAD_SECONDS, self._look_at_head)

    def _look_at_head(self) -> None:
        self._head_timer = None
        if self._head_since is None:
            return
        left = self._head_since + _HEAD_SECONDS - self.loop.time()
        if left > 0:
            self._head_timer = self.loop.call_later(left, self._look_at_head)
        else:
            self.transport.close()

    def _stop_looking(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()


class _Inlet:
    """A socket's unread messages. asyncio's queue is made for many readers, and needs four times the memory."""

    __slots__ = ("_came", "_reader")

    def __init__(self) -> None:
        self._came: list[Any] = []
        self._reader: asyncio.Future[None] | None = None

    def put_nowait(self, message: Any) -> None:
        self._came.append(message)
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)

    def empty(self) -> bool:
        return not self._came

    async def get(self) -> Any:
        while not self._came:
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
        return self._came.pop(0)


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """Uvicorn's WebSocket, which can be closed with a code even if its peer is behind: the peer finds the code when it catches up.

    Thousands of them wait, so an idle one keeps little.
    """

    _owed = b""
    """The pong owed to a peer that was behind when it sent its ping."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.queue = _Inlet()  # type: ignore[assignment]  # has all methods of a queue that are used
        self.writable = _WRITABLE

    def pause_writing(self) -> None:
        self.writable = asyncio.Event()

    def resume_writing(self) -> None:
        super().resume_writing()
        owed, self._owed = self._owed, b""
        if owed and not self.close_sent:
            self.transport.write(owed)

    def handle_ping(self) -> None:
        pong = b"".join(self.conn.data_to_send())
        if self.writable.is_set():
            self.transport.write(pong)
        else:
            # Keep only the last pong: a peer that sends pings and reads nothing would fill our memory.
            self._owed = pong or self._owed  # empty if an earlier ping of the same data was answered for both

    def start_keepalive(self) -> None:
        super().start_keepalive()
        self.response.headers.clear()  # they have been sent

    def handle_connect(self, event: Any) -> None:
        super().handle_connect(event)
        event.headers.clear()  # the scope has them
        if hasattr(self, "scope"):
            extensions: dict[str, Any] = self.scope["extensions"]
            extensions[CUTOFF] = self._cut

    def send_receive_event_to_app(self) -> None:
        if self.curr_msg_data_type == "text" and not self.close_sent and not _is_text(b"".join(self.frames)):
            # As uvicorn does, but without logging an error of the server for each bad frame that a client sends.
            self.frames = []
            self.conn.send_close(CloseCode.INVALID_DATA)
            self.handle_parser_exception()
            return
        super().send_receive_event_to_app()

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        # A close waits until everything is sent, and a peer that does not read may never take it.
        self.loop.call_later(_CLOSE_SECONDS, self.transport.abort)

    def _cut(self, code: int, reason: str) -> None:
        if self.close_sent or self.transport.is_closing():
            return
        self.stop_keepalive()
        self.conn.send_close(code, reason)
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        self.close_timer = self.loop.call_later(self.close_timeout, self.transport.abort)


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
