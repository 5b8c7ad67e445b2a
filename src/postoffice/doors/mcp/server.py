"""The MCP server: one table of tools, filtered by what each request may see."""

from collections.abc import Awaitable
from functools import cache
from typing import Any, TypeVar

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from postoffice import __version__
from postoffice.core.errors import MailError, NoSuchTool
from postoffice.core.limits import Limits
from postoffice.core.tools import instructions
from postoffice.core.tools.tool import Tool, hints, input_schema
from postoffice.doors.mcp import resources
from postoffice.doors.mcp.call import PROGRESS, answer_call, waits
from postoffice.doors.mcp.request import REQUEST, McpRequest
from postoffice.doors.mcp.tools import VERBS
from postoffice.doors.mcp.tools.result import output_schema

Context = ServerRequestContext[Any, Any]
T = TypeVar("T")
_GREETINGS = frozenset({"initialize", "server/discover"})
_PROMPT = "How to work with a mailbox by the tools that this address lists."


def create_server() -> Server[Any]:
    """Create the server. Each HTTP request brings its own office, caller and tools."""
    server: Server[Any] = Server(
        "postoffice",
        version=__version__,
        title="Postoffice",
        get_tool_input_schema=lambda _: None,  # our tools read no headers, and a look through their schemas would cost every call
        on_list_tools=_list_tools,
        on_call_tool=_call_tool,
        on_list_resources=_list_resources,
        on_list_resource_templates=_list_templates,
        on_read_resource=_read_resource,
        on_subscriptions_listen=_listen,
        on_list_prompts=_list_prompts,
        on_get_prompt=_get_prompt,
    )
    # Without the SDK's tracing, which costs a fifth of a call.
    server.middleware[:] = [_with_instructions]
    return server


@cache
def describe(tool: Tool, limits: Limits, *, known: bool, structured: bool) -> types.Tool:
    """A tool as MCP lists it. That depends on the limits, on whether the caller has to name itself, and on whether it is a program."""
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=input_schema(tool, limits, known=known),
        output_schema=output_schema(VERBS[tool.name].result) if structured else None,
        annotations=types.ToolAnnotations(**hints(tool)),
    )


async def _with_instructions(ctx: Context, call_next: CallNext) -> HandlerResult:
    """The first instructions of a model depend on the tools it is shown."""
    result = await call_next(ctx)
    if ctx.method in _GREETINGS and isinstance(result, dict):
        result["instructions"] = instructions(_request(ctx).tools)
    return result


def _request(ctx: Context) -> McpRequest:
    request: McpRequest = ctx.request.scope["state"][REQUEST]  # type: ignore[union-attr]  # every request comes over HTTP
    return request


async def _list_tools(ctx: Context, _: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    request = _request(ctx)
    limits, who = request.office.rules.limits, {"known": request.known, "structured": request.structured}
    return types.ListToolsResult(tools=[describe(tool, limits, **who) for tool in request.tools.values()])


async def _call_tool(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    async def progress(done: float, total: float) -> None:
        await ctx.session.report_progress(done, total, PROGRESS)

    wants_progress = waits(params.name) and ctx.meta and "progress_token" in ctx.meta
    request = _request(ctx)
    try:
        result = await answer_call(request, params.name, params.arguments, progress if wants_progress else None)
    except NoSuchTool as error:
        raise resources.as_mcp_error(error) from None
    if isinstance(result, str):
        return types.CallToolResult(content=[types.TextContent(type="text", text=result)], is_error=True)
    text = types.TextContent(type="text", text=result.text())
    return types.CallToolResult(content=[text], structured_content=result.structured() if request.structured else None)


async def _list_resources(ctx: Context, _: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
    return await resources.list_resources(_request(ctx))


async def _list_templates(_: Context, __: types.PaginatedRequestParams | None) -> types.ListResourceTemplatesResult:
    return resources.templates()


async def _read_resource(ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    return await _or_refuse(resources.read_resource(_request(ctx), str(params.uri)))


async def _listen(ctx: Context, params: types.SubscriptionsListenRequestParams) -> types.SubscriptionsListenResult:
    return await _or_refuse(resources.listen(_request(ctx), ctx, params))


async def _or_refuse(work: Awaitable[T]) -> T:
    try:
        return await work
    except MailError as error:
        raise resources.as_mcp_error(error) from None


async def _list_prompts(_: Context, __: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
    loop = types.Prompt(name="mailbox_loop", description=_PROMPT)
    return types.ListPromptsResult(prompts=[loop])


async def _get_prompt(ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    if params.name != "mailbox_loop":
        raise MCPError(types.INVALID_PARAMS, f"There is no prompt {params.name!r}; there is mailbox_loop.")
    text = types.TextContent(type="text", text=instructions(_request(ctx).tools))
    return types.GetPromptResult(description=_PROMPT, messages=[types.PromptMessage(role="user", content=text)])
