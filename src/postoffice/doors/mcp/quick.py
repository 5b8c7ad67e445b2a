"""Quick calls: one tool, in the newest era of the protocol, answered without the SDK's machinery.

That machinery (a task group, streams and a watcher for each call) is there for what talks back. Whatever is out of the
ordinary here is left to it: another era, a header too many, a wait that is to tell of its progress, a body that is not quite right.
"""

from typing import Any

import msgspec
from starlette.types import Scope

from postoffice import __version__
from postoffice.core.errors import MailError
from postoffice.core.fence import one_line
from postoffice.doors.mcp.readout import read_out
from postoffice.doors.mcp.verbs import run_tool
from postoffice.doors.mcp.visit import Visit

_ERA = "2026-07-28"
_META = "io.modelcontextprotocol"
_HEADERS = frozenset({b"mcp-protocol-version", b"mcp-method", b"mcp-name", b"accept", b"content-type"})
_JSON, _STREAM = b"application/json", b"text/event-stream"
_INFO = {f"{_META}/serverInfo": {"name": "postoffice", "title": "Postoffice", "version": __version__}}
_encode = msgspec.json.Encoder().encode


class _Maker(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    version: str
    title: str | None = None


class _Capabilities(msgspec.Struct, forbid_unknown_fields=True):
    roots: dict[str, Any] = {}
    sampling: dict[str, dict[str, Any]] = {}
    elicitation: dict[str, dict[str, Any]] = {}
    experimental: dict[str, dict[str, Any]] = {}
    extensions: dict[str, dict[str, Any]] = {}


class _Meta(msgspec.Struct):
    """What a call says of itself. It may say more, as long as that is not the protocol's own."""

    era: str = msgspec.field(name=f"{_META}/protocolVersion")
    capabilities: _Capabilities = msgspec.field(name=f"{_META}/clientCapabilities")
    maker: _Maker | None = msgspec.field(name=f"{_META}/clientInfo", default=None)
    log_level: None = msgspec.field(name=f"{_META}/logLevel", default=None)
    progress: str | int | None = msgspec.field(name="progressToken", default=None)


class _Params(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    meta: _Meta = msgspec.field(name="_meta")
    arguments: dict[str, Any] | None = None


class QuickCall(msgspec.Struct, forbid_unknown_fields=True):
    """A tool call as the newest era writes it."""

    jsonrpc: str
    id: str | int
    method: str
    params: _Params

    @property
    def waits(self) -> bool:
        """Whether it may take long."""
        return self.params.name == "mailbox_wait"


_decode = msgspec.json.Decoder(QuickCall).decode


def quick_call(scope: Scope, body: bytes, visit: Visit) -> QuickCall | None:
    """The call a request is, if nothing about it needs the SDK."""
    headers = _headers(scope)
    if headers is None or headers.get(b"mcp-protocol-version") != _ERA.encode() or headers.get(b"mcp-method") != b"tools/call":
        return None
    try:
        call = _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    params = call.params
    ordinary = (
        (call.jsonrpc, call.method, params.name.encode()) == ("2.0", "tools/call", headers.get(b"mcp-name"))
        and params.meta.era == _ERA
        and _kinds(headers.get(b"content-type", b"")) == {_JSON}
        and _kinds(headers.get(b"accept", b"")) >= {_JSON, _STREAM}
        and params.name in visit.tools
        and not (call.waits and params.meta.progress is not None)
    )
    return call if ordinary else None


def _kinds(header: bytes) -> set[bytes]:
    """The media types a header names."""
    return {kind.partition(b";")[0].strip().lower() for kind in header.split(b",")}


def _headers(scope: Scope) -> dict[bytes, bytes] | None:
    """The headers that route a call, each there once."""
    found: dict[bytes, bytes] = {}
    for name, value in scope["headers"]:
        if name.startswith(b"mcp-param-") or (name in _HEADERS and name in found):
            return None
        if name in _HEADERS:
            found[name] = value
    return found


async def answer_quickly(visit: Visit, call: QuickCall) -> bytes:
    """The answer, as the protocol writes it."""
    result: dict[str, Any] = {"resultType": "complete", "_meta": _INFO}
    try:
        gave = await run_tool(visit, call.params.name, call.params.arguments)
        result |= {"content": _text(read_out(gave)), "structuredContent": gave.structured(), "isError": False}
    except MailError as error:
        result |= {"content": _text(refusal(error)), "isError": True}
    return _encode({"jsonrpc": "2.0", "id": call.id, "result": result})


def refusal(error: MailError) -> str:
    """A refusal as a tool tells it. It repeats what it was called with, which may be an id that another agent chose."""
    return f"{one_line(str(error))} [{error.code}]"


def _text(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text}]
