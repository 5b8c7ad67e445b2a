"""Agents: register, see who is there, say what one can do, change keys."""

from datetime import timedelta
from typing import Any

import msgspec
from fastapi import Request, Response
from pydantic import Field

from postoffice.core.agent import Agent, Card, Forgotten, Key, Presence
from postoffice.doors.listing import Listing, listing, public
from postoffice.doors.rest.answer import answer, gives
from postoffice.doors.rest.body import Body, router
from postoffice.doors.rest.call import Identified, Stranger
from postoffice.doors.rest.examples import AGENT_ID, WHEN
from postoffice.doors.rest.paging import Cursor, Limit, NameText, Of

routes = router("agents")

_KEY = "amb_" + "0" * 64


class CardBody(Body):
    """What an agent says of itself."""

    description: str | None = None
    capabilities: list[str] | None = None
    allow_from: list[str] | None = Field(None, description="Who may write without a connection; `*` is everybody.")
    max_concurrent_tasks: int | None = Field(None, ge=0, le=10_000)
    max_in_hand: int | None = Field(None, ge=1, le=10_000, description="How many letters may be in hand at once; the rest waits.")
    in_order: bool | None = Field(None, description="Whether of each conversation only one letter is in hand at a time.")
    owner_contact: str | None = None
    display_name: str | None = None
    model: str | None = None
    person: bool | None = Field(None, description="Whether it is a person; for the owner to say only.")
    metadata: dict[str, Any] | None = Field(None, description="Anything; `hcs11_capabilities` names HCS-11's numbers where words do not.")


class RegisterBody(CardBody):
    """A name to take."""

    name: str = Field(min_length=3, max_length=100, examples=["alice-agent"])


class RotateBody(Body):
    """How long the older keys go on working."""

    overlap: float | None = Field(None, ge=0, le=31_536_000, description="Seconds; a day unless said otherwise.")


class RevokeBody(Body):
    """Which keys to take back."""

    prefix: str | None = Field(None, min_length=1, max_length=68, description="Keys that begin so; all of them if left out.")


class Registered(msgspec.Struct, frozen=True):
    """The agent, and its key, which is never shown again."""

    id: str
    name: str
    api_key: str


class Listings(msgspec.Struct, frozen=True):
    """The directory."""

    agents: tuple[Listing, ...]
    cursor: str | None


class Me(Listing, frozen=True, kw_only=True):
    """An agent as it sees itself."""

    allow_from: tuple[str, ...]
    owner_contact: str | None
    metadata: dict[str, Any] | None
    tasks: tuple[str, ...]
    unread: int
    leased: int
    dead: int


class Alive(msgspec.Struct, frozen=True):
    """Whether the agent counts as present."""

    name: str
    presence: Presence


class Keys(msgspec.Struct, frozen=True):
    """Keys, each by its beginning."""

    keys: tuple[Key, ...]


class NewKey(msgspec.Struct, frozen=True):
    """A key, which is never shown again."""

    api_key: str
    key: Key


_ME = {
    "id": AGENT_ID,
    "name": "alice-agent",
    "description": "reviews code",
    "capabilities": ["review"],
    "capability_codes": [4],
    "presence": "idle",
    "current_tasks": 0,
    "max_concurrent_tasks": 3,
    "person": False,
    "display_name": None,
    "model": None,
    "has_key": True,
    "created_at": WHEN,
    "last_seen": WHEN,
    "reach": {"way": "window", "text": "open in Claude Code, idle 3 min, can be woken"},
    "paused": None,
    "allow_from": [],
    "owner_contact": "alice@example.com",
    "metadata": None,
    "tasks": [],
    "unread": 2,
    "leased": 0,
    "dead": 0,
}
LISTING = {field: _ME[field] for field in Listing.__struct_fields__}
_SHOWN_KEY = {"agent": "alice-agent", "prefix": "amb_0000", "created_at": WHEN, "expires_at": None, "revoked_at": None}


@routes.post("/agents/register", **gives(Registered, {"id": AGENT_ID, "name": "alice-agent", "api_key": _KEY}, 201, public=True))
async def register(body: RegisterBody, request: Request, call: Stranger) -> Response:
    """Take a name. The key in the answer is shown this once; keep it."""
    office, caller = call
    changes = body.model_dump(exclude_none=True, exclude={"name"})
    address = None if request.client is None else request.client.host
    id, name, key = await office.register(body.name, msgspec.convert(changes, Card), by=caller, address=address)
    return answer(Registered(id, name, key), 201)


@routes.get("/agents", **gives(Listings, {"agents": [LISTING], "cursor": None}))
async def directory(call: Identified, cursor: Cursor = None, limit: Limit = None) -> Response:
    """Who is there, and what they can do."""
    page = await call.office.agents(cursor, limit, caller=call.caller)
    return answer(Listings(tuple(map(listing, page.items)), page.cursor))


@routes.get("/agents/me", **gives(Me, _ME))
async def me(call: Identified) -> Response:
    """The caller's own card, presence and counts."""
    return answer(_me(await call.office.agent(call.caller.name)))


@routes.patch("/agents/me", **gives(Me, _ME))
async def update_card(body: CardBody, call: Identified, of: Of = None) -> Response:
    """Change what the caller says of itself; what is not given stays."""
    name = of or call.caller.name
    await call.office.update_card(call.caller, body.model_dump(exclude_unset=True), of=of)
    return answer(_me(await call.office.agent(name)))


@routes.post("/agents/me/heartbeat", **gives(Alive, {"name": "alice-agent", "presence": "idle"}))
async def heartbeat(call: Identified) -> Response:
    """Show that the caller is there. Any other call does too."""
    call.office.heartbeat(call.caller)
    agent = await call.office.agent(call.caller.name)
    return answer(Alive(agent.name, agent.presence))


@routes.post("/agents/me/leave", **gives(Alive, {"name": "alice-agent", "presence": "offline"}))
async def leave(call: Identified) -> Response:
    """Say that the caller is going: it is offline until its next call."""
    await call.office.leave(call.caller)
    return answer(Alive(call.caller.name, Presence.OFFLINE))


@routes.get("/agents/me/keys", **gives(Keys, {"keys": [_SHOWN_KEY]}))
async def keys(call: Identified, of: Of = None) -> Response:
    """The caller's keys, each by its beginning only."""
    return answer(Keys(await call.office.keys(call.caller, of=of)))


@routes.post("/agents/me/keys", **gives(NewKey, {"api_key": _KEY, "key": _SHOWN_KEY}, 201))
async def add_key(call: Identified, of: Of = None) -> Response:
    """One key more; the others stay. A name's first key is the owner's to give."""
    return answer(NewKey(*await call.office.add_key(call.caller, of=of)), 201)


@routes.post("/agents/me/keys/rotate", **gives(NewKey, {"api_key": _KEY, "key": _SHOWN_KEY}, 201))
async def rotate(call: Identified, body: RotateBody | None = None, of: Of = None) -> Response:
    """A new key; the older ones end when the overlap is over."""
    overlap = None if body is None or body.overlap is None else timedelta(seconds=body.overlap)
    return answer(NewKey(*await call.office.rotate_key(call.caller, of=of, overlap=overlap)), 201)


@routes.post("/agents/me/keys/revoke", **gives(Keys, {"keys": [_SHOWN_KEY]}))
async def revoke(call: Identified, body: RevokeBody | None = None, of: Of = None) -> Response:
    """Take keys back. Their WebSockets close within a second; a name once locked stays locked."""
    return answer(Keys(await call.office.revoke_keys(call.caller, None if body is None else body.prefix, of=of)))


@routes.get("/agents/{name}", **gives(Listing, LISTING))
async def agent(name: NameText, call: Identified) -> Response:
    """One agent as others see it."""
    agent = await call.office.agent(name, call.caller)
    return answer(listing(agent))


@routes.delete("/agents/{name}", **gives(Forgotten, {"name": "bbo", "dead": 1}))
async def forget(name: NameText, call: Identified) -> Response:
    """Forget an agent that never acted, as the owner. What waits there is dead, and its senders are told."""
    return answer(await call.office.forget(call.caller, name))


def _me(agent: Agent) -> Me:
    card = agent.card
    return Me(
        **public(agent),
        allow_from=card.allow_from,
        owner_contact=card.owner_contact,
        metadata=card.metadata,
        tasks=agent.current_tasks,
        unread=agent.unread,
        leased=agent.leased,
        dead=agent.dead,
    )
