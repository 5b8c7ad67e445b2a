"""What keeps agents from running in circles."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postoffice.core.errors import LoopRefused
from postoffice.core.loops import budget_after, hop
from postoffice.core.message import Message

agents = st.sampled_from(["ann", "Ben", "cid", "dot", "eve", "fay"])


def message(ttl: int, *trace: str) -> Message:
    return Message(id="m", sender="ann", to="ben", created_at=datetime(2026, 1, 1, tzinfo=UTC), from_verified=True, ttl=ttl, trace=trace)


def test_a_forward_takes_one_hop_and_adds_its_forwarder() -> None:
    assert hop(message(3, "ann"), "ben", "cid") == (2, ("ann", "ben"))


def test_a_forwarder_already_in_the_trace_is_not_added_again() -> None:
    assert hop(message(3, "ann", "Ben"), "ben", "cid") == (2, ("ann", "Ben"))


@pytest.mark.parametrize("ttl", [0, -1])
def test_nothing_is_forwarded_without_hops_left(ttl: int) -> None:
    with pytest.raises(LoopRefused, match="no hops left"):
        hop(message(ttl, "ann"), "ben", "cid")


def test_the_last_hop_can_be_taken() -> None:
    assert hop(message(1, "ann"), "ben", "cid")[0] == 0


@pytest.mark.parametrize("to", ["ann", "ANN", "ben", "Ben"])
def test_nothing_is_forwarded_to_where_it_has_been_in_any_spelling(to: str) -> None:
    with pytest.raises(LoopRefused, match="has been there already"):
        hop(message(3, "Ann"), "bEn", to)


@given(st.integers(0, 10), st.lists(agents, max_size=20))
def test_no_chain_of_forwards_is_longer_than_its_ttl_or_visits_anyone_twice(ttl: int, chain: list[str]) -> None:
    at, letter = "ben", message(ttl, "ann")
    visited = ["ann", "ben"]
    for to in chain:
        try:
            left, trace = hop(letter, at, to)
        except LoopRefused:
            continue
        at, letter = to, message(left, *trace)
        visited.append(to.lower())
    assert len(visited) == len(set(visited))
    assert len(visited) - 2 <= ttl


@pytest.mark.parametrize(
    ("left", "automatic", "after"),
    [(5, True, 4), (1, True, 0), (0, True, None), (0, False, 100), (5, False, 100), (100, True, 99)],
)
def test_an_automatic_reply_spends_the_budget_and_any_other_message_refills_it(left: int, automatic: bool, after: int | None) -> None:  # noqa: FBT001
    assert budget_after(left, automatic=automatic, full=100) == after


@given(st.integers(1, 50), st.lists(st.booleans(), max_size=300))
def test_never_more_automatic_replies_in_a_row_than_the_budget(full: int, sent: list[bool]) -> None:
    left, row = full, 0
    for automatic in sent:
        after = budget_after(left, automatic=automatic, full=full)
        if after is None:
            continue
        left, row = after, row + 1 if automatic else 0
        assert 0 <= left <= full
        assert row <= full
