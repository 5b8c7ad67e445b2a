"""Pausing an agent: its mail is held until a time, or until it is resumed."""

from datetime import datetime, timedelta

from fastapi import Response
from pydantic import Field

from postoffice.core.pause import Pause
from postoffice.doors.listing import Listing, listing
from postoffice.doors.rest.agents import LISTING
from postoffice.doors.rest.answer import answer, gives
from postoffice.doors.rest.body import MOST_SECONDS, Body, router
from postoffice.doors.rest.call import Identified
from postoffice.doors.rest.examples import WHEN
from postoffice.doors.rest.paging import NameText

routes = router("agents")


class PauseBody(Body):
    """For how long, or until when, and why; until it is resumed if neither is said."""

    seconds: float | None = Field(None, ge=1, le=MOST_SECONDS)
    until: datetime | None = None
    reason: str | None = None


_PAUSE = {"since": WHEN, "until": WHEN, "by": "alice-agent", "reason": "my limit resets at 5"}


@routes.post("/agents/{name}/pause", **gives(Pause, _PAUSE))
async def pause(name: NameText, call: Identified, body: PauseBody | None = None) -> Response:
    """Hold the mail of an agent (`me`, or for the owner any): nothing is taken, what is in hand goes on, and senders are told until when."""
    wish = body or PauseBody()
    lasts = None if wish.seconds is None else timedelta(seconds=wish.seconds)
    return answer(await call.office.pause(call.caller, lasts, wish.until, wish.reason, of=_of(name)))


@routes.post("/agents/{name}/resume", **gives(Listing, LISTING))
async def resume(name: NameText, call: Identified) -> Response:
    """Go on at once: its mail is given out again, in order. To resume what is not paused changes nothing."""
    return answer(listing(await call.office.resume(call.caller, of=_of(name))))


def _of(name: str) -> str | None:
    return None if name == "me" else name
