"""The ledger: who has topics, mail that goes by it, what was set aside, and agents of other software."""

from typing import Annotated, Any

import msgspec
from fastapi import Path, Query, Request, Response
from pydantic import Field

from postoffice.core.draft import Draft
from postoffice.core.entity import ENTITY_TYPES, NAMED
from postoffice.core.ledger import Account, Record, Topic
from postoffice.core.views import LedgerStatus
from postoffice.doors.rest.answer import answer, gives
from postoffice.doors.rest.body import Body, router
from postoffice.doors.rest.call import Identified
from postoffice.doors.rest.examples import MESSAGE_ID, SESSION_ID, WHEN
from postoffice.doors.rest.messages import Sent, sent
from postoffice.doors.rest.paging import Cursor, Limit, NameText

routes = router("ledger")

TopicId = Annotated[str, Path(max_length=40, examples=["0.0.12345"])]
_LAST_NUMBER = 2**53


class AccountBody(Body):
    """Where an agent is on the ledger."""

    account_id: str = Field(max_length=40, examples=["0.0.1001"])
    inbound_topic_id: str = Field(max_length=40, examples=["0.0.2001"])
    outbound_topic_id: str = Field(max_length=40, examples=["0.0.2002"])
    profile: str | None = Field(None, max_length=20_000, description="The profile that was published for it, as JSON text.")


class TopicBody(Body):
    """Why a topic is watched."""

    about: str = Field(examples=["task"], description=f"{NAMED}.", json_schema_extra={"enum": list(ENTITY_TYPES)})


class MessageBody(Body):
    """A message about an entity, as `send_message` takes it."""

    to_agent: str = Field(max_length=100, examples=["mindy"], description="An agent, a person, or ALL.")
    message_type: str = Field("fyi", max_length=255, examples=["review.request"], description="feedback, fyi, review.request, task.note …")
    subject: str = Field(max_length=255, examples=["Ready for review"])
    payload: Any = None
    ref_id: str | None = Field(None, max_length=255, examples=["0.0.12345"], description="The entity it is about.")
    ref_type: str | None = Field(None, max_length=255, examples=["task"], description="task, phase, stage, project or agent.")
    priority: int | None = Field(None, ge=1, le=5, description="1 urgent, 2 high, 3 normal, 4 low, 5 fyi; 1 and 2 are delivered at once.")
    id: str | None = Field(None, max_length=255, description="Your own id: the same message is sent once.")


class ConnectBody(Body):
    """An agent of other software to ask for a connection."""

    account_id: str = Field(max_length=40, examples=["0.0.654321"])
    inbound_topic_id: str = Field(max_length=40, examples=["0.0.789101"])
    message: str | None = Field(None, max_length=500, examples=["Shall we work together?"])


class Accounts(msgspec.Struct, frozen=True):
    """Agents with topics; those of other software have no outbound one."""

    accounts: tuple[Account, ...]


class Topics(msgspec.Struct, frozen=True):
    """Topics watched besides agents' own."""

    topics: tuple[Topic, ...]


class LedgerOverview(msgspec.Struct, frozen=True):
    """The ledger in numbers, and the bridge to it where this process has one."""

    status: LedgerStatus
    bridge: dict[str, Any] | None


class Records(msgspec.Struct, frozen=True):
    """What was made of a topic's messages, in their order."""

    records: tuple[Record, ...]


class Quarantine(msgspec.Struct, frozen=True):
    """What was seen on the ledger and not believed, and why."""

    records: tuple[Record, ...]
    cursor: str | None


class AskedAbroad(msgspec.Struct, frozen=True):
    """A request on its way to the ledger; the answer comes from there."""

    post_id: str


_ACCOUNT = {"agent": "quinn", "account_id": "0.0.1001", "inbound_topic_id": "0.0.2001", "outbound_topic_id": "0.0.2002"}
_TOPIC = {"topic_id": "0.0.12345", "kind": "entity", "agent": None, "about": "task"}
_STATUS = {
    "status": {
        "kept": True,
        "privacy": "full",
        "log": False,
        "agents": 3,
        "topics": 1,
        "posts": {"confirmed": 12, "waiting": 1},
        "quarantined": 0,
        "troubles": {},
    },
    "bridge": {"operator": "0.0.1001", "network": "testnet", "speaking": True, "asked": 480, "trouble": None},
}
_RECORD = {
    "topic_id": "0.0.2001",
    "sequence": 7,
    "payer": "0.0.1001",
    "at": "1761000000.000000001",
    "verdict": "confirmed",
    "message_id": MESSAGE_ID,
    "reason": None,
    "body": "{}",
}
_FORGED = _RECORD | {"verdict": "quarantined", "message_id": None, "reason": "it says to be from 0.0.1001, but 0.0.666 paid for it"}
_SENT = {
    "message_id": MESSAGE_ID,
    "session_id": SESSION_ID,
    "subject": "Ready for review",
    "created_at": WHEN,
    "id": MESSAGE_ID,
    "duplicate": False,
    "recipients": [{"recipient": "mindy", "session_id": SESSION_ID, "ledger": "awaiting"}],
}


@routes.post("/ledger/messages", **gives(Sent, _SENT, 201))
async def publish(body: MessageBody, call: Identified) -> Response:
    """Send by the ledger. The answer says of each recipient how it goes: `awaiting` the ledger, or `direct` where there is none."""
    has_payload = "payload" in body.model_fields_set
    draft = Draft(
        to=body.to_agent,
        type=body.message_type,
        subject=body.subject,
        content=None if has_payload else body.subject,
        payload=body.payload if has_payload else msgspec.UNSET,
        ref_id=body.ref_id,
        ref_type=body.ref_type,
        priority=body.priority,
        client_id=body.id,
    )
    return answer(sent(await call.office.publish(call.caller, draft)), 201)


@routes.get("/ledger/status", **gives(LedgerOverview, _STATUS))
async def status(call: Identified, request: Request) -> Response:
    """What waits for the ledger, what was confirmed, what is in the way."""
    bridge = next((one for one in getattr(request.app.state, "bridges", ()) if one.name == "ledger"), None)
    return answer(LedgerOverview(await call.office.ledger.status(), None if bridge is None else await bridge.facts()))


@routes.get("/ledger/accounts", **gives(Accounts, {"accounts": [_ACCOUNT]}))
async def accounts(call: Identified) -> Response:
    """Agents with topics on the ledger."""
    return answer(Accounts(tuple(await call.office.ledger.accounts())))


@routes.put("/ledger/accounts/{name}", **gives(Account, _ACCOUNT))
async def keep_account(name: NameText, body: AccountBody, call: Identified) -> Response:
    """Say where an agent is on the ledger; for the owner only. `postoffice ledger setup` does this."""
    kept = Account(agent=name, account_id=body.account_id, inbound_topic_id=body.inbound_topic_id, outbound_topic_id=body.outbound_topic_id)
    await call.office.ledger.keep_account(call.caller, kept, body.profile)
    return answer(kept)


@routes.get("/ledger/topics", **gives(Topics, {"topics": [_TOPIC]}))
async def topics(call: Identified) -> Response:
    """Topics watched besides agents' own: entities', and those where ours meet agents of other software."""
    return answer(Topics(tuple(await call.office.ledger.topics())))


@routes.put("/ledger/topics/{topic_id}", **gives(Topic, _TOPIC))
async def watch(topic_id: TopicId, body: TopicBody, call: Identified) -> Response:
    """Watch an entity's topic for notes and events; for the owner only."""
    await call.office.ledger.watch_topic(call.caller, topic_id, "entity", body.about)
    return answer(Topic(topic_id=topic_id, kind="entity", agent=None, about=body.about))


@routes.get("/ledger/topics/{topic_id}/records", **gives(Records, {"records": [_RECORD]}))
async def records(
    topic_id: TopicId,
    call: Identified,
    after: Annotated[int, Query(ge=0, le=_LAST_NUMBER, description="A sequence number.")] = 0,
    limit: Limit = None,
) -> Response:
    """What was made of a topic's messages; for the owner only."""
    return answer(Records(tuple(await call.office.ledger.records(call.caller, topic_id, after, limit))))


@routes.get("/ledger/quarantine", **gives(Quarantine, {"records": [_FORGED], "cursor": None}))
async def quarantine(call: Identified, cursor: Cursor = None, limit: Limit = None) -> Response:
    """What was seen on the ledger and set aside: forged, malformed, too large, of unknown senders; for the owner only."""
    page = await call.office.ledger.quarantine(call.caller, cursor, limit)
    return answer(Quarantine(page.items, page.cursor))


@routes.post("/ledger/connections", **gives(AskedAbroad, {"post_id": MESSAGE_ID}, 201))
async def connect(body: ConnectBody, call: Identified) -> Response:
    """Ask an agent of other software for a connection, on its inbound topic."""
    return answer(AskedAbroad(await call.office.foreign.ask(call.caller, body.account_id, body.inbound_topic_id, body.message)), 201)
