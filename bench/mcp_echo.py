"""An echo tool on the SDK that we use, set up as ours is: what the protocol alone costs."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import mcp_types as types
import uvicorn
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

Context = ServerRequestContext[Any, Any]
_SCHEMA = {"type": "object", "properties": {"to": {"type": "string"}, "content": {"type": "string"}}, "required": ["content"]}


async def list_tools(_: Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    """List the one there is."""
    return types.ListToolsResult(tools=[types.Tool(name="echo", description="Says what it is told.", input_schema=_SCHEMA)])


async def call_tool(_: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    """Say back what was said."""
    said = (params.arguments or {})["content"]
    return types.CallToolResult(content=[types.TextContent(type="text", text=said)], structured_content={"content": said})


async def health(_: Request) -> PlainTextResponse:
    """Alive."""
    return PlainTextResponse("ok")


def create_app() -> Starlette:
    """The tool behind the same addresses."""
    server: Server[Any] = Server("echo", get_tool_input_schema={"echo": _SCHEMA}.get, on_list_tools=list_tools, on_call_tool=call_tool)
    server.middleware.clear()
    manager = StreamableHTTPSessionManager(server, stateless=True, json_response=False)

    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    tool = Route("/agents/{agent}/mcp/", StreamableHTTPASGIApp(manager), methods=["POST"])
    return Starlette(routes=[Route("/health", health), tool], lifespan=life)


if __name__ == "__main__":
    uvicorn.run(
        create_app(),
        port=int(sys.argv[1]),
        loop="uvloop",
        http="httptools",
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
    )
