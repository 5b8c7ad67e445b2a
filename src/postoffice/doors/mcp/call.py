"""Answers a tool call. Quick calls, the SDK and the plain POST all come through here."""

import asyncio
from collections.abc import Awaitable, Callable

from postoffice.core.errors import AlreadyReserved, MailError, NoSuchTool
from postoffice.core.fence import Fence, one_line
from postoffice.core.tools.tool import read_arguments
from postoffice.doors.mcp.request import McpRequest
from postoffice.doors.mcp.tools import VERBS
from postoffice.doors.mcp.tools.result import Result
from postoffice.doors.mcp.tools.work import refused_words

Progress = Callable[[float, float], Awaitable[None]]
"""Takes how many seconds a call has waited, and of how many."""
PROGRESS = "waiting for mail"
_PROGRESS_SECONDS = 10.0
_TAKERS = frozenset({"check_mail", "mail_get", "mailbox_check", "mailbox_receive", "mailbox_wait"})
"""Tools that look into a mailbox: a name that nobody has used makes no agent there."""


def waits(name: str) -> bool:
    """Whether a call of this tool may take long."""
    return name in VERBS and VERBS[name].lasts is not None


async def call_tool(request: McpRequest, name: str, arguments: object, progress: Progress | None = None) -> Result:
    """Run one tool. A refusal is raised as a MailError that says what to do."""
    verb = VERBS[request.tool(name).name]
    request.looking = verb.tool.reads_only or verb.tool.name in _TAKERS
    given = read_arguments(verb.tool, arguments)
    if progress is None or verb.lasts is None:
        return await verb.run(request, given)
    lasts = verb.lasts(request, given).total_seconds()
    return await _with_progress(verb.run(request, given), progress, lasts)


async def answer_call(request: McpRequest, name: str, arguments: object, progress: Progress | None = None) -> Result | str:
    """The tool's result or the words of a refusal, as the protocol carries them. Each way reports an unknown tool itself."""
    try:
        result = await call_tool(request, name, arguments, progress)
    except NoSuchTool:
        raise
    except AlreadyReserved as error:
        refused, _, others = refused_words(error, Fence()).partition("\n")
        return f"{refused} [{error.code}]\n{others}"  # others' words come last, as nothing may follow the mark that ends them
    except MailError as error:
        # The refusal repeats its arguments, and among them may be an id that another agent chose.
        return f"{one_line(str(error))} [{error.code}]"
    request.answering = True
    return result


async def _with_progress(work: Awaitable[Result], progress: Progress, lasts: float) -> Result:
    """Report progress now and then, so that a waiting client does not give up."""
    task = asyncio.ensure_future(work)
    waited = 0.0
    try:
        while not (await asyncio.wait({task}, timeout=_PROGRESS_SECONDS))[0]:
            waited += _PROGRESS_SECONDS
            await progress(waited, max(lasts, waited))
        return task.result()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
