"""The checker finds every planted violation by its name, and accuses no valid history."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from tests.chaos.checker import Checker, Excuses, Remains
from tests.chaos.form import TIMES
from tests.chaos.history import Call, Op, Outcome
from tests.chaos.ideal import Ideal
from tests.chaos.lease import SECOND
from tests.chaos.planted import PLANTED, out_of_order
from tests.chaos.violation import Kind

Numbers = st.integers(0, 2**16)
Steps = st.lists(st.tuples(st.integers(0, 12), Numbers, Numbers, Numbers), max_size=60)
_LONGEST = 3 * SECOND // 10


def found(calls: list[Call], remains: Remains | None = None) -> set[Kind]:
    return {violation.kind for violation in Checker(calls, remains or Remains()).violations()}


def play(steps: list[tuple[int, int, int, int]]) -> Ideal:
    """What these steps make of an ideal office, drained at the end."""
    ideal = Ideal()
    for kind, one, two, three in steps:
        ideal.pass_time(1 + one * 7919 % _LONGEST)
        slow: dict[str, Any] = {"lead": 1 + two * 104729 % _LONGEST, "lag": 1 + three * 7919 % _LONGEST}
        if kind < 5:
            _send(ideal, kind, one, (f"sender-{one % 3}", f"box-{two % 2}", 1 + three % 2), three % 2 == 0, slow)
        elif kind < 9:
            _take(ideal, kind, (f"box-{two % 2}", 1 + one % 3), 1 + three % 20, slow)
        elif kind < 12 and ideal.grips:
            op = (Op.ACK, Op.NACK, Op.EXTEND)[0 if kind == 9 else two % 3]
            unknown: dict[str, Any] = {"outcome": Outcome.UNKNOWN, "done": three % 2 == 0} if kind == 11 else {}
            ideal.settle(op, ideal.grips[one % len(ideal.grips)], **unknown, **slow)
        else:
            ideal.pass_time(1 + three % 20 * SECOND)
    ideal.drain()
    return ideal


def _send(ideal: Ideal, kind: int, which: int, letter: tuple[str, str, int], stored: bool, slow: dict[str, Any]) -> None:  # noqa: FBT001
    sends = [call for call in ideal.calls if call.op is Op.SEND]
    if kind == 2:
        ideal.send(*letter, outcome=Outcome.UNKNOWN, stored=stored, **slow)
    elif kind == 3:
        ideal.send(*letter, outcome=Outcome.REFUSED, stored=False, **slow)
        ideal.calls[-1] = msgspec.structs.replace(ideal.calls[-1], code="database_lost")
    elif kind == 4 and sends:
        ideal.send_again(sends[which % len(sends)], **slow)
    else:
        ideal.send(*letter, **slow)


def _take(ideal: Ideal, kind: int, wish: tuple[str, int], visible_for: int, slow: dict[str, Any]) -> None:
    if kind == 7:
        ideal.take(*wish, visible_for, outcome=Outcome.UNKNOWN, lead=slow["lead"])
    elif kind == 8:
        ideal.take_and_give_back(*wish, lead=slow["lead"])
    else:
        ideal.take(*wish, visible_for, **slow)


@settings(deadline=None, max_examples=300 * TIMES)
@given(Steps)
def test_a_valid_history_is_not_accused(steps: list[tuple[int, int, int, int]]) -> None:
    ideal = play(steps)
    assert Checker(ideal.calls, Remains()).violations() == []


def without(calls: list[Call], message: str) -> list[Call]:
    """The history, had nobody ever been given this message."""
    return [msgspec.structs.replace(call, items=tuple(item for item in call.items if item.message != message)) for call in calls]


@settings(deadline=None, max_examples=100 * TIMES)
@given(Steps, Numbers)
def test_a_loss_planted_anywhere_is_found(steps: list[tuple[int, int, int, int]], which: int) -> None:
    ideal = play(steps)
    accepted = [call for call in ideal.calls if call.op is Op.SEND and call.answered]
    assume(accepted)
    lost = accepted[which % len(accepted)]
    (violation,) = [one for one in Checker(without(ideal.calls, lost.message), Remains()).violations() if one.kind is Kind.LOST]
    assert lost.client_id in violation.what
    assert Kind.LOST not in found(without(ideal.calls, lost.message), Remains(dead=frozenset({lost.message})))


@settings(deadline=None, max_examples=100 * TIMES)
@given(Steps, Numbers)
@example([(0, 0, 0, 0), (5, 0, 0, 0), (0, 741, 0, 0), (10, 0, 56, 0), (10, 0, 65536, 0), (5, 0, 0, 0)], 0)
def test_a_message_that_rises_again_anywhere_is_found(steps: list[tuple[int, int, int, int]], which: int) -> None:
    ideal = play(steps)
    acked = {call.message for call in ideal.calls if call.op is Op.ACK and call.answered}
    letters = [letter for letter in ideal.letters if letter.message in acked]  # of the others nobody can be sure
    assume(letters)
    letter = letters[which % len(letters)]
    ideal.pass_time(3600 * SECOND)
    letter.state = "pending"
    ideal.take(letter.send.to, 1)
    assert found(ideal.calls) == {Kind.RISEN}


@settings(deadline=None, max_examples=100 * TIMES)
@given(Steps, Numbers)
def test_a_message_made_twice_anywhere_is_found(steps: list[tuple[int, int, int, int]], which: int) -> None:
    ideal = play(steps)
    assume(ideal.letters)
    letter = ideal.letters[which % len(ideal.letters)]
    twin = msgspec.structs.replace(ideal._item(letter), message="twin", number=len(ideal.letters) + 1, attempt=1, token="twin")
    ideal.take("box-0")
    take = msgspec.structs.replace(ideal.calls[-1], agent=letter.send.to)
    ideal.calls[-1] = msgspec.structs.replace(take, items=(msgspec.structs.replace(twin, until=take.ended_wall + 10 * SECOND),))
    assert found(ideal.calls) == {Kind.DOUBLED}


@pytest.mark.parametrize(("kind", "plant"), PLANTED, ids=lambda value: value.name if isinstance(value, Kind) else "")
def test_a_planted_violation_is_found_and_named(kind: Kind, plant: Callable[[], list[Call]]) -> None:
    assert found(plant()) == {kind}


def test_what_is_still_waiting_at_the_end_is_found() -> None:
    assert found([], Remains(waiting=1)) == {Kind.LEFT}


def test_every_kind_of_violation_has_been_planted() -> None:
    elsewhere = {Kind.LOST, Kind.DOUBLED, Kind.LEFT}
    assert {kind for kind, _ in PLANTED} | elsewhere == set(Kind)


def test_a_taker_that_hung_up_excuses_what_it_held_back_and_nothing_later() -> None:
    ideal = Ideal()
    for _ in range(4):
        ideal.send("ann", "bob")
        ideal.pass_time(10)
    ideal.take_and_give_back("bob", 1)
    ideal.pass_time(10)
    ideal.take("bob")
    ideal.pass_time(SECOND)
    ideal.take("bob")
    assert found(ideal.calls) == {Kind.LOST}  # of two nobody has been given yet
    ideal.pass_time(SECOND)
    ideal.letters[2].state, ideal.letters[2].due = "hidden", ideal.now + SECOND
    ideal.take("bob")
    ideal.drain()
    assert found(ideal.calls) == {Kind.DISORDER}


def test_a_time_of_trouble_excuses_what_was_given_out_in_it_and_nothing_else() -> None:
    calls = out_of_order()
    later = min((call for call in calls if call.items), key=lambda call: call.ended)
    for troubled, kinds in (((later.begun, later.ended), set()), ((later.ended + 1, later.ended + SECOND), {Kind.DISORDER})):
        excuses = Excuses(troubled=[troubled])
        assert {violation.kind for violation in Checker(calls, Remains(), excuses).violations()} == kinds
