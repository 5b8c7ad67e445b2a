"""Work, at work: an agent holds its mail, and goes on."""

from datetime import timedelta

from postoffice.core.fence import Fence
from postoffice.core.pause import Pause, until_words
from postoffice.core.tools import work
from postoffice.doors.mcp.request import McpRequest
from postoffice.doors.mcp.tools.result import Result
from postoffice.doors.mcp.tools.verb import Verb


class Paused(Result, frozen=True, kw_only=True):
    """How its mail stands now."""

    paused: Pause | None

    def text(self) -> str:
        return "Your mail comes again." if self.paused is None else paused_words(self.paused, Fence())


def paused_words(pause: Pause, marks: Fence) -> str:
    """A pause as a model reads it. Why is somebody's words."""
    said = f"Your mail is {until_words(pause.until)}; mail_pause(resume=true) ends that."
    return f"{said}\n{marks.words(pause.by, pause.reason)}" if pause.reason else said


async def pause(request: McpRequest, given: work.Pause) -> Paused:
    """Hold its mail, or go on."""
    me = await request.caller(given.agent_id)
    if given.resume:
        await request.office.resume(me)
        return Paused(paused=None)
    lasts = None if given.minutes is None else timedelta(minutes=given.minutes)
    return Paused(paused=await request.office.pause(me, lasts, reason=given.reason))


VERBS = (Verb(work.PAUSE, pause, Paused),)
