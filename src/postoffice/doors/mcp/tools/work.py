"""The tools for work: an agent pauses and resumes its mail, and reserves and releases files."""

from datetime import timedelta

from postoffice.core.errors import AlreadyReserved, Invalid
from postoffice.core.fence import Fence
from postoffice.core.pause import Pause, until_words
from postoffice.core.reservation import Reservation
from postoffice.core.tools import work
from postoffice.doors.mcp.request import McpRequest
from postoffice.doors.mcp.tools.result import Result
from postoffice.doors.mcp.tools.verb import Verb


class Paused(Result, frozen=True, kw_only=True):
    """Whether its mail is paused now."""

    paused: Pause | None

    def text(self) -> str:
        return "Your mail comes again." if self.paused is None else paused_words(self.paused, Fence())


class Reserved(Result, frozen=True, kw_only=True):
    """What the caller has reserved."""

    reservation: Reservation

    def text(self) -> str:
        mode = "Yours" if self.reservation.exclusive else "Shared by you"
        return f"{mode} until {self.reservation.until:%H:%M} UTC. Release it when you are done."


class Released(Result, frozen=True, kw_only=True):
    """What the caller has given up."""

    released: tuple[Reservation, ...]

    def text(self) -> str:
        return "Released." if self.released else "You had reserved none of that."


def paused_words(pause: Pause, marks: Fence) -> str:
    """A pause as a model reads it. The reason is fenced, as it is an agent's words."""
    sentence = f"Your mail is {until_words(pause.until)}; mail_pause(resume=true) ends that."
    return f"{sentence}\n{marks.words(pause.by, pause.reason)}" if pause.reason else sentence


def refused_words(refusal: AlreadyReserved, marks: Fence) -> str:
    """A refused reservation as a model reads it. The files and the reason are fenced, as they are the holder's words."""
    held = refusal.facts["reservation"]
    assert isinstance(held, Reservation)
    words = "\n".join(filter(None, [", ".join(held.paths), held.why]))
    end = f"Refused: {held.holder} has reserved it until {held.until:%H:%M} UTC, and says of which files and why:"
    return f"{end}\n{marks.words(held.holder, words)}"


async def pause(request: McpRequest, given: work.Pause) -> Paused:
    """Pause or resume the caller's mail."""
    me = await request.caller(given.agent_id)
    if given.resume:
        await request.office.resume(me)
        return Paused(paused=None)
    lasts = None if given.minutes is None else timedelta(minutes=given.minutes)
    return Paused(paused=await request.office.pause(me, lasts, reason=given.reason))


async def reserve(request: McpRequest, given: work.Reserve) -> Reserved:
    """Reserve files for a while."""
    me = await request.caller(given.agent_id)
    project = given.project or request.project
    if project is None:
        raise Invalid(what="project", why="say which project: the path of its folder")
    lasts = timedelta(minutes=given.minutes)
    held = await request.office.reservations.reserve(
        me, project, given.paths, lasts, given.why, exclusive=not given.shared, tell=given.tell
    )
    return Reserved(reservation=held)


async def release(request: McpRequest, given: work.Release) -> Released:
    """Release files."""
    me = await request.caller(given.agent_id)
    project = given.project or (request.project if given.paths else None)
    return Released(released=await request.office.reservations.release(me, project, given.paths))


VERBS = (Verb(work.PAUSE, pause, Paused), Verb(work.RESERVE, reserve, Reserved), Verb(work.RELEASE, release, Released))
