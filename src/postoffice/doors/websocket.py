"""The WebSocket door: news as it happens, resumable by cursor. A frame is news, never consumption."""

import asyncio
import random
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import msgspec
from starlette.datastructures import QueryParams
from starlette.websockets import WebSocket, WebSocketDisconnect

from postoffice.core.agent import Caller
from postoffice.core.errors import AuthTimeout, BadCursor, BadJson, Closed, MailError, Repeated, SlowReader, Unidentified
from postoffice.doors.credentials import Credentials, credentials
from postoffice.doors.edge import QUERY
from postoffice.doors.extensions import CUTOFF
from postoffice.doors.faults import fault
from postoffice.doors.metrics import Metrics
from postoffice.doors.news import frame_of
from postoffice.office import PostOffice

SOCKET = "/ws"
"""Where sockets are opened."""
_AUTH_SECONDS = 10.0
_SEND_SECONDS = 10.0
_SIGN_OF_LIFE_EVERY = timedelta(seconds=45)  # less than the minute after which a silent agent counts as away
_BATCH_EVENTS = 100
_REASON_BYTES = 123
_CURSOR_DIGITS = 18
_FIELDS = ("api_key", "agent", "cursor")
_encode = msgspec.json.Encoder().encode


async def websocket_door(socket: WebSocket) -> None:
    """Serve one socket, from its greeting to its end."""
    state = socket.app.state
    metrics: Metrics = state.metrics
    metrics.sockets.inc()
    try:
        await _Line(socket, state.office, metrics).serve()
    except WebSocketDisconnect:
        pass
    except MailError as error:
        await _close(socket, error)
    finally:
        metrics.sockets.dec()


class _Line:
    """One agent's news on one socket."""

    def __init__(self, socket: WebSocket, office: PostOffice, metrics: Metrics) -> None:
        self._socket = socket
        self._office = office
        self._metrics = metrics
        self._credentials = Credentials(None, None)

    async def serve(self) -> None:
        """Greet the client, then push and listen until either side ends."""
        caller, after = await self._greet()
        try:
            with self._office.places.taken(caller.name):
                async with asyncio.TaskGroup() as both:
                    both.create_task(self._push(caller, after))
                    await self._listen()
        except BaseExceptionGroup as ends:
            raise ends.exceptions[0] from None

    async def _greet(self) -> tuple[Caller, int]:
        query = QueryParams(self._socket.scope["state"].pop(QUERY, b""))
        key, name = credentials(self._socket.scope)
        self._socket.scope["headers"] = []  # an idle socket should hold as little memory as possible
        self._credentials = Credentials(query.get("api_key", key), query.get("agent", name))
        twice = next((field for field in _FIELDS if len(query.getlist(field)) > 1), None)
        if self._credentials != (None, None):
            try:
                if twice is not None:
                    raise Repeated(what=f"In the address {twice}")
                # Read the cursor before the client learns that it is connected: all mail sent after that moment is news.
                start = await self._start(query.get("cursor"))
            except MailError:
                await self._socket.accept()
                raise
            await self._socket.accept()
            return start
        await self._socket.accept()
        frame = await self._first_frame()
        self._credentials = Credentials(_text(frame, "api_key"), _text(frame, "agent"))
        caller, after = await self._start(_text(frame, "cursor"))
        await self._send({"type": "auth_ok", "agent": caller.name, "cursor": str(after)})
        return caller, after

    async def _first_frame(self) -> dict[str, Any]:
        try:
            async with asyncio.timeout(_AUTH_SECONDS):
                frame = await self._frame()
        except TimeoutError:
            raise AuthTimeout from None
        if frame.get("type") != "auth":
            raise Unidentified
        return frame

    async def _start(self, cursor: str | None) -> tuple[Caller, int]:
        """The caller, and the cursor after which it wants news: where it stopped last time, or now."""
        caller = await self._identify()
        latest = await self._office.latest(caller)
        if cursor is None:
            return caller, latest
        if not cursor.isdecimal() or not cursor.isascii() or len(cursor) > _CURSOR_DIGITS or int(cursor) > latest:
            raise BadCursor(cursor=cursor)
        return caller, int(cursor)

    async def _identify(self) -> Caller:
        key, name = self._credentials
        return await self._office.identify(key=key, name=name, looking=True)  # a client that only listens makes no agent

    async def _push(self, caller: Caller, after: int) -> None:
        follow = self._office.follow
        while not self._office.draining:
            # Spread over time: thousands of sockets may open at the same moment.
            events = await follow(caller, after, _BATCH_EVENTS, within=_SIGN_OF_LIFE_EVERY * random.uniform(0.6, 1.0))  # noqa: S311
            # Check the caller before sending anything: its key may have ended, or a bare name may have a key now. This also counts as a sign of life.
            caller = await self._identify()
            for event in events:
                if (frame := await frame_of(self._office, caller, event)) is not None:
                    await self._send(frame)
                    self._metrics.pushed.inc()
                    caller = await self._identify()  # and again after a slow reader
                after = event.number
        raise Closed

    async def _listen(self) -> None:
        while True:
            await asyncio.sleep(0)  # thousands of frames may have come at once, so let others run in between
            try:
                frame = await self._frame()
            except BadJson as error:
                await self._send({"type": "error", "code": error.code, "detail": str(error)})
                continue
            if frame.get("type") == "ping":
                await self._send({"type": "pong"})
            else:
                await self._send({"type": "error", "code": "invalid", "detail": "Only ping is understood here; send mail by POST."})

    async def _frame(self) -> dict[str, Any]:
        message = await self._socket.receive()
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(message.get("code", 1005))
        try:
            frame = msgspec.json.decode(message.get("text") or message.get("bytes") or b"")
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            raise BadJson(why="a frame is one JSON object") from None
        if not isinstance(frame, dict):
            raise BadJson(why="a frame is one JSON object")
        return frame

    async def _send(self, frame: dict[str, Any]) -> None:
        try:
            async with asyncio.timeout(_SEND_SECONDS):
                await self._socket.send({"type": "websocket.send", "text": _encode(frame).decode()})
        except TimeoutError:
            raise SlowReader(seconds=int(_SEND_SECONDS)) from None


def _text(frame: dict[str, Any], field: str) -> str | None:
    value = frame.get(field)
    return value if isinstance(value, str) else None if value is None else str(value)


async def _close(socket: WebSocket, error: MailError) -> None:
    code, reason = fault(error).close_code, str(error).encode()[:_REASON_BYTES].decode(errors="ignore")
    cut: Callable[[int, str], None] | None = socket.scope.get("extensions", {}).get(CUTOFF)
    if isinstance(error, SlowReader) and cut is not None:
        cut(code, reason)
        return
    try:
        async with asyncio.timeout(_SEND_SECONDS):
            await socket.close(code, reason)
    except (TimeoutError, RuntimeError, WebSocketDisconnect):
        return  # the peer does not read, or it is closed already; the server drops the connection
