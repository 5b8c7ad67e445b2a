"""Callers of the MCP doors: the official client in both eras, and the bare POST of a shell script."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent

from postoffice.core.agent import Card
from tests.doors.served import Served
from tests.tls import TLS

LEGACY = "legacy"
MODERN = "2026-07-28"
ERAS = (LEGACY, MODERN)
SHARED = ("/mcp", "/mcp/")
PATIENCE = 20.0
PER_AGENT = ("/agents/x/mcp", "/agents/x/mcp/")


@asynccontextmanager
async def client(
    served: Served,
    path: str = "/mcp",
    *,
    era: str = MODERN,
    key: str | None = None,
    name: str | None = None,
    headers: dict[str, str] | None = None,
    model: bool = False,
) -> AsyncIterator[Client]:
    """The official client at this address, for a program unless told that a model reads what it gets."""
    if not model:
        path += "&structured=1" if "?" in path else "?structured=1"
    given = {"X-API-Key": key, "X-Agent": name} | (headers or {})
    brought = {header: value for header, value in given.items() if value is not None}
    patience = httpx2.Timeout(30, read=300)
    async with (
        httpx2.AsyncClient(headers=brought, timeout=patience, verify=TLS) as http,
        Client(streamable_http_client(f"{served.url}{path}", http_client=http), mode=era) as opened,
    ):
        yield opened


def as_agent(served: Served, agent: str, **options: Any) -> Any:
    """The official client at an agent's own address, with every tool there is."""
    return client(served, f"/agents/{agent}/mcp?tools=all", **options)


async def result_of(caller: Client, tool: str, **arguments: Any) -> CallToolResult:
    """Whatever a tool answers. An argument named by a word of Python's carries an underscore after it."""
    return await caller.call_tool(tool, {name.removesuffix("_"): value for name, value in arguments.items()})


async def call(caller: Client, tool: str, **arguments: Any) -> Any:
    """What a call that must succeed gives to programs."""
    result = await result_of(caller, tool, **arguments)
    assert not result.is_error, result.content
    assert text_of(result)
    return result.structured_content


async def told(caller: Client, tool: str, **arguments: Any) -> str:
    """What a call that must succeed gives to a model."""
    result = await result_of(caller, tool, **arguments)
    assert not result.is_error, result.content
    return text_of(result)


async def refusal(caller: Client, tool: str, **arguments: Any) -> str:
    """The sentence of a call that must be refused, which ends with its code."""
    result = await result_of(caller, tool, **arguments)
    assert result.is_error, result.structured_content
    assert result.structured_content is None
    return text_of(result)


def text_of(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


async def post(http: httpx.AsyncClient, path: str, tool: str, **arguments: Any) -> httpx.Response:
    """One tool, asked for plainly."""
    args = {name.removesuffix("_"): value for name, value in arguments.items()}
    return await http.post(path, json={"tool": tool, "args": args})


async def join(served: Served, name: str, *allow_from: str) -> str:
    """An agent that registers, and its key."""
    _, _, key = await served.office.register(name, Card(allow_from=allow_from))
    return key


async def standing_of(served: Served, sender: str, ref: str) -> tuple[str, int]:
    """Where a message of a keyless sender's stands, and how often it was tried."""
    (standing,) = (await served.office.status(await served.office.identify(name=sender), ref)).standings
    return str(standing.state), standing.attempts


def waiters(served: Served, agent: str) -> int:
    """How many wait for mail of this agent."""
    return len(served.office._bells._bells.get(agent, ()))


async def waiting(served: Served, agent: str, count: int = 1) -> None:
    """Return when so many wait for mail of this agent."""
    async with asyncio.timeout(PATIENCE):
        while waiters(served, agent) != count:  # noqa: ASYNC110 - the office has no event for it
            await asyncio.sleep(0.01)
