"""Webhooks: addresses of the owner's that are told what happens."""

import msgspec
from fastapi import Response
from pydantic import Field

from postoffice.core.event import Kind
from postoffice.core.webhook import Shape, Webhook
from postoffice.doors.rest.answer import answer, gives
from postoffice.doors.rest.body import MOST_ITEMS, Body, router
from postoffice.doors.rest.call import Identified
from postoffice.doors.rest.examples import WHEN

routes = router("webhooks")
_SECRET = "whsec_" + "A" * 43 + "="
_WEBHOOK = {
    "name": "ci",
    "url": "https://ci.example.com/hooks/mail",
    "events": ["task"],
    "agents": [],
    "bodies": False,
    "shape": "standard",
    "state": "active",
    "since": WHEN,
    "error": None,
    "created_at": WHEN,
    "delivered_at": None,
    "waiting": 0,
    "failed": 0,
    "next_try_at": None,
}


class WebhookBody(Body):
    """Where to tell what."""

    name: str = Field(min_length=1, max_length=64, examples=["ci"])
    url: str = Field(min_length=1, max_length=2000, examples=["https://ci.example.com/hooks/mail"])
    events: list[Kind] = Field([], max_length=MOST_ITEMS, examples=[["task"]])
    agents: list[str] = Field([], max_length=MOST_ITEMS)
    bodies: bool = False
    shape: Shape = Shape.STANDARD


class Webhooks(msgspec.Struct, frozen=True):
    """Every webhook, and how it does."""

    webhooks: tuple[Webhook, ...]


class MadeWebhook(msgspec.Struct, frozen=True):
    """A webhook and the secret that signs what it is told, which is never shown again."""

    webhook: Webhook
    secret: str


class RemovedWebhook(msgspec.Struct, frozen=True):
    """A webhook that is no more."""

    removed: str


@routes.get("/webhooks", **gives(Webhooks, {"webhooks": [_WEBHOOK]}))
async def webhooks(call: Identified) -> Response:
    """Every webhook, and how it does, for the owner."""
    return answer(Webhooks(await call.office.webhooks.all(call.caller)))


@routes.post("/webhooks", **gives(MadeWebhook, {"webhook": _WEBHOOK, "secret": _SECRET}, 201))
async def add(body: WebhookBody, call: Identified) -> Response:
    """Tell an address what happens from now on, as the owner. No events or agents given means all."""
    made = await call.office.webhooks.add(
        call.caller, body.name, body.url, events=body.events, agents=body.agents, bodies=body.bodies, shape=body.shape
    )
    return answer(MadeWebhook(*made), 201)


@routes.get("/webhooks/{name}", **gives(Webhook, _WEBHOOK))
async def webhook(name: str, call: Identified) -> Response:
    """One webhook, for the owner."""
    return answer(await call.office.webhooks.get(call.caller, name))


@routes.delete("/webhooks/{name}", **gives(RemovedWebhook, {"removed": "ci"}))
async def remove(name: str, call: Identified) -> Response:
    """Tell it nothing more, not even what is on its way."""
    await call.office.webhooks.remove(call.caller, name)
    return answer(RemovedWebhook(name))


@routes.post("/webhooks/{name}/pause", **gives(Webhook, _WEBHOOK))
async def pause(name: str, call: Identified) -> Response:
    """Tell it nothing until it is resumed. What happens meanwhile waits."""
    return answer(await call.office.webhooks.pause(call.caller, name))


@routes.post("/webhooks/{name}/resume", **gives(Webhook, _WEBHOOK))
async def resume(name: str, call: Identified) -> Response:
    """Try it again from now on, with all that it has not been told."""
    return answer(await call.office.webhooks.resume(call.caller, name))


@routes.post("/webhooks/{name}/rotate", **gives(MadeWebhook, {"webhook": _WEBHOOK, "secret": _SECRET}))
async def rotate(name: str, call: Identified) -> Response:
    """Sign with a new secret from now on; for a day the old one signs too."""
    return answer(MadeWebhook(*await call.office.webhooks.rotate(call.caller, name)))
