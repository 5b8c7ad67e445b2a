"""Recurring letters: begin, list, stop."""

from typing import Annotated, Any

import msgspec
from fastapi import Path, Response
from pydantic import Field

from postoffice.core.recurring import Missed, Recurring, Template
from postoffice.doors.rest.answer import answer, gives
from postoffice.doors.rest.body import Body, router
from postoffice.doors.rest.call import Identified
from postoffice.doors.rest.connections import Everyone
from postoffice.doors.rest.examples import WHEN
from postoffice.doors.rest.send_body import Seconds

routes = router("recurring")

_ID = "0199d2a0-0000-7000-8000-000000000027"
_EXAMPLE = {
    "id": _ID,
    "sender": "boss",
    "every": "0 9 * * 1-5",
    "zone": "Europe/Berlin",
    "missed": "once",
    "letter": {"to": "coder", "subject": "Stand-up", "content": "Where are we?"},
    "next_at": WHEN,
    "created_at": WHEN,
    "last_at": None,
    "sent": 0,
    "trouble": None,
}
RecurringId = Annotated[str, Path(max_length=255, examples=[_ID])]


class RecurringBody(Body):
    """When, and what to whom: its body is content, parts or a payload."""

    every: str = Field(max_length=255, examples=["0 9 * * 1-5"], description="Minute, hour, day, month and weekday, as cron has them.")
    zone: str = Field("UTC", max_length=255, examples=["Europe/Berlin"], description="By whose clocks.")
    missed: Missed = Field(Missed.ONCE, description="Whether what nobody could send in time is sent once afterwards, or skipped.")
    to: str | list[str] = Field(examples=["coder"])
    subject: str | None = Field(None, max_length=255)
    content: str | None = None
    type: str = Field("message", max_length=255)
    parts: list[dict[str, Any]] | None = None
    payload: Any = None
    priority: int | None = Field(None, ge=1, le=5)
    expires_in: Seconds | None = Field(None, description="Seconds after which one that nobody took is given out no more.")

    def letter(self) -> Template:
        """What each of them says."""
        names = self.model_fields_set - {"every", "zone", "missed", "to", "parts"}
        fields = {name: getattr(self, name) for name in names}
        return Template(**fields, to=self.to if isinstance(self.to, str) else tuple(self.to), parts=tuple(self.parts or ()))


class RecurringList(msgspec.Struct, frozen=True):
    """Recurring letters."""

    recurring: tuple[Recurring, ...]


@routes.post("/recurring", **gives(Recurring, _EXAMPLE, 201))
async def begin(body: RecurringBody, call: Identified) -> Response:
    """Send a letter again and again, until it is stopped. Exactly one goes out each time, however many servers there are."""
    return answer(await call.office.recurring.begin(call.caller, body.every, body.letter(), body.zone, body.missed), 201)


@routes.get("/recurring", **gives(RecurringList, {"recurring": [_EXAMPLE]}))
async def recurring(call: Identified, everyone: Everyone = False) -> Response:
    """The caller's recurring letters, or as the owner everybody's; what comes next stands first."""
    return answer(RecurringList(await call.office.recurring.all(call.caller, everyone=everyone)))


@routes.delete("/recurring/{id}", **gives(Recurring, _EXAMPLE))
async def stop(id: RecurringId, call: Identified) -> Response:
    """Send it no more: one's own, or as the owner anybody's. What was sent stays sent."""
    return answer(await call.office.recurring.stop(call.caller, id))
