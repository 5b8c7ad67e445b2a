"""A backup that is not the office as it was at one moment is found out."""

from tests.chaos.history import Call, Op
from tests.chaos.ideal import Ideal
from tests.chaos.lease import SECOND
from tests.chaos.snapshot import Snapshot
from tests.chaos.violation import Kind
from tests.proof.books import Books


def busy_office() -> tuple[list[Call], int, int]:
    """Four messages, two of them acked; a moment after each first half and one before the rest."""
    ideal = Ideal()
    for half in range(2):
        for _ in range(2):
            ideal.send("ann", "bob")
            ideal.pass_time(SECOND)
        ideal.take("bob")
        ideal.pass_time(SECOND)
        ideal.settle(Op.ACK, ideal.grips[-1])
        ideal.pass_time(SECOND)
        if half == 0:
            begun = ideal.now
            ideal.pass_time(SECOND)
            ended = ideal.now
            ideal.pass_time(SECOND)
    return ideal.calls, begun, ended


def found(messages: list[tuple[str, int]], states: dict[int, str]) -> set[Kind]:
    """What is said of a backup with these messages, by client id and number, and these standings."""
    calls, begun, ended = busy_office()
    sent = [call.client_id for call in calls if call.op is Op.SEND]
    rows = [(f"message-{number}", sent[int(client_id)] if client_id.isdigit() else client_id) for client_id, number in messages]
    standings = [(f"message-{number}", "bob", number, state, None) for number, state in states.items()]
    snapshot = Snapshot(begun, ended, Books(rows, standings, (), ()))
    return {violation.kind for violation in snapshot.violations(calls)}


HALF = [("0", 0), ("1", 1)]


def test_the_office_as_it_was_at_one_moment_is_not_accused() -> None:
    assert found(HALF, {0: "acked", 1: "pending"}) == set()


def test_what_was_accepted_before_and_is_missing_is_found() -> None:
    assert found([("1", 1)], {1: "pending"}) == {Kind.LOST, Kind.RISEN}


def test_what_began_only_afterwards_is_found() -> None:
    assert found([*HALF, ("2", 2)], {0: "acked", 1: "pending", 2: "pending"}) == {Kind.STRANGER}


def test_a_later_message_without_an_earlier_one_is_found() -> None:
    assert found([*HALF, ("3", 3)], {0: "acked", 1: "pending", 3: "pending"}) == {Kind.STRANGER, Kind.LOST}


def test_one_message_twice_is_found() -> None:
    assert found([*HALF, ("1", 9)], {0: "acked", 1: "pending"}) == {Kind.DOUBLED}


def test_a_message_of_nobody_is_found() -> None:
    assert found([*HALF, ("nobody's", 9)], {0: "acked", 1: "pending"}) == {Kind.STRANGER}


def test_an_ack_that_is_forgotten_is_found() -> None:
    assert found(HALF, {0: "pending", 1: "pending"}) == {Kind.RISEN}


def test_an_ack_that_nobody_gave_is_found() -> None:
    assert found(HALF, {0: "acked", 1: "acked"}) == {Kind.LATE}
