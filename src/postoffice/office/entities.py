"""Verbs about entities: notes that are kept with them, and events that the routes tell of."""

from collections.abc import Sequence
from typing import Any

from postoffice.acts.mail.send import Send
from postoffice.core.agent import Caller
from postoffice.core.draft import Draft
from postoffice.core.entity import check_entity_type
from postoffice.core.errors import Invalid
from postoffice.core.message import Accepted, Message, is_note
from postoffice.core.names import EVERYONE, SYSTEM
from postoffice.core.routing import Route, routes_for
from postoffice.core.views import Entity, Page
from postoffice.office.checks import Checks
from postoffice.office.sending import Sending
from postoffice.store.store import Store


class Entities:
    """Notes are their authors' words, events the office's."""

    def __init__(self, store: Store, checks: Checks, sending: Sending, routes: tuple[Route, ...], *, strangers: bool) -> None:
        self._store = store
        self._checks = checks
        self._sending = sending
        self._routes = routes
        self._strangers = strangers

    async def note(
        self, caller: Caller, entity_id: str, entity_type: str, note: str, notify: Sequence[str] = (), *, client_id: str | None = None
    ) -> Accepted:
        """Keep a note with an entity, and send it to whoever should know."""
        check_entity_type(entity_type)
        draft = Draft(
            to=EVERYONE if list(notify) == [EVERYONE] else tuple(notify),
            type=f"{entity_type}.note",
            content=note,
            ref_id=entity_id,
            ref_type=entity_type,
            client_id=client_id,
        )
        return await self._sending.publish(caller, draft, note=True)

    async def event(
        self, caller: Caller, entity_id: str, type: str, data: Any = None, *, entity_type: str | None = None, client_id: str | None = None
    ) -> list[Accepted]:
        """Something happened to an entity: the office tells everyone the routes name. If one refuses the message, the others still get it."""
        payload = {"entity_id": entity_id, "event": type, "by": caller.name, "data": data}
        if entity_type is not None:
            check_entity_type(entity_type)
        if is_note(type):
            raise Invalid(what="type", why="a note is posted as a note, with who should know")
        drafts = self.routed(entity_id, type, payload, entity_type=entity_type, client_id=client_id)
        outcomes = await self._store.do_each(
            [Send(SYSTEM, draft, verified=True, strangers=self._strangers, doer=caller.name) for draft in drafts]
        )
        refusals = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
        if refusals:
            raise refusals[0]
        return [outcome for outcome in outcomes if isinstance(outcome, Accepted)]

    def routed(
        self, entity_id: str, type: str, payload: Any, *, entity_type: str | None = None, client_id: str | None = None
    ) -> list[Draft]:
        """The mail that an event comes to by the routes."""
        return [
            self._checks.draft(
                Draft(
                    to=name,
                    type=type,
                    subject=f"{type} {entity_id}",
                    payload=payload,
                    ref_id=entity_id,
                    ref_type=entity_type or type.partition(".")[0],
                    priority=route.priority,
                    client_id=client_id,
                )
            )
            for route in routes_for(type, self._routes)
            for name in route.to
        ]

    async def notes(self, entity_id: str, cursor: str | None = None, limit: int | None = None) -> Page[Message]:
        """The notes kept with an entity, newest first."""
        return await self._store.notes.page(self._checks.ref(entity_id), cursor, self._checks.page(limit))

    async def about(
        self, caller: Caller, entity_id: str, cursor: str | None = None, limit: int | None = None, *, everyone: bool = False
    ) -> Page[Message]:
        """What was said about an entity: its notes, and the messages naming it that the caller sent or got."""
        reader = None if self._checks.everyone(caller, wanted=everyone) else caller.name
        return await self._store.notes.about(self._checks.ref(entity_id), reader, cursor, self._checks.page(limit))

    async def entities(self, cursor: str | None = None, limit: int | None = None) -> Page[Entity]:
        """What notes are about."""
        return await self._store.notes.entities(self._checks.cursor(cursor), self._checks.page(limit))
