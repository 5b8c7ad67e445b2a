"""The addresses where MCP is spoken, and the plain POST beside it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import INVALID_REQUEST
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from postoffice.core.errors import BadJson, MailError
from postoffice.core.tools import PER_AGENT, SHARED, toolset
from postoffice.doors.credentials import Credentials, credentials
from postoffice.doors.edge import error_response
from postoffice.doors.hangup import unless_hung_up
from postoffice.doors.mcp.server import VISIT, create_server
from postoffice.doors.mcp.verbs import run_tool
from postoffice.doors.mcp.visit import Visit

_encode = msgspec.json.Encoder().encode
_PATHS = ("/mcp", "/mcp/", "/agents/{agent}/mcp", "/agents/{agent}/mcp/")


class McpDoor:
    """All MCP addresses of one application."""

    def __init__(self, body_bytes: int) -> None:
        # Without sessions any replica can answer any call; answers that take long are streamed, so that a client that
        # hangs up is noticed.
        self._manager = StreamableHTTPSessionManager(create_server(), stateless=True, json_response=False, max_request_body_size=body_bytes)
        self.routes = [Route(path, self, methods=["POST"]) for path in _PATHS]

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Serve while the block lasts."""
        async with self._manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One POST: who it is, then either one tool or the protocol."""
        request = Request(scope, receive)
        try:
            visit = await self._enter(request)
        except MailError as error:
            if "text/event-stream" not in request.headers.get("accept", ""):
                raise
            await _refuse_protocol(error)(scope, receive, send)
            return
        body = await request.body()
        exchange = _Exchange(visit, receive, send)
        try:
            if (call := _plain_call(body)) is not None:
                answer = await _run_plainly(visit, call, Request(scope, exchange.receive))
                await answer(scope, exchange.receive, exchange.send)
            else:
                await self._manager.handle_request(scope, _again(body, exchange.receive), exchange.send)
        finally:
            if not exchange.answered:
                await visit.give_back()

    async def _enter(self, request: Request) -> Visit:
        agent = request.path_params.get("agent")
        key, name = credentials(request.headers)
        wanted = request.query_params.get("tools", SHARED if agent is None else PER_AGENT)
        visit = Visit(request.app.state.office, Credentials(key, agent or name), toolset(wanted))
        await visit.enter()
        request.scope["state"] |= {VISIT: visit, "agent": visit.name, "route": "/mcp" if agent is None else "/agents/{agent}/mcp"}
        return visit


def _refuse_protocol(error: MailError) -> Response:
    """A refusal at the door, in the words of whoever speaks the protocol."""
    response = error_response(error)
    what = {"code": INVALID_REQUEST, "message": str(error), "data": {"code": error.code}}
    response.body = _encode({"jsonrpc": "2.0", "id": None, "error": what})
    response.headers["Content-Length"] = str(len(response.body))
    return response


class _Call(msgspec.Struct):
    """One tool, asked for plainly."""

    tool: str
    args: Any = None


_decode_call = msgspec.json.Decoder(_Call).decode


def _plain_call(body: bytes) -> _Call | None:
    """The tool a body asks for by name; None for everything else, which is the protocol's."""
    if b'"tool"' not in body or b'"jsonrpc"' in body:
        return None
    try:
        return _decode_call(body)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadJson(why=f'{error}; send {{"tool": …, "args": {{…}}}}') from None


async def _run_plainly(visit: Visit, call: _Call, request: Request) -> Response:
    result = await unless_hung_up(request, run_tool(visit, call.tool, call.args))
    return Response(_encode(result.bare()), media_type="application/json")


def _again(body: bytes, receive: Receive) -> Receive:
    """A body that was read, for one who has still to read it."""
    unread = True

    async def read() -> Message:
        nonlocal unread
        if unread:
            unread = False
            return {"type": "http.request", "body": body, "more_body": False}
        return await receive()

    return read


class _Exchange:
    """Watches whether an answer went out before its caller hung up."""

    def __init__(self, visit: Visit, receive: Receive, send: Send) -> None:
        self._visit = visit
        self._receive = receive
        self._send = send
        self._gone = False
        self.answered = False

    async def receive(self) -> Message:
        message = await self._receive()
        self._gone |= message["type"] == "http.disconnect"
        return message

    async def send(self, message: Message) -> None:
        # Once mail is taken, the next bytes that go out are the answer with it.
        carries = message.get("body") and self._visit.leased
        await self._send(message)
        self.answered |= bool(carries) and not self._gone
