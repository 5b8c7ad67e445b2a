"""Events: an agent's log after a cursor, and for the owner everyone's."""

from datetime import datetime, timedelta
from functools import partial
from typing import Annotated, Any

import msgspec
from fastapi import Query, Request, Response

from postoffice.core.errors import OwnerOnly
from postoffice.core.event import Kind
from postoffice.core.pause import Pause
from postoffice.core.views import MailboxCounts, Totals
from postoffice.doors.hangup import unless_hung_up
from postoffice.doors.news import frame_of
from postoffice.doors.rest.answer import answer, gives
from postoffice.doors.rest.body import MOST_SECONDS, router
from postoffice.doors.rest.call import Identified, identified
from postoffice.doors.rest.examples import MESSAGE_ID, WHEN
from postoffice.doors.rest.paging import AT_MOST_A_WAIT, Limit, Of

routes = router("events")


class Events(msgspec.Struct, frozen=True):
    """What happened, in order, as the WebSocket pushes it; `cursor` asks for what comes after."""

    events: tuple[dict[str, Any], ...]
    cursor: str


class LogEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happened to one agent."""

    agent: str
    type: Kind
    ref: str
    at: datetime
    data: dict[str, Any]


class Log(msgspec.Struct, frozen=True):
    """What happened to everyone, in order; `cursor` asks for what comes after."""

    events: tuple[LogEntry, ...]
    cursor: str


class Numbers(msgspec.Struct, frozen=True, kw_only=True):
    """One mailbox in numbers; `oldest_waiting` in seconds."""

    held: int
    pending: int
    unread: int
    leased: int
    dead: int
    counted: int
    oldest_waiting: float | None
    paused: Pause | None


_EVENT = {"type": "receipt", "cursor": "8", "at": WHEN, "message_id": MESSAGE_ID, "by": "bob-agent"}
_ENTRY = {
    "agent": "alice-agent",
    "type": "receipt",
    "ref": MESSAGE_ID,
    "at": WHEN,
    "data": {"by": "bob-agent"},
}
_TOTALS = {"agents": 3, "held": 0, "pending": 2, "leased": 1, "dead": 0, "counted": 40}
_NUMBERS = {"held": 0, "pending": 2, "unread": 2, "leased": 1, "dead": 0, "counted": 40, "oldest_waiting": 1.5, "paused": None}


@routes.get("/events", **gives(Events, {"events": [_EVENT], "cursor": "8"}))
async def events(
    request: Request,
    call: Identified,
    after: Annotated[int, Query(ge=0, lt=2**62, description="The last cursor seen.")] = 0,
    limit: Limit = None,
    of: Annotated[str | None, Query(description="A role, whose log is read instead by who is in it, its maker and the owner.")] = None,
    wait: Annotated[float, Query(ge=0, le=MOST_SECONDS, description=f"Seconds to wait for something to happen; {AT_MOST_A_WAIT}.")] = 0,
) -> Response:
    """The caller's log after a cursor, or that of a role."""
    office, me = call
    news = office.news(me, after, limit, of=of, within=timedelta(seconds=wait), again=partial(identified, request))
    news_since = await unless_hung_up(request, news)
    frames = [frame for event in news_since if (frame := await frame_of(office, me, event)) is not None]
    return answer(Events(tuple(frames), news_since[-1].cursor if news_since else str(after)))


@routes.get("/mailbox", **gives(Numbers, _NUMBERS))
async def mailbox(call: Identified, of: Of = None) -> Response:
    """The caller's mailbox in numbers."""
    counts: MailboxCounts = await call.office.counts(call.caller, of=of)
    oldest = None if counts.oldest_waiting is None else counts.oldest_waiting.total_seconds()
    fields = {name: getattr(counts, name) for name in ("held", "pending", "unread", "leased", "dead", "counted", "paused")}
    return answer(Numbers(**fields, oldest_waiting=oldest))


@routes.get("/owner/events", **gives(Log, {"events": [_ENTRY], "cursor": "120"}))
async def log(call: Identified, after: Annotated[str, Query(max_length=64)] = "0", limit: Limit = None) -> Response:
    """Everyone's log after a cursor; for the owner only."""
    page = await call.office.all_news(call.caller, after, limit)
    entries = tuple(LogEntry(agent=item.agent, type=item.kind, ref=item.ref, at=item.at, data=item.data) for item in page)
    return answer(Log(entries, page[-1].cursor if page else after))


@routes.get("/owner/totals", **gives(Totals, _TOTALS))
async def totals(call: Identified) -> Response:
    """The whole office in numbers; for the owner only."""
    if not call.caller.owner:
        raise OwnerOnly(what="see the numbers of the whole office")
    return answer(await call.office.totals())
