"""MCP over standard input and output: the mailbox of an office elsewhere, for clients that start their tools as a process."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

import httpx2
import mcp_types as types
import msgspec
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPError

from postoffice import __version__
from postoffice.client import starter
from postoffice.client.plain_http import is_plain
from postoffice.core.errors import BrokeOff, MailError, NoAnswer, told
from postoffice.core.limits import Limits
from postoffice.core.tools import MAIL, TOOLS, instructions, toolset
from postoffice.core.tools.tool import hints, input_schema

T = TypeVar("T")
Context = ServerRequestContext[Any, Any]
_ERA = "2026-07-28"
_PROGRESS_SECONDS = 10.0
_LIST_SECONDS = 2.0
_TIMEOUT = httpx2.Timeout(30, read=300)
_UNREACHED = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError)
_NO_OFFICE = (types.METHOD_NOT_FOUND, types.INVALID_REQUEST)
"""The SDK's error code for an address that answers 404, or with a page."""
_REFUSED = range(400, 500)

_NAMING = types.Prompt(
    name="name",
    description="Give this window's mailbox a name of your choice.",
    arguments=[types.PromptArgument(name="name", description="letters, digits, '-', '_' and '.'", required=True)],
)
"""What a person types in a client that shows prompts as slash commands."""


class Mailbox(msgspec.Struct, frozen=True, kw_only=True):
    """Which mailbox, and at which office."""

    server: str
    key: str | None = None
    agent: str | None = None
    tools: str = MAIL
    structured: bool = False
    """Whether a program reads the answers, and not a model."""
    named_by: Callable[[], dict[str, str]] | None = None
    """Gives the headers for each call, where name and window may change."""

    listed: Callable[[], None] | None = None
    """Called when the client has listed the tools."""

    rename: Callable[[str], str] | None = None
    """Gives the window the name its person chose, and returns what to say of it."""

    def headers(self) -> dict[str, str]:
        """The headers that say who calls."""
        headers = {"X-API-Key": self.key, "X-Agent": self.agent}
        return {name: value for name, value in headers.items() if value}


async def serve_stdio(mailbox: Mailbox) -> None:
    """Answer the client that started this process until it closes our input."""
    toolset(mailbox.tools)  # fail on a wrong name before the client waits
    by_proxy = not is_plain(mailbox.server)  # a proxy in the environment is meant for the internet, and would see the key
    hooks: dict[str, list[Callable[..., Any]]] = {"response": [_heed]}
    if mailbox.named_by is not None:
        hooks["request"] = [partial(_name, mailbox.named_by)]
    client = httpx2.AsyncClient(headers=mailbox.headers(), timeout=_TIMEOUT, trust_env=by_proxy, event_hooks=hooks)
    async with client as http, stdio_server() as (read, write):
        server = _relay(mailbox, _Office(mailbox, http))
        await server.run(read, write, server.create_initialization_options())


class _Office:
    """The office. It may come and go while this process runs, so each call opens a client of its own."""

    def __init__(self, mailbox: Mailbox, http: httpx2.AsyncClient) -> None:
        self._server = mailbox.server
        self._url = f"{mailbox.server}/mcp?tools={mailbox.tools}" + ("&structured=1" if mailbox.structured else "")
        self._http = http

    async def ask(self, question: Callable[[Client], Awaitable[T]], *, repeatable: bool = True) -> T:
        """The office's answer, or its refusal. If a call that must not be repeated gets no answer, it may have been done, and the error says so."""
        # Answers are passed on however large they are: if we refused a large letter, it would come again and again.
        transport = streamable_http_client(self._url, http_client=self._http, max_sse_event_size=None)
        failed: list[Exception] = []
        try:
            await starter.ensure_open(self._server)
            async with Client(transport, mode=_ERA) as there:
                try:
                    return await question(there)
                except MCPError as error:
                    failed.append(error)
        except (httpx2.HTTPError, MailError, ExceptionGroup) as error:
            failed += _leaves(error)
        for failure in failed:  # raised here, outside the exception group
            if isinstance(failure, MailError):
                raise MCPError(types.INVALID_REQUEST, str(failure))
            if isinstance(failure, MCPError) and _is_refusal(failure):
                raise failure
        silence = NoAnswer(server=self._server) if repeatable or any(map(_is_unreached, failed)) else BrokeOff(server=self._server)
        raise MCPError(types.INTERNAL_ERROR, str(silence))

    async def call(self, tool: str, arguments: dict[str, Any] | None, progress: ProgressFnT) -> types.CallToolResult:
        """One tool's answer, in a single request: if a later request failed, the answer of work already done would be lost."""
        request = types.CallToolRequest(params=types.CallToolRequestParams(name=tool, arguments=arguments))
        description = TOOLS.get(tool)
        repeatable = description is not None and (description.reads_only or description.repeatable or description.comes_again)
        # We report progress ourselves. If the office did, it would answer by events, and mail too large for an event would have to be fetched again.
        telling = asyncio.create_task(_tell(progress))
        try:
            return await self.ask(lambda there: there.session.send_request(request, types.CallToolResult), repeatable=repeatable)
        finally:
            telling.cancel()


async def _tell(progress: ProgressFnT) -> None:
    """Report now and then that we still wait for the answer."""
    waited = 0.0
    while True:
        await asyncio.sleep(_PROGRESS_SECONDS)
        waited += _PROGRESS_SECONDS
        await progress(waited, None, "waiting for the office")


async def _name(named_by: Callable[[], dict[str, str]], request: httpx2.Request) -> None:
    """Call under the name that the window has now."""
    request.headers.update(await asyncio.to_thread(named_by))


async def _heed(response: httpx2.Response) -> None:
    """Raise a refusal that comes as plain HTTP: the SDK would drop its words, as they are not part of the protocol."""
    if response.status_code not in _REFUSED:  # a proxy that reports the office away cannot know what the office has done
        return
    with suppress(msgspec.DecodeError, UnicodeDecodeError):
        refusal = msgspec.json.decode(await response.aread(), type=_Said)
        raise told(refusal.code, refusal.detail)


class _Said(msgspec.Struct):
    """A refusal in an HTTP answer."""

    code: str
    detail: str


def _leaves(error: Exception) -> Iterator[Exception]:
    """The single errors in a group, which may hold groups again."""
    if isinstance(error, ExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _is_unreached(error: Exception) -> bool:
    """Whether the call cannot have reached any office."""
    return isinstance(error, _UNREACHED) or (isinstance(error, MCPError) and error.code in _NO_OFFICE)


def _is_refusal(error: MCPError) -> bool:
    """Whether the error is the office's own. A proxy's error or a closed connection does not say what to do."""
    return error.code == types.INVALID_PARAMS or (isinstance(error.data, dict) and "code" in error.data)


def _known_tools(mailbox: Mailbox) -> types.ListToolsResult:
    """The list of tools, known without asking the office."""
    identified = any((mailbox.key, mailbox.agent, mailbox.named_by))
    listed = [
        types.Tool(
            name=tool.name,
            title=tool.title,
            description=tool.description,
            input_schema=input_schema(tool, Limits(), known=identified),
            annotations=types.ToolAnnotations(**hints(tool)),
        )
        for tool in toolset(mailbox.tools).values()
    ]
    return types.ListToolsResult(tools=listed)


def _prompts(mailbox: Mailbox, office: _Office) -> dict[str, Any]:
    """The office's prompts, and our own if there is a window to name."""

    async def list_prompts(_: Context, __: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        listed = await office.ask(lambda there: there.list_prompts())
        return types.ListPromptsResult(prompts=[*listed.prompts, *([_NAMING] if mailbox.rename else [])])

    async def get_prompt(_: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if mailbox.rename is None or params.name != _NAMING.name:
            return await office.ask(lambda there: there.get_prompt(params.name, params.arguments))
        try:
            text = await asyncio.to_thread(mailbox.rename, (params.arguments or {}).get("name", ""))
        except MailError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from None
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))])

    return {"on_list_prompts": list_prompts, "on_get_prompt": get_prompt}


def _relay(mailbox: Mailbox, office: _Office) -> Server[Any]:
    """A server that asks the office for every answer but the list of tools."""

    async def list_tools(_: Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        try:
            async with asyncio.timeout(
                _LIST_SECONDS
            ):  # if the office is still starting, the client must not wait so long that it gives up on us
                tools = await office.ask(lambda there: there.list_tools())
        except (MCPError, TimeoutError):
            tools = _known_tools(mailbox)
        if mailbox.listed is not None:
            mailbox.listed()
        return tools

    async def call_tool(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        async def progress(progress: float, total: float | None = None, message: str | None = None) -> None:
            await ctx.session.report_progress(progress, total, message)

        try:
            return await office.call(params.name, params.arguments, progress)
        except MCPError as error:
            return types.CallToolResult(content=[types.TextContent(type="text", text=str(error))], is_error=True)

    return Server(
        "postoffice",
        version=__version__,
        instructions=instructions(toolset(mailbox.tools)),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=lambda _, __: office.ask(lambda there: there.list_resources()),
        on_list_resource_templates=lambda _, __: office.ask(lambda there: there.list_resource_templates()),
        on_read_resource=lambda _, params: office.ask(lambda there: there.read_resource(str(params.uri))),
        **_prompts(mailbox, office),
    )
