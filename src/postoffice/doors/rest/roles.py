"""Roles: mailboxes that several agents take from."""

from typing import Annotated, Any

import msgspec
from fastapi import Path, Response
from msgspec import UNSET
from pydantic import Field

from postoffice.core.role import Role, RoleHand
from postoffice.doors.rest.answer import answer, gives
from postoffice.doors.rest.body import MOST_ITEMS, Body, router
from postoffice.doors.rest.call import Identified
from postoffice.doors.rest.examples import MESSAGE_ID, WHEN

routes = router("roles")

RoleText = Annotated[str, Path(max_length=105, examples=["role:reviewer"], description="With role: before it, or without.")]
_CARD = ("description", "allow_from", "max_in_hand", "in_order")
_MOST_STAFF = 1_000
_EXAMPLE = {
    "name": "role:reviewer",
    "description": "reviews changes",
    "made_by": "alice-agent",
    "created_at": WHEN,
    "capability": None,
    "staff": ["bob-agent", "coder"],
    "named": ["bob-agent", "coder"],
    "allow_from": ["*"],
    "max_in_hand": None,
    "in_order": False,
    "pending": 2,
    "leased": 1,
    "dead": 0,
    "reach": {"way": "program", "text": "1 of 2 can take it now"},
}


class RoleBody(Body):
    """How a role is to be. What is left out stays as it is."""

    description: str | None = Field(None, max_length=2_000)
    capability: str | None = Field(None, max_length=255, description="Every agent whose card has it is in the role.")
    allow_from: list[str] | None = Field(None, description="Who may write to it; `*` is everybody.")
    max_in_hand: int | None = Field(None, ge=1, le=10_000, description="How many of its letters may be in hand at once.")
    in_order: bool | None = Field(None, description="Whether of each conversation only one letter is in hand at a time.")


class NewRoleBody(RoleBody):
    """A role to make."""

    name: str = Field(max_length=105, examples=["role:reviewer"])
    staff: list[str] = Field([], max_length=_MOST_STAFF, description="Who is in it by name.")


class StaffBody(Body):
    """Who is put into a role, or taken out of it."""

    agents: list[str] = Field(min_length=1, max_length=MOST_ITEMS, examples=[["coder"]])


class RoleList(msgspec.Struct, frozen=True):
    """Roles."""

    roles: tuple[Role, ...]


class RoleView(msgspec.Struct, frozen=True):
    """A role, and who has what of it in hand."""

    role: Role
    in_hand: tuple[RoleHand, ...]


class RoleGone(msgspec.Struct, frozen=True):
    """How many letters that waited there are dead."""

    dead: int


@routes.get("/roles", **gives(RoleList, {"roles": [_EXAMPLE]}))
async def roles(call: Identified) -> Response:
    """Every role: who is in it, what waits there, and whether somebody can take it."""
    return answer(RoleList(await call.office.roles.all()))


@routes.post("/roles", **gives(Role, _EXAMPLE, 201))
async def make(body: NewRoleBody, call: Identified) -> Response:
    """Make a role. Where keys are asked for, nobody may write to it until `allow_from` says who."""
    given = _given(body, (*_CARD, "capability"))
    return answer(await call.office.roles.make(call.caller, body.name, body.staff, **given), 201)


@routes.get("/roles/{role}", **gives(RoleView, {"role": _EXAMPLE, "in_hand": [{"agent": "coder", "message_id": MESSAGE_ID}]}))
async def role(role: RoleText, call: Identified) -> Response:
    """One role, and who has what of it in hand."""
    shown = await call.office.roles.role(role)
    return answer(RoleView(shown, await call.office.roles.hands(shown.name)))


@routes.patch("/roles/{role}", **gives(Role, _EXAMPLE))
async def change(role: RoleText, body: RoleBody, call: Identified) -> Response:
    """Change a role; for whoever made it, and the owner."""
    given = body.model_dump(exclude_unset=True)
    capability = given.pop("capability", UNSET)
    card = {name: value for name, value in given.items() if value is not None or name == "max_in_hand"}
    return answer(await call.office.roles.change(call.caller, role, card, capability=capability))


@routes.post("/roles/{role}/staff", **gives(Role, _EXAMPLE))
async def staff(role: RoleText, body: StaffBody, call: Identified) -> Response:
    """Put agents into a role. They have to take mail from whoever does it, unless that is the owner."""
    return answer(await call.office.roles.change(call.caller, role, add=body.agents))


@routes.post("/roles/{role}/unstaff", **gives(Role, _EXAMPLE))
async def unstaff(role: RoleText, body: StaffBody, call: Identified) -> Response:
    """Take agents out of a role; oneself at any time. What they have in hand there waits again."""
    return answer(await call.office.roles.change(call.caller, role, remove=body.agents))


@routes.delete("/roles/{role}", **gives(RoleGone, {"dead": 0}))
async def delete(role: RoleText, call: Identified) -> Response:
    """Delete a role. What waits there is dead, and its senders are told."""
    return answer(RoleGone(await call.office.roles.delete(call.caller, role)))


def _given(body: RoleBody, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in body.model_dump(include=set(names)).items() if value is not None}
