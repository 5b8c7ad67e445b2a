"""What clients do at the MCP door: each errand is one operation of one or two tool calls, done over and over by everyone."""

import asyncio
import itertools
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol

import msgspec

from bench.errands import Errand, OutOfMail
from bench.plan import BODY
from bench.wire import Wire, request

_ERA = "2026-07-28"
_META = {
    "io.modelcontextprotocol/protocolVersion": _ERA,
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
_FILL = 100
_INSERT = "INSERT INTO messages VALUES (?, 'friend', ?, ?, ?, 0)"
_numbers = itertools.count(1)
_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode
Fill = Callable[[list[Wire], list[str], int], Awaitable[None]]
"""Puts so many messages into mailboxes, all together, by whatever way is quick."""


class ToolErrand(Errand, Protocol):
    """One kind of operation, of so many tool calls."""

    calls: int


class Single:
    """One call of one tool, the same each time; a mark in the answer says that there is no more mail."""

    calls = 1

    def __init__(
        self, name: str, tool: str, arguments: Callable[[str], dict[str, Any]], fill: Fill | None = None, empty: bytes = b""
    ) -> None:
        self.name = name
        self._tool = tool
        self._arguments = arguments
        self._fill = fill
        self._empty = empty

    async def prepare(self, wires: list[Wire], mail: int) -> None:
        names = new_names(len(wires))
        others = [*names[1:], *(names[:1] if len(names) > 1 else new_names(1))]
        self._requests = [tool_request(name, self._tool, self._arguments(other)) for name, other in zip(names, others, strict=True)]
        if self._fill is not None:
            await self._fill(wires, names, mail)

    async def go(self, client: int, wire: Wire) -> None:
        answer = checked(await wire.call(self._requests[client]))
        if self._empty and self._empty in answer:
            raise OutOfMail


class ReceiveAck:
    """One message received and acked, in two calls."""

    name = "receive + ack"
    calls = 2

    async def prepare(self, wires: list[Wire], mail: int) -> None:
        self._names = new_names(len(wires))
        self._receives = [tool_request(name, "mailbox_receive", {"limit": 1}) for name in self._names]
        await fill_ours(wires, self._names, mail)

    async def go(self, client: int, wire: Wire) -> None:
        messages = structured(await wire.call(self._receives[client]))["messages"]
        if not messages:
            raise OutOfMail
        checked(await wire.call(tool_request(self._names[client], "mailbox_ack", {"message_id": messages[0]["id"]})))


def echo() -> Single:
    """Say a message's text and hear it back."""
    return Single("echo", "echo", lambda to: {"to": to, "content": BODY})


def our_send() -> Single:
    """One message to the next client."""
    return Single("send", "mailbox_send", lambda to: {"to": to, "content": BODY})


def our_check() -> Single:
    """One message popped."""
    return Single("check", "check_mail", lambda _: {}, fill_ours, b'"structuredContent":{"result":null}')


def seed_send() -> Single:
    """One message to the next client, as the seed sends it."""
    return Single("send", "send_to_agent", lambda to: {"name": to, "msg": BODY})


def seed_check(path: Path) -> Single:
    """One message popped, as the seed pops it."""

    async def fill(_: list[Wire], names: list[str], mail: int) -> None:
        # By the back door: through the front one it would take longer than the measurement.
        with sqlite3.connect(path) as connection:
            rows = [(f"{name}-{number}", name, BODY, f"{number:06}") for name in names for number in range(mail // len(names))]
            connection.executemany(_INSERT, rows)
        connection.close()

    return Single("check", "check_mail", lambda _: {}, fill, b'"structuredContent":{"result":null}')


async def fill_ours(wires: list[Wire], names: list[str], mail: int) -> None:
    """By REST, which takes a hundred messages at once."""

    async def fill(wire: Wire, name: str) -> None:
        batch = request(
            "POST", "/messages/send/batch", "friend", {"messages": [{"to": name, "subject": "The build", "content": BODY}] * _FILL}
        )
        for _ in range(max(1, mail // len(names) // _FILL)):
            await wire.call(batch)

    await asyncio.gather(*(fill(wire, name) for wire, name in zip(wires, names, strict=True)))


def tool_request(agent: str, tool: str, arguments: dict[str, Any]) -> bytes:
    """A tool call as it goes over the wire."""
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments, "_meta": _META}}
    body = _encode(call)
    head = (
        f"POST /agents/{agent}/mcp/?structured=1 HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json, text/event-stream\r\n"
        f"Content-Type: application/json\r\nMCP-Protocol-Version: {_ERA}\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def checked(answer: bytes) -> bytes:
    """An answer, unless it is a refusal."""
    if b'"isError":false' not in answer:
        raise RuntimeError(answer.decode())
    return answer


def structured(answer: bytes) -> dict[str, Any]:
    """What a tool gave."""
    given: dict[str, Any] = _decode(checked(answer))["result"]["structuredContent"]
    return given


def new_names(count: int) -> list[str]:
    """Agents that nobody has met: every measurement has mailboxes of its own."""
    return [f"tool-client-{next(_numbers)}" for _ in range(count)]
