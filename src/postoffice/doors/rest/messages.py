"""Messages: send, receive, wait, settle, and ask where one stands."""

from datetime import datetime
from typing import Annotated, Any, Self

import msgspec
from fastapi import Path, Query, Request, Response
from pydantic import Field, model_validator

from postoffice.core.delivery import Recalled, Standing
from postoffice.core.errors import BadMessage, MailError
from postoffice.core.letter import Letter, letter
from postoffice.core.message import Accepted, Draft, Posted, TaskRef
from postoffice.core.names import EVERYONE
from postoffice.core.query import WHAT_TO_ASK
from postoffice.core.question import Ask
from postoffice.core.views import Found, Proof
from postoffice.doors.rest.answer import Problem, answer, gives
from postoffice.doors.rest.body import BY_ITSELF, MOST_ITEMS, Body, Unfit, Uuid, router
from postoffice.doors.rest.call import Identified
from postoffice.doors.rest.connections import Everyone
from postoffice.doors.rest.examples import LETTER, MESSAGE_ID, SESSION_ID, STANDING, WHEN
from postoffice.doors.rest.paging import Cursor, Limit, Of

routes = router("messages")

_CONTENT_CHARACTERS = 10_000
MessageId = Annotated[str, Path(max_length=255, examples=[MESSAGE_ID])]
_OTHERWISE = frozenset({"to", "parts", "task", "ask", "id"})  # what a draft has in another form


_IDEMPOTENCY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Your own id, as in the body's `id`.",
    "schema": {"type": "string", "maxLength": 255},
}


class TaskBody(Body):
    """The work a message asks for."""

    id: str | None = None
    deadline: datetime | None = None


class AskBody(Body):
    """What a letter asks a person, who answers with a choice, in words, or both."""

    choices: list[str] = Field([], max_length=10, examples=[["ship it", "wait"]])
    text: bool = Field(True, description="Whether the person may say something of their own.")
    default: str | None = Field(None, description="What counts if nobody has answered by the deadline.")
    deadline: datetime | None = None


class SendBody(Body):
    """A message to send. `to` is an agent, a list of agents, or `ALL`; its body is content, parts or a payload."""

    to: str | list[str] = Field(examples=["bob-agent"])
    subject: str | None = Field(None, max_length=255, examples=["Project collaboration"])
    content: str | None = Field(None, max_length=_CONTENT_CHARACTERS, examples=["Hello Bob, shall we start?"])
    session_id: Uuid | None = None
    type: str = Field("message", max_length=255)
    parts: list[dict[str, Any]] | None = None
    payload: Any = None
    context: Any = None
    correlation_id: str | None = None
    reply_to: str | None = None
    priority: int | None = Field(None, ge=1, le=5)
    ttl: int | None = Field(None, ge=0, description="How often it may be forwarded; at most 10 by default.")
    task: TaskBody | None = None
    ask: AskBody | None = Field(None, description="Makes it a question to a person: to `owner`, or to whom the directory calls a person.")
    callback: dict[str, Any] | None = None
    ref_id: str | None = None
    ref_type: str | None = None
    metadata: dict[str, Any] | None = None
    id: str | None = Field(None, max_length=255, description="Your own id: the same id and body is one message, however often it is sent.")
    forward_of: str | None = Field(None, description="The message this passes on.")
    automatic: bool = Field(False, description="Written by a program in answer to `reply_to`, with nobody looking.")

    @model_validator(mode="after")
    def _in_some_session(self) -> Self:
        """A plain letter says what it is about, unless something else does."""
        plain = (
            self.content is not None and self.ask is None and self.type == "message" and isinstance(self.to, str) and self.to != EVERYONE
        )
        if plain and self.subject is None and self.session_id is None and self.reply_to is None and self.forward_of is None:
            message = "subject is required where no session_id is given"
            raise ValueError(message)
        return self

    def draft(self, key: str | None = None) -> Draft:
        """The message as the office takes it."""
        if key is not None and self.id is not None and key != self.id:
            raise BadMessage(field="id", why="it differs from the Idempotency-Key; send one of them")
        # Most messages give few of the fields, and what is not given a draft has by itself.
        given: dict[str, Any] = {name: getattr(self, name) for name in self.model_fields_set if name not in _OTHERWISE}
        return Draft(
            **given,
            to=self.to if isinstance(self.to, str) else tuple(self.to),
            parts=tuple(self.parts or ()),
            task=None if self.task is None else TaskRef(self.task.id, None, self.task.deadline),
            ask=None if self.ask is None else msgspec.convert(self.ask.model_dump(), Ask),
            client_id=self.id or key,
        )


class SendManyBody(Body):
    """Messages to send, each by itself; at most 100 by default."""

    messages: list[Annotated[SendBody, BY_ITSELF]] = Field(max_length=MOST_ITEMS)

    def drafts(self, key: str | None) -> list[Draft | MailError]:
        """Each message as the office takes it, or what is wrong with it."""
        return [self._draft(item, key) for item in self.messages]

    def _draft(self, item: SendBody | Unfit, key: str | None) -> Draft | MailError:
        if isinstance(item, Unfit):
            return item.why
        # One key cannot tell several messages apart, and passed over it would promise what nobody keeps.
        if key and not item.id:
            return BadMessage(field="id", why="an Idempotency-Key is for one message; give each message of several an id of its own")
        return item.draft()


class Sent(msgspec.Struct, frozen=True, kw_only=True):
    """A message accepted: on disk when this is answered."""

    message_id: str
    session_id: str | None
    subject: str
    created_at: datetime
    id: str
    duplicate: bool
    recipients: tuple[Posted, ...]


class SendResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """One message of several: accepted, or why not."""

    sent: Sent | None = None
    problem: Problem | None = None


class SentMany(msgspec.Struct, frozen=True):
    """What became of each message, in order."""

    results: tuple[SendResult, ...]


class Waiting(msgspec.Struct, frozen=True):
    """What waits, in the order it would be given out."""

    messages: tuple[Letter, ...]
    cursor: str | None


class Whereabouts(msgspec.Struct, frozen=True, kw_only=True):
    """Where a message stands with everyone it went to."""

    message_id: str
    message: Letter | None
    standings: tuple[Standing, ...]
    purged_at: datetime | None


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
) -> Response:
    """What waits, in the order it would be given out. Takes nothing."""
    page = await call.office.waiting(call.caller, cursor, limit, of=of, outside=outside)
    return answer(Waiting(tuple(map(letter, page.items)), page.cursor))


@routes.get(
    "/messages/{message_id:path}/status",
    **gives(Whereabouts, {"message_id": MESSAGE_ID, "message": LETTER, "standings": [STANDING], "purged_at": None}),
)
async def status(message_id: MessageId, call: Identified) -> Response:
    """Where a message stands: awaiting the ledger, pending, leased, acked or dead, when, after how many tries, and why."""
    return answer(_whereabouts(await call.office.status(call.caller, message_id)))


@routes.post("/messages/{message_id:path}/cancel", **gives(Canceled, _CANCELED))
async def cancel(message_id: MessageId, call: Identified) -> Response:
    """Take back what the caller has sent and nobody has taken yet, from each recipient with whom it still waits."""
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
    return Whereabouts(message_id=proof.message_id, message=shown, standings=proof.standings, purged_at=proof.purged_at)


def _hit(found: Found) -> Hit:
    return Hit(letter(found.message), found.excerpt)
