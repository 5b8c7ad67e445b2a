"""MCP over standard input and output: a mailbox elsewhere, for an agent that starts its tools as a process."""

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
"""What the SDK makes of an address where nothing is found, or a page."""
_REFUSED = range(400, 500)

_NAMING = types.Prompt(
    name="name",
    description="Give this window's mailbox a name of your choice.",
    arguments=[types.PromptArgument(name="name", description="letters, digits, '-', '_' and '.'", required=True)],
)
"""What a person says in a client that shows prompts as slash commands."""


class Mailbox(msgspec.Struct, frozen=True, kw_only=True):
    """Which mailbox, where."""

    server: str
    key: str | None = None
    agent: str | None = None
    tools: str = MAIL
    structured: bool = False
    """Whether a program reads the answers, not a model."""
    named_by: Callable[[], dict[str, str]] | None = None
    """Who tells by which headers to call, where name and window may change."""

    listed: Callable[[], None] | None = None
    """Who wants to know that the tools were given."""

    rename: Callable[[str], str] | None = None
    """Who gives the window a name that its person says, and what to say of it."""

    def headers(self) -> dict[str, str]:
        """Who calls."""
        given = {"X-API-Key": self.key, "X-Agent": self.agent}
        return {name: value for name, value in given.items() if value}


async def serve_stdio(mailbox: Mailbox) -> None:
    """Answer whoever started this process until it closes our input."""
    toolset(mailbox.tools)  # a wrong name is told before anybody waits
    by_proxy = not is_plain(mailbox.server)  # a proxy in the environment is for the world outside, and would be shown the key
    hooks: dict[str, list[Callable[..., Any]]] = {"response": [_heed]}
    if mailbox.named_by is not None:
        hooks["request"] = [partial(_name, mailbox.named_by)]
    client = httpx2.AsyncClient(headers=mailbox.headers(), timeout=_TIMEOUT, trust_env=by_proxy, event_hooks=hooks)
    async with client as http, stdio_server() as (read, write):
        server = _relay(mailbox, _Office(mailbox, http))
        await server.run(read, write, server.create_initialization_options())


class _Office:
    """The office elsewhere. It may come and go while this process stays: each call is a client's whole life."""

    def __init__(self, mailbox: Mailbox, http: httpx2.AsyncClient) -> None:
        self._server = mailbox.server
        self._url = f"{mailbox.server}/mcp?tools={mailbox.tools}" + ("&structured=1" if mailbox.structured else "")
        self._http = http

    async def ask(self, question: Callable[[Client], Awaitable[T]], *, repeatable: bool = True) -> T:
        """Its answer, or the refusal it gives. What may not be repeated may be done though no answer came, and that is told."""
        # What the office gives is passed on, however large: mail that is too large for its reader would come again and again.
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
        for failure in failed:  # raised outside, where no group wraps it
            if isinstance(failure, MailError):
                raise MCPError(types.INVALID_REQUEST, str(failure))
            if isinstance(failure, MCPError) and _is_refusal(failure):
                raise failure
        silence = NoAnswer(server=self._server) if repeatable or any(map(_is_unreached, failed)) else BrokeOff(server=self._server)
        raise MCPError(types.INTERNAL_ERROR, str(silence))

    async def call(self, tool: str, arguments: dict[str, Any] | None, progress: ProgressFnT) -> types.CallToolResult:
        """One tool's answer, and not a question more: one that failed after the tool had done its work would take the answer with it."""
        request = types.CallToolRequest(params=types.CallToolRequestParams(name=tool, arguments=arguments))
        description = TOOLS.get(tool)
        repeatable = description is not None and (description.reads_only or description.repeatable or description.comes_again)
        # Progress is told from here: where the office has to tell it, mail that is too large for an event has to be asked for again.
        telling = asyncio.create_task(_tell(progress))
        try:
            return await self.ask(lambda there: there.session.send_request(request, types.CallToolResult), repeatable=repeatable)
        finally:
            telling.cancel()


async def _tell(progress: ProgressFnT) -> None:
    """Say now and then that an answer is still waited for."""
    waited = 0.0
    while True:
        await asyncio.sleep(_PROGRESS_SECONDS)
        waited += _PROGRESS_SECONDS
        await progress(waited, None, "waiting for the office")


async def _name(named_by: Callable[[], dict[str, str]], request: httpx2.Request) -> None:
    """Call by the name that the window has now."""
    request.headers.update(await asyncio.to_thread(named_by))


async def _heed(response: httpx2.Response) -> None:
    """Raise what the office refuses before it looks at the protocol: its words would be dropped for not being of the protocol."""
    if response.status_code not in _REFUSED:  # a proxy that says that the office is away does not know either what it has done
        return
    with suppress(msgspec.DecodeError, UnicodeDecodeError):
        said = msgspec.json.decode(await response.aread(), type=_Said)
        raise told(said.code, said.detail)


class _Said(msgspec.Struct):
    """A refusal, as HTTP says it."""

    code: str
    detail: str


def _leaves(error: Exception) -> Iterator[Exception]:
    """What a group of errors, perhaps of groups, is about."""
    if isinstance(error, ExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _is_unreached(error: Exception) -> bool:
    """Whether no office can have heard of it."""
    return isinstance(error, _UNREACHED) or (isinstance(error, MCPError) and error.code in _NO_OFFICE)


def _is_refusal(error: MCPError) -> bool:
    """Whether the office said it. What a proxy says, or a connection that ends, tells nobody what to do."""
    return error.code == types.INVALID_PARAMS or (isinstance(error.data, dict) and "code" in error.data)


def _known_tools(mailbox: Mailbox) -> types.ListToolsResult:
    """The list as we know it by heart."""
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
    """The office's prompts, and one of ours where there is a window to be named."""

    async def list_prompts(_: Context, __: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        found = await office.ask(lambda there: there.list_prompts())
        return types.ListPromptsResult(prompts=[*found.prompts, *([_NAMING] if mailbox.rename else [])])

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
    """A server whose every answer is the office's; only its list of tools it knows by heart."""

    async def list_tools(_: Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        try:
            async with asyncio.timeout(_LIST_SECONDS):  # a client that begins with an office that is still opening gives up on us
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
