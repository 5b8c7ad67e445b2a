"""The addresses for MCP, and the plain POST to them."""

import asyncio
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from postoffice.core.errors import BadJson, Invalid, MailError, WrongMethod
from postoffice.core.fence import one_line
from postoffice.core.invisible import visible_json
from postoffice.core.tools import MAIL, PER_AGENT, SHARED, toolset
from postoffice.doors.credentials import Credentials, credentials
from postoffice.doors.edge import error_response
from postoffice.doors.extensions import RESET
from postoffice.doors.hangup import hung_up, unless_hung_up, when_unread
from postoffice.doors.mcp.call import call_tool
from postoffice.doors.mcp.protocol import Protocol
from postoffice.doors.mcp.quick import QuickCall, answer_quickly, is_unanswerable, not_json, quick_call, wants_json
from postoffice.doors.mcp.request import REQUEST, McpRequest
from postoffice.doors.mcp.waits import Waits
from postoffice.doors.reply import Json
from postoffice.office import PostOffice

_encode = msgspec.json.Encoder().encode
_INVALID_REQUEST, _PARSE_ERROR = -32600, -32700  # as JSON-RPC counts
_PATH = re.compile(r"(?:/agents/(?P<agent>[^/]+)/mcp|/mcp|/mail/(?P<mind>[^/]+)|/mail)/?")
_YES = frozenset({"1", "true", "yes"})


class McpDoor:
    """All MCP addresses of one application. It stands before the framework, as most agents' calls go no further."""

    def __init__(self, app: ASGIApp, office: Callable[[], PostOffice], protocol: Protocol) -> None:
        self._app = app
        self._office = office
        self._protocol = protocol
        self._waits = Waits()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a POST to one of our addresses; pass everything else on."""
        match = _PATH.fullmatch(scope["path"]) if scope["type"] == "http" else None
        if match is None:
            await self._app(scope, receive, send)
        elif scope["method"] != "POST":
            raise WrongMethod(path=scope["path"], method=scope["method"], allow="POST")
        else:
            await self._post(_Address(scope["path"], match), scope, receive, send)

    async def _post(self, address: "_Address", scope: Scope, receive: Receive, send: Send) -> None:
        """Identify the caller, then answer one tool by its name, one tool by the protocol, or the rest of the protocol."""
        http = Request(scope, receive)
        scope["state"]["route"] = address.route
        try:
            request = await self._enter(http, address)
        except MailError as error:
            if not _speaks_protocol(http):
                raise
            await _refuse_protocol(error)(scope, receive, send)
            return
        body = await http.body()
        exchange = _Exchange(request, scope, receive, send)
        try:
            if (call := quick_call(scope, body)) is not None:
                await exchange.answer(scope, await self._answer(request, call, exchange, scope))
            elif (plain := _plain_call(http, body)) is not None:
                await exchange.answer(scope, await _run_plainly(request, plain, Request(scope, exchange.receive)))
            elif is_unanswerable(body):
                nameless = Invalid(what="id", why="a call needs one (text or a whole number) to get an answer; nothing was done")
                await _refuse_protocol(nameless)(scope, receive, send)
            elif (why := not_json(body)) is not None:
                await _refuse_protocol(BadJson(why=why), _PARSE_ERROR)(scope, receive, send)
            else:
                self._waits.heed(request, body)
                await self._protocol.answer(scope, _again(body, exchange.receive), exchange.send, in_json=wants_json(scope, body))
        finally:
            if request.leased and not await exchange.arrived():
                await request.give_back()
            elif request.leased:
                when_unread(scope, request.give_back)

    async def _answer(self, request: McpRequest, call: QuickCall, exchange: "_Exchange", scope: Scope) -> bytes:
        answer = answer_quickly(request, call, exchange.keep_open)
        if not call.waits:
            return await answer
        with self._waits.kept(request, call.id):
            return await unless_hung_up(Request(scope, exchange.receive), answer)

    async def _enter(self, http: Request, address: "_Address") -> McpRequest:
        key, name = credentials(http.scope)
        listed = toolset(http.query_params.get("tools", address.tools))
        structured = http.query_params.get("structured", "").lower() in _YES
        request = McpRequest(self._office(), Credentials(key, address.agent or name), listed, structured=structured)
        request.window = http.headers.get("x-window")
        request.project = unquote(http.headers.get("x-project", "")) or None
        await request.enter()
        http.scope["state"] |= {REQUEST: request, "agent": request.name}
        return request


class _Address:
    """An address for MCP: whose it is, and which tools it lists by default."""

    def __init__(self, path: str, match: re.Match[str]) -> None:
        self.agent: str | None = match["agent"] or match["mind"]
        if path.startswith("/mail"):
            self.tools, self.route = MAIL, "/mail" if self.agent is None else "/mail/{agent}"
        else:
            self.tools, self.route = (SHARED, "/mcp") if self.agent is None else (PER_AGENT, "/agents/{agent}/mcp")


def _refuse_protocol(error: MailError, number: int = _INVALID_REQUEST) -> Response:
    """A refusal before any tool, in the form of the protocol."""
    response = error_response(error)
    what = {"code": number, "message": one_line(str(error)), "data": {"code": error.code}}
    response.body = _encode({"jsonrpc": "2.0", "id": None, "error": what})
    response.headers["Content-Length"] = str(len(response.body))
    return response


class _Call(msgspec.Struct, forbid_unknown_fields=True):
    """One tool in a plain POST."""

    tool: str
    args: Any = None


def _speaks_protocol(request: Request) -> bool:
    """Whether the caller accepts what every client of the protocol has to accept."""
    return "text/event-stream" in request.headers.get("accept", "")


def _plain_call(request: Request, body: bytes) -> _Call | None:
    """The tool that a plain POST asks for; None if the body is the protocol's."""
    shell = b'"jsonrpc"' not in body and not _speaks_protocol(
        request
    )  # so a shell's typing mistake is answered with what a plain POST looks like
    if b'"tool"' not in body and not shell:
        return None
    try:
        fields = msgspec.json.decode(body)
        if isinstance(fields, dict) and ("jsonrpc" in fields or ("tool" not in fields and not shell)):
            return None
        return msgspec.convert(fields, _Call)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadJson(why=f'{error}; send {{"tool": …, "args": {{…}}}}') from None


async def _run_plainly(request: McpRequest, call: _Call, http: Request) -> bytes:
    request.in_text = False
    answer = _encode((await unless_hung_up(http, call_tool(request, call.tool, call.args))).bare())
    # What a shell prints may be read by a model.
    return answer if answer.isascii() else visible_json(answer.decode()).encode()


async def _turns(count: int) -> None:
    """Let the loop handle events that have already arrived."""
    for _ in range(count):
        await asyncio.sleep(0)


def _again(body: bytes, receive: Receive) -> Receive:
    """Gives a body that was read already to a second reader."""
    unread = True

    async def read() -> Message:
        nonlocal unread
        if unread:
            unread = False
            return {"type": "http.request", "body": body, "more_body": False}
        return await receive()

    return read


class _Exchange:
    """Watches whether an answer left before its caller hung up."""

    def __init__(self, request: McpRequest, scope: Scope, receive: Receive, send: Send) -> None:
        self._request = request
        self._reset: Callable[[], bool] = scope.get("extensions", {}).get(RESET, lambda: False)
        self._receive = receive
        self._send = send
        self._gone = False
        self._begun = False
        self._written: asyncio.Task[bool] | None = None

    async def arrived(self) -> bool:
        """Whether the answer left before its caller was gone."""
        return self._written is not None and await self._written

    async def _went_out(self, *, gone: bool) -> bool:
        await _turns(2)  # by then a connection that broke during the write has reported it
        return not gone and not self._reset()

    async def answer(self, scope: Scope, body: bytes) -> None:
        """Send a whole answer, unless it has mail in it and the caller is gone."""
        self._request.answering = True
        if self._request.leased and hung_up(scope, self.receive):
            raise ClientDisconnect
        if self._begun:
            await self.send({"type": "http.response.body", "body": body})
        else:
            await Json(body)(scope, self.receive, self.send)

    async def keep_open(self, kind: bytes, words: bytes) -> None:
        """Send something before the answer is ready, or a proxy would take the connection for dead."""
        if not self._begun:
            self._begun = True
            headers = [(b"content-type", kind), (b"x-accel-buffering", b"no")]
            await self.send({"type": "http.response.start", "status": 200, "headers": headers})
        await self.send({"type": "http.response.body", "body": words, "more_body": True})

    async def receive(self) -> Message:
        message = await self._receive()
        self._gone |= message["type"] == "http.disconnect"
        return message

    async def send(self, message: Message) -> None:
        carries = bool(message.get("body")) and self._request.answering
        if not (carries and self._request.leased):
            await self._send(message)
            return
        await _turns(3)  # enough for a hang-up that is already here: one turn each for socket, transport and reader
        gone = self._gone
        await self._send(message)
        # A task of its own, as the SDK may end the present one once it has sent the answer.
        self._written = asyncio.create_task(self._went_out(gone=gone))
