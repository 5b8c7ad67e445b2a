"""A window is rung once for many letters, again at growing distances, and then its senders are told."""

from itertools import pairwise

from postoffice.core.ringing import AGAIN_SECONDS, MOST_RINGS, Letter, Ringing

FIFTY = [Letter(id=f"m{number}", priority=3) for number in range(50)]
ONE = [Letter(id="m", priority=3)]


def test_fifty_letters_are_one_ring() -> None:
    due = Ringing().due(FIFTY, 0.0)
    assert len(due) == 50
    rung = Ringing().ring(due, 0.0)
    assert rung.due(FIFTY, 0.1) == ()
    assert rung.begun().due(FIFTY, 0.1) == ()


def test_no_ring_goes_out_while_one_is_under_way() -> None:
    rung = Ringing().ring(["m"], 0.0)
    later = [*ONE, Letter(id="n", priority=2)]
    assert rung.due(later, 1e6) == ()
    assert rung.begun().due(later, 1.0) == ("n",)


def test_what_was_read_meanwhile_rings_nobody() -> None:
    rung = Ringing().ring(["m"], 0.0).heed([])
    assert rung == Ringing()
    assert rung.due([], 1e6) == ()


def test_only_urgent_and_usual_mail_of_others_rings_and_notices_that_somebody_waits_for() -> None:
    waiting = [
        Letter(id=f"{priority}{notice or ''}", priority=priority, notice=notice) for notice in (False, True) for priority in range(1, 6)
    ]
    assert Ringing().due(waiting, 0.0) == ("1", "2", "3", "1True", "2True")


def test_a_letter_is_rung_for_again_after_1_5_and_15_minutes_and_then_given_up_once() -> None:
    ringing, now, rings = Ringing(), 0.0, []
    while ringing.next_at(ONE) is not None:
        now = max(now, ringing.next_at(ONE) or 0.0)
        if due := ringing.due(ONE, now):
            ringing = ringing.ring(due, now).begun()
            rings.append(now)
        elif vain := ringing.in_vain(now):
            ringing = ringing.give_up(vain)
    assert [later - earlier for earlier, later in pairwise(rings)] == list(AGAIN_SECONDS)
    assert len(rings) == MOST_RINGS == 4
    assert ringing.in_vain(1e9) == ()
    assert ringing.due(ONE, 1e9) == ()


def test_a_new_letter_puts_off_the_next_ring_for_the_old_ones() -> None:
    ringing = Ringing().ring(["m"], 0.0).begun()
    both = [*ONE, Letter(id="n", priority=3)]
    ringing = ringing.ring(ringing.due(both, 59.0), 59.0).begun()
    assert ringing.due(both, 60.0) == ()
    assert ringing.due(both, 119.0) == ("m", "n")


def test_what_a_turn_was_told_of_is_not_rung_for_at_once() -> None:
    told = Ringing().tell(["m"], 0.0)
    assert told.due(ONE, 1.0) == ()
    assert told.due(ONE, AGAIN_SECONDS[0]) == ("m",)


def test_a_ring_by_hand_is_due_at_once_for_whatever_waits_and_once() -> None:
    low = [Letter(id="m", priority=5), Letter(id="n", priority=3, notice=True)]
    assert Ringing().due(low, 0.0) == ()
    asked = Ringing().ask()
    assert asked.due(low, 0.0) == ("m", "n")
    assert asked.ring(("m", "n"), 0.0).begun().due(low, 0.1) == ()
    assert asked.heed([]).due(low, 0.1) == (), "what it was asked for was taken"


def test_a_ring_by_hand_adds_none_to_one_under_way() -> None:
    rung = Ringing().ring(["m"], 0.0)
    assert rung.ask() == rung
    assert rung.begun().ask().due(ONE, 0.1) == ("m",)


def test_what_another_window_was_rung_for_is_not_rung_for_here_until_that_window_ends() -> None:
    letters = [Letter("m", 3), Letter("n", 3)]
    waits = Ringing().ring_elsewhere(["m"], "w1", 0.0).ring_elsewhere(["n"], "w2", 0.0)
    assert waits.due(letters, 1.0) == ()
    assert waits.left_by("w1").due(letters, 1.0) == ("m",)
    assert waits.due(letters, 60.0) == ("m", "n")
    assert waits.ring(["m"], 60.0).left_by("w1").rung["m"].times == 2, "by now it was rung for here"
    assert Ringing().ring(["o"], 0.0).ring_elsewhere(["m"], "w1", 1.0).heed([Letter("o", 3)]).under_way == 0.0


def test_a_look_that_began_before_a_ring_does_not_undo_it() -> None:
    rung = Ringing().ring_elsewhere(["m"], "w1", 0.0)
    assert rung.heed([], known=()).due([Letter("m", 3)], 1.0) == ()
    assert rung.heed([], known=("m",)).due([Letter("m", 3)], 1.0) == ("m",)
