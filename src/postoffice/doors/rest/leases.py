"""Leases: take mail, wait for it, settle it."""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Annotated, Any

import msgspec
from fastapi import Request, Response
from pydantic import Field
from starlette.requests import ClientDisconnect

from postoffice.core.delivery import Ack, Extend, Leased, Nack, Settled, Settlement, State, Unread
from postoffice.core.letter import LeasedLetter, Letter, leased_letter, letter
from postoffice.core.limits import Limits
from postoffice.doors.hangup import LeaseResponse, hanging_up
from postoffice.doors.rest.answer import Problem, answer, gives
from postoffice.doors.rest.body import BY_ITSELF, MOST_ITEMS, MOST_SECONDS, Body, Unfit, Uuid, router
from postoffice.doors.rest.call import Call, Identified, identified
from postoffice.doors.rest.examples import LETTER, MESSAGE_ID, SESSION_ID, WHEN
from postoffice.doors.rest.messages import MessageId, problem
from postoffice.doors.rest.paging import AT_MOST_A_WAIT, Limit

routes = router("messages")

_encode = msgspec.json.Encoder().encode
_LIMITS = Limits()
_LEASE_SECONDS = f"{_LIMITS.visibility_most.total_seconds():.0f}"
_NONE: Any = ()  # a list would be copied for each call that does not give it


class AckBody(Body):
    """The lease to settle. Without a token only what the caller holds is settled, or held until its lease ran out."""

    token: str | None = Field(None, max_length=64)


class NackBody(AckBody):
    """The lease to give up."""

    delay: float = Field(
        0, ge=0, le=MOST_SECONDS, description=f"Seconds before it is given out again; at most {_LEASE_SECONDS} by default."
    )
    reason: str | None = Field(None, max_length=500)
    untried: bool = Field(default=False, description="Whether it was never begun: then the lease was no attempt.")


class ExtendBody(AckBody):
    """The lease to keep."""

    visible_for: float | None = Field(None, ge=0, le=MOST_SECONDS, description=f"Seconds from now; 1 to {_LEASE_SECONDS} by default.")


class AckItem(AckBody):
    """One message to ack."""

    id: str = Field(max_length=255)


class NackItem(NackBody):
    """One message to nack."""

    id: str = Field(max_length=255)


class ExtendItem(ExtendBody):
    """One lease to extend."""

    id: str = Field(max_length=255)


_Item = AckItem | NackItem | ExtendItem | Unfit


class SettleBody(Body):
    """Several settlements, each answered by itself, in the order ack, nack, extend; at most 100 of them by default."""

    ack: list[Annotated[AckItem, BY_ITSELF]] = Field(_NONE, max_length=MOST_ITEMS)
    nack: list[Annotated[NackItem, BY_ITSELF]] = Field(_NONE, max_length=MOST_ITEMS)
    extend: list[Annotated[ExtendItem, BY_ITSELF]] = Field(_NONE, max_length=MOST_ITEMS)

    def settlements(self, default: timedelta) -> list[Settlement | Unread]:
        """The settlements as the office takes them."""
        items: tuple[_Item, ...] = (*self.ack, *self.nack, *self.extend)
        return [_settlement(item, default) for item in items]


class ReceiveBody(SettleBody):
    """What to take, and what was handled before."""

    limit: int | None = Field(
        None, ge=1, description=f"At most so many: {_LIMITS.receive} unless said otherwise, and at most {_LIMITS.batch} by default."
    )
    visible_for: float | None = Field(
        None, ge=0, le=MOST_SECONDS, description=f"Seconds until an unsettled message is given out again; 1 to {_LEASE_SECONDS} by default."
    )
    one_per_session: bool = False
    of: str | None = Field(None, max_length=105, description="Only from this role, which the caller is in.", examples=["role:reviewer"])
    session_id: Uuid | None = None
    correlation_id: str | None = Field(None, max_length=255)

    def wish(self, default: timedelta) -> dict[str, Any]:
        """The wish as the office takes it."""
        return {
            "visible_for": _span(self.visible_for),
            "settle": self.settlements(default),
            "one_per_session": self.one_per_session,
            "of": self.of,
            "session_id": self.session_id,
            "correlation_id": self.correlation_id,
        }


class WaitBody(ReceiveBody):
    """What to wait for."""

    answer_to: str | None = Field(None, max_length=255, description="Wait for the answer to this message of yours, and nothing else.")
    wait: float | None = Field(
        None, ge=0, le=MOST_SECONDS, description=f"Seconds; {_LIMITS.wait.total_seconds():g} unless said otherwise, {AT_MOST_A_WAIT}."
    )


class Kept(msgspec.Struct, frozen=True):
    """A message that the caller still holds."""

    message: LeasedLetter
    seconds_left: float


class KeptMany(msgspec.Struct, frozen=True):
    """What the caller still holds, in the order it is given out."""

    messages: tuple[Kept, ...]


class PopBody(Body):
    """How many to take for good."""

    limit: int = Field(1, ge=1, description=f"At most {_LIMITS.batch} by default.")
    of: str | None = Field(None, max_length=105, description="Only from this role.")


class SettleResult(msgspec.Struct, frozen=True):
    """One settlement of several: where the message stands now, or why it was not settled."""

    message_id: str
    state: State | None
    problem: Problem | None


class Received(msgspec.Struct, frozen=True):
    """Mail in the caller's hands, and what became of each settlement, in order."""

    messages: tuple[LeasedLetter, ...]
    settled: tuple[SettleResult, ...]


class Waited(Received, frozen=True, kw_only=True, omit_defaults=True):
    """Mail in the caller's hands. Of a wait for one answer that ended without it, how many letters wait besides."""

    timed_out: bool = False
    waiting: int | None = None


class SettledMany(msgspec.Struct, frozen=True):
    """What became of each settlement, in order."""

    settled: tuple[SettleResult, ...]


class Popped(msgspec.Struct, frozen=True):
    """Mail that is the caller's for good."""

    messages: tuple[Letter, ...]


_LEASED = LETTER | {"session_id": SESSION_ID, "token": "0" * 32, "attempt": 1, "number": 7, "leased_until": WHEN}
_SETTLED = {"message_id": MESSAGE_ID, "state": "acked"}


@routes.post("/messages/receive", **gives(Received, {"messages": [_LEASED], "settled": []}))
async def receive(call: Identified, body: ReceiveBody | None = None) -> Response:
    """Settle what was handled, and lease what waits: it comes back if it is not settled in time."""
    office, me = call
    wanted = body or ReceiveBody()
    wish = wanted.wish(office.rules.limits.visibility)
    turned = await office.receive(me, wanted.limit, **wish)
    return _handed(call, wish, turned.leased, turned.settled)


@routes.post("/messages/wait", **gives(Waited, {"messages": [_LEASED], "settled": []}))
async def wait(request: Request, call: Identified, body: WaitBody | None = None) -> Response:
    """Like receive, but wait for mail. Nothing in time is an empty answer; hanging up leaves no lease behind."""
    office, me = call
    wanted = body or WaitBody()
    wish = wanted.wish(office.rules.limits.visibility)
    with hanging_up(request) as leaving:
        patience, again = _span(wanted.wait), partial(identified, request)
        turned = await office.wait(me, wanted.limit, within=patience, again=again, called_off=leaving, answer_to=wanted.answer_to, **wish)
        if leaving.done():
            raise ClientDisconnect
    if wanted.answer_to is not None and not turned.leased:
        settled = tuple(map(_settled, wish["settle"], turned.settled))
        return answer(Waited((), settled, timed_out=True, waiting=(await office.counts(me)).pending))
    return _handed(call, wish, turned.leased, turned.settled)


@routes.get("/messages/in-hand", **gives(KeptMany, {"messages": [{"message": _LEASED, "seconds_left": 12.5}]}))
async def in_hand(call: Identified, limit: Limit = None) -> Response:
    """What the caller has taken and not settled yet, and how long it may keep each."""
    kept = await call.office.in_hand(call.caller, limit)
    return answer(KeptMany(tuple(Kept(leased_letter(one.leased), one.left.total_seconds()) for one in kept)))


@routes.post("/messages/pop", **gives(Popped, {"messages": [LETTER]}))
async def pop(call: Identified, body: PopBody | None = None) -> Response:
    """Take and settle in one act: at most once, by contract."""
    taken = await call.office.pop(call.caller, 1 if body is None else body.limit, of=None if body is None else body.of)
    return answer(Popped(tuple(letter(item.message, item.session_id) for item in taken)))


@routes.post("/messages/settle", **gives(SettledMany, {"settled": [_SETTLED | {"problem": None}]}))
async def settle(body: SettleBody, call: Identified) -> Response:
    """Ack, nack and extend, each answered by itself."""
    office, me = call
    settlements = body.settlements(office.rules.limits.visibility)
    return answer(SettledMany(tuple(map(_settled, settlements, await office.settle(me, settlements)))))


@routes.post("/messages/{message_id:path}/ack", **gives(Settled, _SETTLED))
async def ack(message_id: MessageId, call: Identified, body: AckBody | None = None) -> Response:
    """Done with it."""
    return answer(await call.office.ack(call.caller, message_id, None if body is None else body.token))


@routes.post("/messages/{message_id:path}/nack", **gives(Settled, _SETTLED | {"state": "pending"}))
async def nack(message_id: MessageId, call: Identified, body: NackBody | None = None) -> Response:
    """Not done with it: give it back, at once or after a while."""
    why = body or NackBody()
    delay = timedelta(seconds=why.delay)
    return answer(await call.office.nack(call.caller, message_id, why.token, delay=delay, reason=why.reason, untried=why.untried))


@routes.post("/messages/{message_id:path}/extend", **gives(Settled, _SETTLED | {"state": "leased"}))
async def extend(message_id: MessageId, call: Identified, body: ExtendBody | None = None) -> Response:
    """Still at it: keep the lease longer."""
    more = body or ExtendBody()
    return answer(await call.office.extend(call.caller, message_id, _span(more.visible_for), more.token))


def _settlement(item: _Item, default: timedelta) -> Settlement | Unread:
    match item:
        case AckItem():
            return Ack(item.id, item.token)
        case NackItem():
            return Nack(item.id, item.token, timedelta(seconds=item.delay), item.reason, item.untried)
        case ExtendItem():
            return Extend(item.id, default if item.visible_for is None else timedelta(seconds=item.visible_for), item.token)
        case Unfit(given, why):
            ref = given.get("id") if isinstance(given, dict) else None
            return Unread(ref if isinstance(ref, str) else "", why)


def _span(seconds: float | None) -> timedelta | None:
    return None if seconds is None else timedelta(seconds=seconds)


def _handed(call: Call, wish: dict[str, Any], leased: Sequence[Leased], settled: Sequence[Settled | Exception]) -> Response:
    received = Received(tuple(map(leased_letter, leased)), tuple(map(_settled, wish["settle"], settled)))
    return LeaseResponse(_encode(received), call.office, call.caller, leased)


def _settled(asked: Settlement | Unread, outcome: Settled | Exception) -> SettleResult:
    if isinstance(outcome, Settled):
        return SettleResult(outcome.message_id, outcome.state, None)
    return SettleResult(asked.ref, None, problem(outcome))
