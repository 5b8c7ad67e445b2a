"""Reservations: which files agents have to themselves for a while, or share."""

from datetime import timedelta
from typing import Annotated

import msgspec
from fastapi import Path, Query, Response
from pydantic import Field

from postoffice.core.agent import Caller
from postoffice.core.globs import PATH_CHARACTERS, PROJECT_CHARACTERS
from postoffice.core.reservation import MOST_PATHS, Reservation
from postoffice.doors.rest.answer import answer, gives
from postoffice.doors.rest.body import MOST_ITEMS, MOST_SECONDS, Body, router
from postoffice.doors.rest.call import Call, Identified
from postoffice.doors.rest.examples import WHEN

routes = router("reservations")

_ID = "0199d2a0-0000-7000-8000-000000000025"
_PROJECT = Field(
    min_length=1, max_length=PROJECT_CHARACTERS, examples=["/home/ann/shop"], description="Its folder's path, or a name for it."
)
_WINDOW = Field(None, max_length=36, description="The caller's window; the only one it has open, if it does not say.")
_EXAMPLE = {
    "id": _ID,
    "holder": "coder",
    "project": "/home/ann/shop",
    "paths": ["src/pay/**"],
    "exclusive": True,
    "why": "moving to the new API",
    "window": None,
    "since": WHEN,
    "until": WHEN,
}
ReservationId = Annotated[str, Path(max_length=36, examples=[_ID])]
PathText = Annotated[str, Field(max_length=PATH_CHARACTERS)]


class ReserveBody(Body):
    """Which files, for how long, and why."""

    project: str = _PROJECT
    paths: list[PathText] = Field(min_length=1, max_length=MOST_PATHS, examples=[["src/pay/**"]])
    seconds: float | None = Field(None, ge=0, le=MOST_SECONDS, description="An hour, if it is not said; at most 43200.")
    why: str = Field("", max_length=500)
    exclusive: bool = Field(True, description="Else shared with all who say so too.")
    tell: bool = Field(False, description="Where it is refused: whether a letter is to come once it is free.")
    window: str | None = _WINDOW


class ReleaseBody(Body):
    """Some paths of a project, all of a project, or all there is."""

    project: str | None = Field(None, max_length=PROJECT_CHARACTERS)
    paths: list[PathText] = Field([], max_length=MOST_ITEMS)
    window: str | None = _WINDOW


class PlaceItem(Body):
    """A file."""

    project: str = _PROJECT
    path: PathText


class CheckBody(Body):
    """Files that are to be edited."""

    files: list[PlaceItem] = Field(max_length=MOST_ITEMS)
    window: str | None = _WINDOW


class ReservationList(msgspec.Struct, frozen=True):
    """Reservations."""

    reservations: tuple[Reservation, ...]


@routes.get("/reservations", **gives(ReservationList, {"reservations": [_EXAMPLE]}))
async def reservations(call: Identified, project: Annotated[str | None, Query(max_length=PROJECT_CHARACTERS)] = None) -> Response:
    """All that is reserved now, or that of one project."""
    return answer(ReservationList(await call.office.reservations.all(project)))


@routes.post("/reservations", **gives(Reservation, _EXAMPLE, 201))
async def reserve(body: ReserveBody, call: Identified) -> Response:
    """Reserve files. What clashes with another's is refused: by whom, until when, and why."""
    caller = await _at_window(call, body.window)
    lasts = None if body.seconds is None else timedelta(seconds=body.seconds)
    held = await call.office.reservations.reserve(
        caller, body.project, body.paths, lasts, body.why, exclusive=body.exclusive, tell=body.tell
    )
    return answer(held, 201)


@routes.post("/reservations/release", **gives(ReservationList, {"reservations": [_EXAMPLE]}))
async def release(call: Identified, body: ReleaseBody | None = None) -> Response:
    """Give up what the caller has reserved. What it has not is no mistake."""
    wish = body or ReleaseBody()
    caller = await _at_window(call, wish.window)
    return answer(ReservationList(await call.office.reservations.release(caller, wish.project, wish.paths)))


@routes.post("/reservations/check", **gives(ReservationList, {"reservations": [_EXAMPLE]}))
async def check(body: CheckBody, call: Identified) -> Response:
    """Others' reservations that are in the way of an edit of these files."""
    caller = await _at_window(call, body.window)
    clashes = await call.office.reservations.in_the_way(caller, [(item.project, item.path) for item in body.files])
    return answer(ReservationList(clashes))


@routes.delete("/reservations/{id}", **gives(Reservation, _EXAMPLE))
async def end(id: ReservationId, call: Identified) -> Response:
    """End one: the caller's own, or as the owner anybody's, whose holder is told."""
    return answer(await call.office.reservations.end(await _at_window(call, None), id))


async def _at_window(call: Call, said: str | None) -> Caller:
    return await call.office.at_window(call.caller, said)
