"""A conversation of two agents under one subject."""

import string
from datetime import UTC, datetime

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from postoffice.core.delivery import UNREAD, State
from postoffice.core.message import Message
from postoffice.core.names import folded
from postoffice.core.session import Line, pair, subject_key

names = st.text(string.ascii_letters + string.digits + "._-", min_size=1, max_size=10)


@given(names, names)
def test_a_pair_is_the_same_whoever_is_named_first(one: str, other: str) -> None:
    assume(one.lower() != other.lower())
    assert pair(one, other) == pair(other, one)
    assert set(pair(one, other)) == {one, other}


@given(names, names)
def test_a_pair_is_ordered_by_folded_names(one: str, other: str) -> None:
    assume(folded(one) != folded(other))
    low, high = pair(folded(one), folded(other))
    assert low < high


@given(st.text())
def test_a_subject_key_is_its_own_key(subject: str) -> None:
    assert subject_key(subject_key(subject)) == subject_key(subject)


@given(st.text(string.ascii_letters + " -"), st.sampled_from(["", " ", "\t", "\n "]))
def test_case_and_space_around_a_subject_do_not_count(subject: str, space: str) -> None:
    assert subject_key(space + subject.swapcase() + space) == subject_key(subject)


@pytest.mark.parametrize(("one", "other"), [("STRASSE", "straße"), ("ÉTÉ", "été"), ("ΣΊΣΥΦΟΣ", "Σίσυφος")])
def test_case_is_that_of_every_script(one: str, other: str) -> None:
    assert subject_key(one) == subject_key(other)


@pytest.mark.parametrize(("one", "other"), [("plan", "plans"), ("a b", "ab"), ("", "x")])
def test_other_subjects_stay_apart(one: str, other: str) -> None:
    assert subject_key(one) != subject_key(other)


@pytest.mark.parametrize("state", State)
def test_a_line_is_read_unless_it_is_pending_or_held(state: State) -> None:
    message = Message(id="m", sender="a", to="b", created_at=datetime(2026, 1, 1, tzinfo=UTC), from_verified=False)
    assert Line(message=message, to="b", state=state, number=1).is_read is (state not in UNREAD)
