"""Invitations: the owner makes a code for an agent, and whoever has the code gets its key."""

from datetime import datetime

import msgspec
from fastapi import Request, Response
from pydantic import Field

from postoffice.core.agent import Card
from postoffice.doors.rest.answer import answer, gives
from postoffice.doors.rest.body import Body, router
from postoffice.doors.rest.call import Identified, Stranger
from postoffice.doors.rest.examples import WHEN

routes = router("agents")
_KEY = "amb_" + "0" * 64
_CODE = "kYx0v3wq2T5tJ8nHc1bR4A"


class InviteBody(Body):
    """Whom to invite, and what a name that is new says of itself."""

    name: str = Field(min_length=1, max_length=100, examples=["alice-agent"])
    description: str | None = Field(None, max_length=2000)
    allow_from: list[str] | None = None


class AcceptBody(Body):
    """A code, as it was passed on."""

    code: str = Field(min_length=1, max_length=100, examples=[_CODE])


class Invited(msgspec.Struct, frozen=True, kw_only=True):
    """A code that gives the agent's key once, within the hour."""

    name: str
    code: str
    server: str
    expires_at: datetime


class Joined(msgspec.Struct, frozen=True, kw_only=True):
    """An agent and its new key, which is never shown again."""

    name: str
    api_key: str


@routes.post(
    "/invites", **gives(Invited, {"name": "alice-agent", "code": _CODE, "server": "https://mail.example.com", "expires_at": WHEN}, 201)
)
async def invite(body: InviteBody, call: Identified, request: Request) -> Response:
    """Invite an agent, as the owner: the code gives it a key on another machine, once, within the hour."""
    changes = body.model_dump(exclude_none=True, exclude={"name"})
    made = await call.office.invites.make(call.caller, body.name, msgspec.convert(changes, Card))
    server = f"{request.url.scheme}://{request.headers.get('host', '')}"
    return answer(Invited(name=made.name, code=made.code, server=server, expires_at=made.expires_at), 201)


@routes.post("/invites/accept", **gives(Joined, {"name": "alice-agent", "api_key": _KEY}, 201, public=True))
async def accept(body: AcceptBody, call: Stranger) -> Response:
    """Use a code. Nobody has to say who they are: the code says it."""
    office, _ = call
    name, key = await office.invites.accept(body.code)
    return answer(Joined(name=name, api_key=key), 201)
