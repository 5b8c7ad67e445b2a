"""Hooks: the owner opens an address, and another program leaves letters there for one agent."""

import msgspec
from fastapi import Request, Response
from pydantic import Field

from postoffice.core.hook import Hook, HookProof
from postoffice.doors.rest.answer import answer, gives
from postoffice.doors.rest.body import Body, router
from postoffice.doors.rest.call import Identified, office_of
from postoffice.doors.rest.examples import MESSAGE_ID, WHEN

routes = router("webhooks")
_TOKEN = "A" * 43
_HOOK = {"name": "github", "to": "coder", "proof": "github", "created_at": WHEN, "revoked": False}


class HookBody(Body):
    """Who writes what is left there, to whom, and how it is proved."""

    name: str = Field(min_length=1, max_length=100, examples=["github"])
    to: str = Field(min_length=1, max_length=100, examples=["coder"])
    proof: HookProof = HookProof.ADDRESS
    secret: str | None = Field(None, max_length=200)


class HookList(msgspec.Struct, frozen=True):
    """Every hook there is or was."""

    hooks: tuple[Hook, ...]


class MadeHook(msgspec.Struct, frozen=True, kw_only=True):
    """An address at which letters can be left, and the secret that signs them. Neither is shown again."""

    name: str
    address: str
    secret: str | None


class RevokedHook(msgspec.Struct, frozen=True):
    """A hook at which nothing can be left any more."""

    revoked: str


class Left(msgspec.Struct, frozen=True, kw_only=True):
    """A letter that was left. Without an id it had been left before under its delivery id, and said something else."""

    message_id: str | None
    duplicate: bool


@routes.get("/hooks", **gives(HookList, {"hooks": [_HOOK]}))
async def hooks(call: Identified) -> Response:
    """Every hook there is or was, for the owner."""
    return answer(HookList(await call.office.hooks.all(call.caller)))


@routes.post(
    "/hooks", **gives(MadeHook, {"name": "github", "address": f"https://mail.example.com/hooks/{_TOKEN}", "secret": "0" * 64}, 201)
)
async def add(body: HookBody, call: Identified, request: Request) -> Response:
    """Open an address that leaves letters for an agent, as the owner."""
    name, token, secret = await call.office.hooks.add(call.caller, body.name, body.to, proof=body.proof, secret=body.secret)
    here = f"{request.url.scheme}://{request.headers.get('host', '')}"
    return answer(MadeHook(name=name, address=f"{here}/hooks/{token}", secret=secret), 201)


@routes.delete("/hooks/{name}", **gives(RevokedHook, {"revoked": "github"}))
async def revoke(name: str, call: Identified) -> Response:
    """Close an address for good."""
    await call.office.hooks.revoke(call.caller, name)
    return answer(RevokedHook(name))


@routes.post("/hooks/{token}", **gives(Left, {"message_id": MESSAGE_ID, "duplicate": False}, public=True))
async def leave(token: str, request: Request) -> Response:
    """Leave a letter. Whoever knows the address may, if it signs as the hook asks; under one delivery id it is left once."""
    left = await office_of(request).hooks.leave(token, request.headers, await request.body())
    if left is None:
        return answer(Left(message_id=None, duplicate=True))
    return answer(Left(message_id=left.message_id, duplicate=left.duplicate))
