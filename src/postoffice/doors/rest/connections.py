"""Connections: ask, approve, refuse, end."""

from datetime import datetime
from typing import Annotated

import msgspec
from fastapi import Path, Query, Response
from pydantic import Field

from postoffice.core.connection import Assurance, Connection, Status
from postoffice.doors.consent import Pending, pending_view
from postoffice.doors.rest.answer import answer, gives
from postoffice.doors.rest.body import Body, router
from postoffice.doors.rest.call import Identified
from postoffice.doors.rest.examples import CONNECTION_ID, WHEN
from postoffice.doors.rest.paging import Cursor, Limit

routes = router("connections")

ConnectionId = Annotated[str, Path(max_length=36, examples=[CONNECTION_ID])]
Everyone = Annotated[bool, Query(description="Of all agents; for the owner only.")]


class RequestBody(Body):
    """Whom to ask."""

    target_agent_name: str = Field(min_length=1, max_length=100, examples=["bob-agent"])
    message: str | None = Field(None, max_length=500, examples=["Hi Bob, I'd like to collaborate on the project."])


class ApproveBody(Body):
    """The code that people passed on."""

    verification_code: str = Field(max_length=32, examples=["XC-992"])


class Requested(msgspec.Struct, frozen=True, kw_only=True):
    """A request, and the code that goes from person to person."""

    connection_id: str
    verification_code: str
    target_agent_name: str
    status: Status


class Approved(msgspec.Struct, frozen=True, kw_only=True):
    """Two agents that may write to each other."""

    connection_id: str
    status: Status
    connected_agent_name: str
    assurance: Assurance | None


class PendingList(msgspec.Struct, frozen=True):
    """Requests that wait, either way."""

    pending: tuple[Pending, ...]
    cursor: str | None


class Consent(msgspec.Struct, frozen=True, kw_only=True):
    """A request or connection, whatever became of it."""

    connection_id: str
    from_agent_name: str
    to_agent_name: str
    status: Status
    assurance: Assurance | None
    message: str | None
    created_at: datetime
    updated_at: datetime


class Consents(msgspec.Struct, frozen=True):
    """Requests and connections, newest first."""

    connections: tuple[Consent, ...]
    cursor: str | None


_REQUESTED = {"connection_id": CONNECTION_ID, "verification_code": "XC-992", "target_agent_name": "bob-agent", "status": "PENDING"}
_APPROVED = {"connection_id": CONNECTION_ID, "status": "ACTIVE", "connected_agent_name": "alice-agent", "assurance": "in_band"}
PENDING_EXAMPLE = {
    "connection_id": CONNECTION_ID,
    "from_agent_name": "charlie-agent",
    "to_agent_name": "bob-agent",
    "direction": "incoming",
    "message": "Want to chat?",
    "verification_code": "AB-123",
    "created_at": WHEN,
    "expires_at": "2026-02-22T10:00:00Z",
}
_CONSENT = {
    "connection_id": CONNECTION_ID,
    "from_agent_name": "alice-agent",
    "to_agent_name": "bob-agent",
    "status": "ACTIVE",
    "assurance": "human",
    "message": None,
    "created_at": WHEN,
    "updated_at": WHEN,
}


@routes.post("/connections/request", **gives(Requested, _REQUESTED, 201))
async def request(body: RequestBody, call: Identified) -> Response:
    """Ask another agent for a connection."""
    made = await call.office.request_connection(call.caller, body.target_agent_name, body.message)
    return answer(Requested(connection_id=made.id, verification_code=made.code, target_agent_name=made.target, status=made.status), 201)


@routes.post("/connections/approve", **gives(Approved, _APPROVED))
async def approve(body: ApproveBody, call: Identified) -> Response:
    """Give consent by the code."""
    return answer(_approved(await call.office.approve_connection(call.caller, body.verification_code)))


@routes.get("/connections", **gives(Consents, {"connections": [_CONSENT], "cursor": None}))
async def connections(
    call: Identified, status: Status | None = None, cursor: Cursor = None, limit: Limit = None, everyone: Everyone = False
) -> Response:
    """The caller's requests and connections, newest first."""
    page = await call.office.connections(call.caller, status, cursor, limit, everyone=everyone)
    return answer(Consents(tuple(map(_consent, page.items)), page.cursor))


@routes.get("/connections/pending", **gives(PendingList, {"pending": [PENDING_EXAMPLE], "cursor": None}))
async def pending(call: Identified, cursor: Cursor = None, limit: Limit = None) -> Response:
    """Requests that wait: `incoming` for the caller to answer, `outgoing` for others."""
    page = await call.office.connections(call.caller, Status.PENDING, cursor, limit)
    return answer(PendingList(tuple(pending_view(item, call.caller) for item in page.items), page.cursor))


@routes.get("/connections/{connection_id}", **gives(Consent, _CONSENT))
async def connection(connection_id: ConnectionId, call: Identified) -> Response:
    """One request or connection."""
    return answer(_consent(await call.office.connection(call.caller, connection_id)))


@routes.post("/connections/{connection_id}/approve", **gives(Approved, _APPROVED | {"assurance": "owner"}))
async def approve_by_id(connection_id: ConnectionId, call: Identified) -> Response:
    """Give consent without a code; for the owner only."""
    return answer(_approved(await call.office.approve_for(call.caller, connection_id)))


@routes.post("/connections/{connection_id}/reject", **gives(Consent, _CONSENT | {"status": "REJECTED"}))
async def reject(connection_id: ConnectionId, call: Identified) -> Response:
    """Refuse a request, or take one's own back."""
    return answer(_consent(await call.office.reject_connection(call.caller, connection_id)))


@routes.post("/connections/{connection_id}/end", **gives(Consent, _CONSENT | {"status": "ENDED"}))
async def end(connection_id: ConnectionId, call: Identified) -> Response:
    """End a connection; either side may."""
    return answer(_consent(await call.office.end_connection(call.caller, connection_id)))


def _approved(made: Connection) -> Approved:
    return Approved(connection_id=made.id, status=made.status, connected_agent_name=made.requester, assurance=made.assurance)


def _consent(made: Connection) -> Consent:
    return Consent(
        connection_id=made.id,
        from_agent_name=made.requester,
        to_agent_name=made.target,
        status=made.status,
        assurance=made.assurance,
        message=made.note,
        created_at=made.created_at,
        updated_at=made.updated_at,
    )
