"""People finish their mail: seen, kept unread, done, or put off."""

from datetime import datetime, timedelta

from fastapi import Response
from pydantic import Field

from postoffice.core.delivery import Standing
from postoffice.doors.rest.answer import answer, gives
from postoffice.doors.rest.body import MOST_SECONDS, Body, router
from postoffice.doors.rest.call import Identified
from postoffice.doors.rest.examples import STANDING, WHEN
from postoffice.doors.rest.messages import MessageId

routes = router("people")

_WAITING = STANDING | {"recipient": "owner", "state": "pending", "attempts": 0, "settled_at": None, "leased_at": None}
_SEEN = _WAITING | {"seen_at": WHEN}
_DONE = _SEEN | {"state": "acked", "settled_at": WHEN}
_SNOOZED = _WAITING | {"state": "held", "due_at": WHEN}


class SnoozeBody(Body):
    """For how long, or until when; an hour if neither is said."""

    seconds: float | None = Field(None, ge=1, le=MOST_SECONDS)
    until: datetime | None = None


@routes.post("/messages/{message_id:path}/seen", **gives(Standing, _SEEN))
async def seen(message_id: MessageId, call: Identified) -> Response:
    """Open a letter as a person: it is no longer unread, but listed until it is answered or done. Its sender hears that it was seen."""
    return answer(await call.office.seen(call.caller, message_id))


@routes.post("/messages/{message_id:path}/unseen", **gives(Standing, _WAITING))
async def keep_unread(message_id: MessageId, call: Identified) -> Response:
    """Keep it unread, as if it had not been opened."""
    return answer(await call.office.keep_unread(call.caller, message_id))


@routes.post("/messages/{message_id:path}/done", **gives(Standing, _DONE))
async def done(message_id: MessageId, call: Identified) -> Response:
    """Be done with it, answered or not: it is acked, whether or not it was opened."""
    return answer(await call.office.done(call.caller, message_id))


@routes.post("/messages/{message_id:path}/snooze", **gives(Standing, _SNOOZED))
async def snooze(message_id: MessageId, call: Identified, body: SnoozeBody | None = None) -> Response:
    """Put it off: it is held for so long, and comes back by itself, unread."""
    wish = body or SnoozeBody()
    lasts = None if wish.seconds is None else timedelta(seconds=wish.seconds)
    return answer(await call.office.snooze(call.caller, message_id, lasts, wish.until))
