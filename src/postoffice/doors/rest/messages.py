"""Messages: send, receive, wait, settle, and ask where one stands."""

from datetime import datetime
from typing import Annotated

import msgspec
from fastapi import Path, Query, Request, Response
from msgspec import UNSET, UnsetType

from postoffice.core.delivery import Recalled, Standing
from postoffice.core.errors import MailError
from postoffice.core.letter import Letter, letter
from postoffice.core.mailing_list import ToMembers
from postoffice.core.message import Accepted, Posted
from postoffice.core.query import WHAT_TO_ASK
from postoffice.core.views import Found, Proof
from postoffice.doors.rest.answer import Problem, answer, gives
from postoffice.doors.rest.body import Uuid, router
from postoffice.doors.rest.call import Identified
from postoffice.doors.rest.connections import Everyone
from postoffice.doors.rest.examples import LETTER, MESSAGE_ID, SESSION_ID, STANDING, WHEN
from postoffice.doors.rest.paging import Cursor, Limit, Of
from postoffice.doors.rest.send_body import SendBody, SendManyBody

routes = router("messages")

MessageId = Annotated[str, Path(max_length=255, examples=[MESSAGE_ID])]


_IDEMPOTENCY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Your own id, as in the body's `id`.",
    "schema": {"type": "string", "maxLength": 255},
}


class Sent(msgspec.Struct, frozen=True, kw_only=True):
    """A message accepted: on disk when this is answered."""

    message_id: str
    session_id: str | None
    subject: str
    created_at: datetime
    id: str
    duplicate: bool
    recipients: tuple[Posted, ...]
    deliver_at: datetime | UnsetType = UNSET
    expires_at: datetime | UnsetType = UNSET
    to_list: ToMembers | UnsetType = UNSET
    """Of a letter to a list: to how many of its members it went. `recipients` then has those who did not get it, and some of the others."""


class SendResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """One message of several: accepted, or why not."""

    sent: Sent | None = None
    problem: Problem | None = None


class SentMany(msgspec.Struct, frozen=True):
    """What became of each message, in order."""

    results: tuple[SendResult, ...]


class WaitingInRole(msgspec.Struct, frozen=True):
    """What the caller would be given now of one role's mail."""

    role: str
    messages: tuple[Letter, ...]


class Waiting(msgspec.Struct, frozen=True):
    """What waits, in the order it would be given out."""

    messages: tuple[Letter, ...]
    cursor: str | None
    roles: tuple[WaitingInRole, ...] | UnsetType = UNSET
    """Where they are asked for: what waits in each of the caller's roles."""


class Whereabouts(msgspec.Struct, frozen=True, kw_only=True):
    """Where a message stands with everyone it went to."""

    message_id: str
    message: Letter | None
    standings: tuple[Standing, ...]
    purged_at: datetime | None
    counts: dict[str, int] | UnsetType = UNSET
    """Of a letter to a list: how many of its members stand how. `standings` are then a page of them."""
    cursor: str | UnsetType = UNSET


class Canceled(msgspec.Struct, frozen=True):
    """A message taken back, and what became of it with each recipient."""

    message_id: str
    recipients: tuple[Recalled, ...]


class Hit(msgspec.Struct, frozen=True):
    """A message, and the words around the hit."""

    message: Letter
    excerpt: str


class Hits(msgspec.Struct, frozen=True):
    """What a search found, the best first."""

    results: tuple[Hit, ...]
    cursor: str | None


_CANCELED = {"message_id": MESSAGE_ID, "recipients": [{"recipient": "bob-agent", "state": "dead", "canceled": True}]}
_SENT = {
    "message_id": MESSAGE_ID,
    "session_id": SESSION_ID,
    "subject": "Project collaboration",
    "created_at": WHEN,
    "id": MESSAGE_ID,
    "duplicate": False,
    "recipients": [{"recipient": "bob-agent", "session_id": SESSION_ID, "reach": {"way": "offline", "text": "offline since 2 h"}}],
}


@routes.post("/messages/send", **gives(Sent, _SENT, 201, parameters=[_IDEMPOTENCY]))
async def send(body: SendBody, call: Identified, request: Request) -> Response:
    """Send a message. It goes into its session, or the two agents' session of its subject, or a new one.

    With an id of your own, in the body or as the header `Idempotency-Key`, a retry to the same addressee sends nothing twice.
    """
    return answer(sent(await call.office.send(call.caller, body.draft(_own_id(request)))), 201)


@routes.post("/messages/send/batch", **gives(SentMany, {"results": [{"sent": _SENT}]}))
async def send_many(body: SendManyBody, call: Identified, request: Request) -> Response:
    """Send several messages; each is accepted or refused by itself, and a retry sends none twice that has an id of its own."""
    results = await call.office.send_many(call.caller, body.drafts(_own_id(request)))
    return answer(SentMany(tuple(map(_result, results))))


@routes.get("/messages/waiting", **gives(Waiting, {"messages": [LETTER], "cursor": None}))
async def waiting(
    call: Identified,
    cursor: Cursor = None,
    limit: Limit = None,
    of: Of = None,
    outside: Annotated[bool, Query(description="Only what belongs to no session: notes, and mail to oneself.")] = False,
    roles: Annotated[bool, Query(description="Also what the caller would be given of the mail of its roles, in `roles`.")] = False,
) -> Response:
    """What waits, in the order it would be given out. Takes nothing."""
    page = await call.office.waiting(call.caller, cursor, limit, of=of, outside=outside)
    found = await call.office.waiting_in_roles(call.caller, limit) if roles else ()
    of_roles = tuple(WaitingInRole(one.role, tuple(map(letter, one.messages))) for one in found) or UNSET
    return answer(Waiting(tuple(map(letter, page.items)), page.cursor, of_roles))


@routes.get(
    "/messages/{message_id:path}/status",
    **gives(Whereabouts, {"message_id": MESSAGE_ID, "message": LETTER, "standings": [STANDING], "purged_at": None}),
)
async def status(message_id: MessageId, call: Identified, cursor: Cursor = None, limit: Limit = None) -> Response:
    """Where a message stands: held until its time, awaiting the ledger, pending, leased, acked or dead, when, after how many tries, and why.

    Of a letter to a list the members are counted, and told page by page.
    """
    return answer(_whereabouts(await call.office.status(call.caller, message_id, cursor, limit)))


@routes.post("/messages/{message_id:path}/cancel", **gives(Canceled, _CANCELED))
async def cancel(message_id: MessageId, call: Identified) -> Response:
    """Take back what the caller has sent and nobody has taken yet, from each recipient with whom it still waits. A task ends also once taken."""
    id, recipients = await call.office.cancel(call.caller, message_id)
    return answer(Canceled(id, recipients))


@routes.get("/search", **gives(Hits, {"results": [{"message": LETTER, "excerpt": "Sure, let's do it."}], "cursor": None}))
async def search(
    call: Identified,
    q: Annotated[str, Query(max_length=1000, description=WHAT_TO_ASK, examples=["project"])] = "",
    sender: str | None = None,
    recipient: str | None = None,
    session_id: Uuid | None = None,
    type: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    cursor: Cursor = None,
    limit: Limit = None,
    everyone: Everyone = False,
) -> Response:
    """Messages the caller sent or got: those that hold the most of these words first, of them the newest first."""
    page = await call.office.search(
        call.caller,
        q,
        sender=sender,
        recipient=recipient,
        session_id=session_id,
        type=type,
        since=since,
        until=until,
        cursor=cursor,
        limit=limit,
        everyone=everyone,
    )
    return answer(Hits(tuple(map(_hit, page.items)), page.cursor))


def _own_id(request: Request) -> str | None:
    """The first `Idempotency-Key`. The framework's view of headers decodes all of them for it."""
    return next((value.decode("latin-1") for name, value in request.scope["headers"] if name == b"idempotency-key"), None)


def sent(accepted: Accepted) -> Sent:
    """An accepted message as this door tells it."""
    return Sent(
        message_id=accepted.message_id,
        session_id=accepted.session_id,
        subject=accepted.subject,
        created_at=accepted.created_at,
        id=accepted.client_id or accepted.message_id,
        duplicate=accepted.duplicate,
        recipients=accepted.posted,
        deliver_at=accepted.deliver_at or UNSET,
        expires_at=accepted.expires_at or UNSET,
        to_list=accepted.to_list or UNSET,
    )


def _result(outcome: Accepted | BaseException) -> SendResult:
    return SendResult(sent=sent(outcome)) if isinstance(outcome, Accepted) else SendResult(problem=problem(outcome))


def problem(error: BaseException) -> Problem:
    """A refusal as one result of several."""
    if not isinstance(error, MailError):
        raise error
    later = error.facts.get("retry_after")
    return Problem(str(error), error.code, later if isinstance(later, int) else None)


def _whereabouts(proof: Proof) -> Whereabouts:
    shown = None if proof.message is None else letter(proof.message)
    return Whereabouts(
        message_id=proof.message_id,
        message=shown,
        standings=proof.standings,
        purged_at=proof.purged_at,
        counts=UNSET if proof.counts is None else proof.counts,
        cursor=proof.cursor or UNSET,
    )


def _hit(hit: Found) -> Hit:
    return Hit(letter(hit.message), hit.excerpt)
