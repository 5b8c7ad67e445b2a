"""Entities: what notes are about, and what was said of them."""

from typing import Annotated, Any

import msgspec
from fastapi import Path, Response
from pydantic import Field

from postoffice.core.entity import ENTITY_TYPES, NAMED
from postoffice.core.letter import Letter, letter
from postoffice.core.message import Message
from postoffice.core.views import Entity, Page
from postoffice.doors.rest.answer import answer, gives
from postoffice.doors.rest.body import Body, router
from postoffice.doors.rest.call import Identified
from postoffice.doors.rest.connections import Everyone
from postoffice.doors.rest.examples import LETTER, MESSAGE_ID, WHEN
from postoffice.doors.rest.paging import Cursor, Limit

routes = router("entities")

EntityId = Annotated[str, Path(max_length=255, examples=["0.0.12345"])]
_NOTE = LETTER | {"type": "task.note", "to": ["mindy"], "content": "Blocked on review.", "ref_id": "0.0.12345", "ref_type": "task"}


class NoteBody(Body):
    """A note to keep with an entity."""

    entity_type: str = Field(examples=["task"], description=f"{NAMED}.", json_schema_extra={"enum": list(ENTITY_TYPES)})
    note: str = Field(min_length=1, max_length=10_000, examples=["Blocked on review."])
    notify: list[str] = Field([], description="Agents that get the note as mail.")
    id: str | None = Field(None, max_length=255, description="Your own id: the same note is kept once.")


class EventBody(Body):
    """Something that happened to an entity."""

    type: str = Field(min_length=1, max_length=255, examples=["task.blocked"])
    entity_type: str | None = Field(
        None, examples=["task"], description=f"{NAMED}; unless the type says so.", json_schema_extra={"enum": [*ENTITY_TYPES, None]}
    )
    data: Any = Field(None, examples=[{"reason": "waits for a review"}])
    id: str | None = Field(None, max_length=255, description="Your own id: the same event is told once.")


class Told(msgspec.Struct, frozen=True):
    """Who was told of an event."""

    messages: tuple[str, ...]
    recipients: tuple[str, ...]


class Noted(msgspec.Struct, frozen=True):
    """A note that is kept."""

    message_id: str
    notified: tuple[str, ...]
    ledger: str | None
    """`awaiting` where the entity is a topic that will tell of it, else `direct`."""


class Letters(msgspec.Struct, frozen=True):
    """Messages, newest first."""

    messages: tuple[Letter, ...]
    cursor: str | None


class Entities(msgspec.Struct, frozen=True):
    """What notes are about."""

    entities: tuple[Entity, ...]
    cursor: str | None


_ENTITY = {"id": "0.0.12345", "type": "task", "notes": 1, "created_at": WHEN, "last_at": WHEN}


@routes.get("/entities", **gives(Entities, {"entities": [_ENTITY], "cursor": None}))
async def entities(call: Identified, cursor: Cursor = None, limit: Limit = None) -> Response:
    """What notes are about."""
    page = await call.office.entities(cursor, limit)
    return answer(Entities(page.items, page.cursor))


@routes.post("/entities/{entity_id:path}/notes", **gives(Noted, {"message_id": MESSAGE_ID, "notified": ["mindy"], "ledger": "direct"}, 201))
async def note(entity_id: EntityId, body: NoteBody, call: Identified) -> Response:
    """Keep a note with an entity, and send it to whoever should know."""
    kept = await call.office.note(call.caller, entity_id, body.entity_type, body.note, body.notify, client_id=body.id)
    return answer(Noted(kept.message_id, tuple(posted.recipient for posted in kept.posted), kept.ledger), 201)


@routes.get("/entities/{entity_id:path}/notes", **gives(Letters, {"messages": [_NOTE], "cursor": None}))
async def notes(entity_id: EntityId, call: Identified, cursor: Cursor = None, limit: Limit = None) -> Response:
    """The notes kept with an entity, newest first."""
    return _letters(await call.office.notes(entity_id, cursor, limit))


@routes.get("/entities/{entity_id:path}/events", **gives(Letters, {"messages": [_NOTE], "cursor": None}))
async def events(entity_id: EntityId, call: Identified, cursor: Cursor = None, limit: Limit = None, everyone: Everyone = False) -> Response:
    """What was said about an entity: its notes, and the messages naming it that the caller sent or got."""
    return _letters(await call.office.about(call.caller, entity_id, cursor, limit, everyone=everyone))


@routes.post("/entities/{entity_id:path}/events", **gives(Told, {"messages": [MESSAGE_ID], "recipients": ["mindy"]}, 201))
async def happened(entity_id: EntityId, body: EventBody, call: Identified) -> Response:
    """Say that something happened to an entity: whoever the routes name is told by the office."""
    accepted = await call.office.event(call.caller, entity_id, body.type, body.data, entity_type=body.entity_type, client_id=body.id)
    names = tuple(posted.recipient for one in accepted for posted in one.posted if posted.refusal is None)
    return answer(Told(tuple(one.message_id for one in accepted), names), 201)


def _letters(page: Page[Message]) -> Response:
    return answer(Letters(tuple(map(letter, page.items)), page.cursor))
