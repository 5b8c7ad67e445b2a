"""Notify addresses: where the owner is told what waits for them, and the links that they are told."""

import msgspec
from fastapi import Response
from pydantic import Field

from postoffice.core.notify import AnswerLink, Notify, NotifyKind, Outcome
from postoffice.doors.rest.answer import answer, gives
from postoffice.doors.rest.body import MOST_ITEMS, Body, Uuid, router
from postoffice.doors.rest.call import Identified
from postoffice.doors.rest.examples import MESSAGE_ID, WHEN

routes = router("people")
_NOTIFY = {
    "name": "phone",
    "service": "ntfy",
    "kinds": ["question", "consent"],
    "quiet": "22:00-07:00",
    "zone": "Europe/Berlin",
    "bodies": False,
    "trusted": False,
    "state": "active",
    "since": WHEN,
    "error": None,
    "created_at": WHEN,
    "told_at": None,
    "waiting": 0,
}
_LINK = {"id": MESSAGE_ID, "question": MESSAGE_ID, "name": "phone", "trusted": False, "created_at": WHEN, "expires_at": WHEN}


class NotifyBody(Body):
    """Where to tell the owner, of what, and when."""

    name: str = Field(min_length=1, max_length=64, examples=["phone"])
    address: str = Field(min_length=1, max_length=2000, examples=["ntfys://ntfy.sh/my-topic"])
    kinds: list[NotifyKind] = Field([], max_length=MOST_ITEMS, examples=[["question"]])
    quiet: str | None = Field(None, max_length=40, examples=["22:00-07:00"])
    zone: str = Field("", max_length=100, examples=["Europe/Berlin"])
    bodies: bool = False
    trusted: bool = False


class NotifyList(msgspec.Struct, frozen=True, kw_only=True):
    """Every notify address, and where links in what they are told lead to: nowhere, if no public address is set."""

    notify: tuple[Notify, ...]
    public_url: str | None


class RemovedNotify(msgspec.Struct, frozen=True):
    """A notify address that is no more."""

    removed: str


class AnswerLinks(msgspec.Struct, frozen=True):
    """Every link that still opens a question."""

    links: tuple[AnswerLink, ...]


class RevokedLink(msgspec.Struct, frozen=True):
    """A link that opens nothing any more."""

    revoked: str


@routes.get("/notify", **gives(NotifyList, {"notify": [_NOTIFY], "public_url": "https://mail.example.com"}))
async def addresses(call: Identified) -> Response:
    """Every notify address, and how it does, for the owner."""
    return answer(NotifyList(notify=await call.office.notify.all(call.caller), public_url=call.office.answer_links.lead_to))


@routes.post("/notify", **gives(Notify, _NOTIFY, 201))
async def add(body: NotifyBody, call: Identified) -> Response:
    """Tell an address what waits for the owner from now on, as the owner. No kinds given means all."""
    made = await call.office.notify.add(
        call.caller,
        body.name,
        body.address,
        kinds=body.kinds,
        quiet=body.quiet,
        zone=body.zone,
        bodies=body.bodies,
        trusted=body.trusted,
    )
    return answer(made, 201)


@routes.delete("/notify/{name}", **gives(RemovedNotify, {"removed": "phone"}))
async def remove(name: str, call: Identified) -> Response:
    """Tell it nothing more. Links that it was told open nothing any more."""
    await call.office.notify.remove(call.caller, name)
    return answer(RemovedNotify(name))


@routes.post("/notify/{name}/resume", **gives(Notify, _NOTIFY))
async def resume(name: str, call: Identified) -> Response:
    """Try it again from now on, with all that still waits."""
    return answer(await call.office.notify.resume(call.caller, name))


@routes.post("/notify/{name}/try", **gives(Outcome, {"service": "ntfy", "error": None}))
async def try_out(name: str, call: Identified) -> Response:
    """Say a word there now, and tell how that went."""
    return answer(await call.office.notify.try_out(call.caller, name))


@routes.get("/answer-links", **gives(AnswerLinks, {"links": [_LINK]}))
async def links(call: Identified) -> Response:
    """Every link that still opens a question, the newest first, for the owner. What is in them is not kept."""
    return answer(AnswerLinks(await call.office.answer_links.all(call.caller)))


@routes.delete("/answer-links/{id}", **gives(RevokedLink, {"revoked": MESSAGE_ID}))
async def revoke(id: Uuid, call: Identified) -> Response:
    """Have a link open nothing any more."""
    await call.office.answer_links.revoke(call.caller, id)
    return answer(RevokedLink(id))
