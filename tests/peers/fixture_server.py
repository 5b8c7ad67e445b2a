"""The application as it is served, with the conformance suite's tools in place of ours: `python -m tests.peers.fixture_server PORT FOLDER`."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from postoffice.config import Settings
from postoffice.doors.mcp import server as ours
from postoffice.serve.run import serve

Context = ServerRequestContext[Any, Any]
_NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
_SCHEMAS = {
    "test_simple_text": _NOTHING,
    "test_error_handling": _NOTHING,
    "test_tool_with_progress": _NOTHING,
    "test_logging_tool": _NOTHING,
    "test_missing_capability": _NOTHING,
    "test_streaming_elicitation": _NOTHING,
    "test_x_mcp_header": {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}},
}


async def list_tools(_: Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    return types.ListToolsResult(
        tools=[types.Tool(name=name, description="For the suite.", input_schema=schema) for name, schema in _SCHEMAS.items()]
    )


async def call_tool(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    name = params.name
    if name not in _SCHEMAS:
        raise MCPError(types.INVALID_PARAMS, f"no tool {name}")
    if name == "test_tool_with_progress":
        for done in (0, 50, 100):
            await ctx.session.report_progress(done, 100)
            await asyncio.sleep(0.05)
    if name == "test_logging_tool":
        await ctx.session.send_log_message("info", "one line", related_request_id=ctx.request_id)
    if name == "test_missing_capability":
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "needs sampling", {"requiredCapabilities": {"sampling": {}}})
    text = types.TextContent(type="text", text="This is a simple text response for testing.")
    return types.CallToolResult(content=[text], is_error=name == "test_error_handling")


def fixture() -> Server[Any]:
    server: Server[Any] = Server("fixture", get_tool_input_schema=_SCHEMAS.get, on_list_tools=list_tools, on_call_tool=call_tool)
    server.middleware.clear()  # as ours
    return server


def main(port: str, folder: str) -> None:
    ours.create_server = fixture  # all around it stays: routes, edge, request, transport
    serve(Settings(data=Path(folder), port=int(port), log_level="error"))


if __name__ == "__main__":
    main(*sys.argv[1:])
