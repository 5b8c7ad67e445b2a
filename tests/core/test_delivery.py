"""Where one message stands with one recipient."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postoffice.core.delivery import MOVES, UNREAD, WAITING, State, after_failure, next_try

delays = st.timedeltas(timedelta(0), timedelta(hours=12))


def test_every_state_has_its_moves() -> None:
    assert set(MOVES) == set(State)
    assert all(state not in targets for state, targets in MOVES.items())


def test_acked_is_final() -> None:
    assert not MOVES[State.ACKED]


def test_every_state_but_acked_can_end_acked() -> None:
    assert all(State.ACKED in MOVES[state] for state in State if state is not State.ACKED)


def test_a_dead_letter_comes_back_only_as_waiting_mail() -> None:
    assert MOVES[State.DEAD] == {State.PENDING, State.ACKED}


def test_only_pending_mail_is_leased() -> None:
    assert [state for state in State if State.LEASED in MOVES[state]] == [State.PENDING]


def test_unread_is_waiting_that_nobody_holds() -> None:
    assert WAITING - {State.LEASED} == UNREAD
    assert WAITING.isdisjoint({State.ACKED, State.DEAD})


@given(st.integers(0, 100), st.integers(1, 100), delays)
def test_a_failed_lease_ends_where_its_tries_and_delay_say(attempts: int, most: int, delay: timedelta) -> None:
    state = after_failure(attempts, most, delay)
    if attempts >= most:
        assert state is State.DEAD
    elif delay:
        assert state is State.HELD
    else:
        assert state is State.PENDING
    assert state in MOVES[State.LEASED]


@pytest.mark.parametrize(("attempts", "seconds"), [(0, 1), (1, 1), (2, 2), (3, 4), (4, 8), (9, 256), (10, 300), (11, 300)])
def test_each_try_waits_twice_as_long_up_to_five_minutes(attempts: int, seconds: int) -> None:
    assert next_try(attempts) == timedelta(seconds=seconds)


@given(st.integers(0, 100_000), st.integers(1, 600), st.integers(0, 86_400))
def test_however_often_it_failed_there_is_a_next_try(attempts: int, least: int, more: int) -> None:
    low, high = timedelta(seconds=least), timedelta(seconds=least + more)
    wait = next_try(attempts, low, high)
    assert low <= wait <= high
    assert wait <= next_try(attempts + 1, low, high)
