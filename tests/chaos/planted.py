"""Histories with one broken promise each, made by having an ideal office break it."""

from collections.abc import Callable
from typing import Any

import msgspec

from tests.chaos.history import Call, Op, Outcome
from tests.chaos.ideal import Ideal
from tests.chaos.lease import SECOND
from tests.chaos.violation import Kind


def delivered(*, visible_for: int = 10) -> tuple[Ideal, Call]:
    """A message sent and taken, and a second for things to happen in."""
    ideal = Ideal()
    ideal.send("ann", "bob")
    ideal.pass_time(SECOND)
    take = ideal.take("bob", visible_for=visible_for)
    ideal.pass_time(SECOND)
    return ideal, take


def shared() -> list[Call]:
    ideal, _ = delivered()
    ideal.letters[0].state = "pending"
    ideal.take("bob")
    ideal.drain()
    return ideal.calls


def shared_by_two_calls_at_once() -> list[Call]:
    ideal, take = delivered()
    (item,) = take.items
    other = msgspec.structs.replace(take, id="other", items=(msgspec.structs.replace(item, token="other"),))
    ideal.calls.append(other)
    ideal.drain()
    return ideal.calls


def risen() -> list[Call]:
    ideal, _ = delivered()
    ideal.settle(Op.ACK, ideal.grips[0])
    ideal.letters[0].state = "pending"
    ideal.pass_time(30 * SECOND)
    ideal.take("bob")
    return ideal.calls


def late_after_another() -> list[Call]:
    ideal, _ = delivered(visible_for=3)
    ideal.pass_time(3 * SECOND)
    ideal.take("bob")
    ideal.pass_time(SECOND)
    ideal.letters[0].token = ideal.grips[0].token
    ideal.settle(Op.ACK, ideal.grips[0])
    return ideal.calls


def robbed(op: Op = Op.ACK) -> list[Call]:
    ideal, _ = delivered()
    ideal.letters[0].token = "somebody else's"
    ideal.settle(op, ideal.grips[0])
    ideal.drain()
    return ideal.calls


def robbed_after_extending() -> list[Call]:
    ideal, _ = delivered(visible_for=3)
    ideal.settle(Op.EXTEND, ideal.grips[0])
    ideal.pass_time(5 * SECOND)
    ideal.letters[0].token = "somebody else's"
    ideal.settle(Op.ACK, ideal.grips[0])
    ideal.drain()
    return ideal.calls


def out_of_order(*, together: bool = False) -> list[Call]:
    ideal = Ideal()
    for _ in range(2):
        ideal.send("ann", "bob")
        ideal.pass_time(10)
    if together:
        take = ideal.take("bob", 2)
        ideal.calls[-1] = msgspec.structs.replace(take, items=take.items[::-1])
        return ideal.calls
    ideal.letters[0].state = "hidden"
    ideal.letters[0].due = ideal.now + SECOND
    ideal.take("bob")
    ideal.pass_time(2 * SECOND)
    ideal.drain()
    return ideal.calls


def misnumbered() -> list[Call]:
    ideal = Ideal()
    for number in (2, 1):
        ideal.send("ann", "bob")
        ideal.letters[-1].number = number
        ideal.pass_time(10)
    ideal.drain()
    return ideal.calls


def never_sent(**changed: Any) -> list[Call]:
    ideal, take = delivered()
    ideal.settle(Op.ACK, ideal.grips[0])
    item = msgspec.structs.replace(take.items[0], **changed)
    return [call if call.op is not Op.TAKE else msgspec.structs.replace(call, items=(item,)) for call in ideal.calls]


def refused_and_delivered() -> list[Call]:
    ideal, _ = delivered()
    ideal.calls[0] = msgspec.structs.replace(ideal.calls[0], outcome=Outcome.REFUSED, code="database_lost", message="")
    return ideal.calls


def wrong_length() -> list[Call]:
    ideal, take = delivered()
    item = msgspec.structs.replace(take.items[0], until=take.items[0].until + 7200 * SECOND)
    return [ideal.calls[0], msgspec.structs.replace(take, items=(item,))]


def unpromised() -> list[Call]:
    ideal, _ = delivered()
    call = ideal.send("ann", "bob", outcome=Outcome.REFUSED, stored=False)
    return [*ideal.calls[:-1], msgspec.structs.replace(call, code="mail_error")]


PLANTED: list[tuple[Kind, Callable[[], list[Call]]]] = [
    (Kind.SHARED, shared),
    (Kind.SHARED, shared_by_two_calls_at_once),
    (Kind.RISEN, risen),
    (Kind.LATE, late_after_another),
    (Kind.ROBBED, robbed),
    (Kind.ROBBED, lambda: robbed(Op.NACK)),
    (Kind.ROBBED, lambda: robbed(Op.EXTEND)),
    (Kind.ROBBED, robbed_after_extending),
    (Kind.DISORDER, out_of_order),
    (Kind.DISORDER, lambda: out_of_order(together=True)),
    (Kind.MISNUMBERED, misnumbered),
    (Kind.STRANGER, lambda: never_sent(client_id="nobody's")),
    (Kind.STRANGER, lambda: never_sent(content="Something else.")),
    (Kind.STRANGER, lambda: never_sent(priority=1)),
    (Kind.REFUSED, refused_and_delivered),
    (Kind.LENGTH, wrong_length),
    (Kind.UNPROMISED, unpromised),
]
