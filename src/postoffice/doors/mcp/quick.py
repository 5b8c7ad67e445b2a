"""Quick calls: one tool, in either era of the protocol, answered without the SDK's machinery.

That machinery (a task group, streams and a watcher for each call) serves what sends messages back. To the earlier era it answers by events
only, and clients cannot read a large event. Our tools ignore whatever else a call says of itself;
a call with anything wrong is left to the SDK to refuse.
"""

import json
import math
from collections.abc import Awaitable, Callable
from typing import Any, Literal

import msgspec
from starlette.types import Scope

from postoffice import __version__
from postoffice.core.tools import TOOLS
from postoffice.doors.mcp.call import PROGRESS, answer_call, waits
from postoffice.doors.mcp.request import McpRequest
from postoffice.doors.mcp.tools.result import Result

KeepOpen = Callable[[bytes, bytes], Awaitable[None]]
"""Takes the kind of the answer to come, and bytes to send before it."""
_ERA = "2026-07-28"
_EARLIER = frozenset({None, b"2024-11-05", b"2025-03-26", b"2025-06-18", b"2025-11-25"})  # the earliest version sends no such header
_META = "io.modelcontextprotocol"
_HEADERS = frozenset({b"mcp-protocol-version", b"mcp-method", b"mcp-name", b"accept", b"content-type"})
_JSON, _STREAM = b"application/json", b"text/event-stream"
_EVENT_BYTES = 1_000_000  # the official client for Python reads no larger event
_BREAKS = {mark.encode(): rb"\u%04x" % ord(mark) for mark in "\x85\u2028\u2029"}
"""Line ends for some readers of events, and ordinary characters in JSON."""
_INFO = {f"{_META}/serverInfo": {"name": "postoffice", "title": "Postoffice", "version": __version__}}
_Level = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
_encode = msgspec.json.Encoder().encode


class _Maker(msgspec.Struct):
    name: str
    version: str
    title: str | None = None


class _Capabilities(msgspec.Struct):
    roots: dict[str, Any] | None = None
    sampling: dict[str, dict[str, Any] | None] | None = None
    elicitation: dict[str, dict[str, Any] | None] | None = None
    experimental: dict[str, dict[str, Any]] | None = None
    extensions: dict[str, dict[str, Any]] | None = None
    tasks: dict[str, Any] | None = None


class _Meta(msgspec.Struct, kw_only=True):
    """What we read of a call's metadata."""

    progress: str | int | None = msgspec.field(name="progressToken", default=None)


class _MetaNow(_Meta, kw_only=True):
    """The same in the newest era."""

    era: str = msgspec.field(name=f"{_META}/protocolVersion")
    capabilities: _Capabilities = msgspec.field(name=f"{_META}/clientCapabilities")
    maker: _Maker | None = msgspec.field(name=f"{_META}/clientInfo", default=None)
    log_level: _Level | None = msgspec.field(name=f"{_META}/logLevel", default=None)


class _Params(msgspec.Struct, kw_only=True):
    name: str
    meta: _Meta = msgspec.field(name="_meta", default_factory=_Meta)
    arguments: dict[str, Any] | None = None
    # For servers that return tasks or ask back. We do neither.
    task: dict[str, Any] | None = None
    responses: dict[str, Any] | None = msgspec.field(name="inputResponses", default=None)
    state: str | None = msgspec.field(name="requestState", default=None)


class _ParamsNow(_Params, kw_only=True):
    meta: _MetaNow = msgspec.field(name="_meta")


class QuickCall(msgspec.Struct):
    """A tool call in the form of the earlier era."""

    jsonrpc: str
    id: str | int
    method: str
    params: _Params

    @property
    def waits(self) -> bool:
        """Whether the call may take long."""
        return waits(self.params.name)

    def result(self, **result: Any) -> bytes:
        """The call's answer."""
        return _encode({"jsonrpc": "2.0", "id": self.id, "result": result})


class _QuickCallNow(QuickCall):
    """A tool call in the form of the newest era."""

    params: _ParamsNow

    def result(self, **result: Any) -> bytes:
        return super().result(resultType="complete", _meta=_INFO, **result)


_decode = msgspec.json.Decoder(QuickCall).decode
_decode_now = msgspec.json.Decoder(_QuickCallNow).decode


def quick_call(scope: Scope, body: bytes) -> QuickCall | None:
    """The call in a request; None if anything about it needs the SDK."""
    headers = _headers(scope)
    if headers is None or b'"tools/call"' not in body:
        return None
    try:
        call = _read(headers, body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    takes = _kinds(headers.get(b"accept", b""))
    ordinary = (
        call is not None
        and (call.jsonrpc, call.method) == ("2.0", "tools/call")
        and _kinds(headers.get(b"content-type", b"")) == {_JSON}
        and _takes(takes, _JSON)
        and call.params.name in TOOLS
    )
    if call is None or not ordinary:
        return None
    if not _takes(takes, _STREAM):
        if isinstance(call, _QuickCallNow):
            return None  # the newest era requires that both kinds are accepted
        call.params.meta.progress = None
    return call


def wants_json(scope: Scope, body: bytes) -> bool:
    """Whether the SDK answers in plain JSON: in the earlier era, always but for a call that may report progress before its answer."""
    headers = _headers(scope)
    if headers is None or headers.get(b"mcp-protocol-version") not in _EARLIER:
        return False
    return b'"tools/call"' not in body or not _takes(_kinds(headers.get(b"accept", b"")), _STREAM)


class _Nameless(msgspec.Struct):
    method: str = ""
    id: Any = None


_decode_nameless = msgspec.json.Decoder(_Nameless).decode


def is_unanswerable(body: bytes) -> bool:
    """Whether a tool call has no usable id. The SDK would take it for a notification, drop it, and answer that it was accepted."""
    if b'"tools/call"' not in body:
        return False
    try:
        call = _decode_nameless(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return call.method == "tools/call" and (isinstance(call.id, bool) or not isinstance(call.id, str | int))


def not_json(body: bytes) -> str | None:
    """Why a body is not JSON; None if it is. The SDK accepts numbers too large for a double, but cannot answer a call with such an id."""
    try:
        msgspec.json.decode(body)
    except RecursionError:
        return "it is nested too deeply"
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return None if _has_lone_surrogates(body) else str(error)
    return None


def _has_lone_surrogates(body: bytes) -> bool:
    """Whether lone surrogates are all that is wrong. The tool itself refuses them, and says what to do."""
    try:
        json.loads(body.decode(), parse_int=_finite, parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError):
        return False
    return True


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError(number)
    return value


def _read(headers: dict[bytes, bytes], body: bytes) -> QuickCall | None:
    """Read a call in the form of the era that its headers name."""
    era = headers.get(b"mcp-protocol-version")
    if era in _EARLIER:
        return _decode(body)
    if era != _ERA.encode() or headers.get(b"mcp-method") != b"tools/call":
        return None
    call = _decode_now(body)
    return call if (call.params.meta.era, call.params.name.encode()) == (_ERA, headers.get(b"mcp-name")) else None


def _kinds(header: bytes) -> set[bytes]:
    """The media types a header names."""
    return {kind.partition(b";")[0].strip().lower() for kind in header.split(b",")}


def _takes(kinds: set[bytes], kind: bytes) -> bool:
    """Whether the caller accepts an answer of this kind."""
    return bool(kinds & {kind, kind.partition(b"/")[0] + b"/*", b"*/*"})


def _headers(scope: Scope) -> dict[bytes, bytes] | None:
    """The headers that route a call; None if one comes twice."""
    headers: dict[bytes, bytes] = {}
    for name, value in scope["headers"]:
        if name.startswith(b"mcp-param-") or (name in _HEADERS and name in headers):
            return None
        if name in _HEADERS:
            headers[name] = value
    return headers


async def answer_quickly(request: McpRequest, call: QuickCall, keep_open: KeepOpen) -> bytes:
    """Answer in plain JSON, however large, or with the last event of a stream if progress was reported."""
    token = call.params.meta.progress
    streams = False

    async def still(done: float, total: float) -> None:
        nonlocal streams
        streams = token is not None
        # If nobody asked for progress, blanks before the JSON show proxies that the connection is alive.
        await (keep_open(_STREAM, _event(_progress(token, done, total))) if streams else keep_open(_JSON, b" "))

    result = await answer_call(request, call.params.name, call.params.arguments, still if call.waits else None)
    answer = _written(request, call, result)
    while streams and len(answer) > _EVENT_BYTES and isinstance(result, Result) and (less := await result.smaller(request)) is not None:
        result = less
        answer = _written(request, call, result)
    return _event(answer) if streams else answer


def _written(request: McpRequest, call: QuickCall, result: Result | str) -> bytes:
    if isinstance(result, str):
        return call.result(content=_text(result), isError=True)
    if request.structured:
        return call.result(content=_text(result.text()), structuredContent=result.structured(), isError=False)
    return call.result(content=_text(result.text()), isError=False)


def _progress(token: str | int | None, done: float, total: float) -> bytes:
    params = {"progressToken": token, "progress": done, "total": total, "message": PROGRESS}
    return _encode({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})


def _event(message: bytes) -> bytes:
    """One event of a stream."""
    for mark, escaped in _BREAKS.items():
        message = message.replace(mark, escaped)
    return b"event: message\r\ndata: " + message + b"\r\n\r\n"


def _text(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text}]
