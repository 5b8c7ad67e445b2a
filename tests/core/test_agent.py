"""An agent's card, its keys, and whether it is there."""

import re
from datetime import timedelta
from hashlib import sha256

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postoffice.core.agent import Card, Presence, check_card, key_hash, key_prefix, new_key, presence
from postoffice.core.errors import BadName, BadText, Invalid, ReservedName

TIMEOUT = timedelta(seconds=60)


def test_an_empty_card_is_a_card() -> None:
    assert check_card(Card()) == Card()


def test_a_full_card_is_kept_as_given() -> None:
    card = Card(
        description="Reviews code",
        capabilities=("python", "go"),
        allow_from=("*", "bob"),
        max_concurrent_tasks=5,
        owner_contact="ann@example.org",
        display_name="Ann",
        model="any",
        metadata={"team": {"name": "core"}},
    )
    assert check_card(card) is card
    assert msgspec.json.decode(msgspec.json.encode(card), type=Card) == card


@pytest.mark.parametrize("bad", ["a\x00b", "\ud800"])
@pytest.mark.parametrize("field", ["description", "owner_contact", "display_name", "model"])
def test_no_text_on_a_card_holds_nul_or_surrogates(field: str, bad: str) -> None:
    with pytest.raises(BadText):
        check_card(msgspec.structs.replace(Card(), **{field: bad}))


@pytest.mark.parametrize("bad", ["a\x00b", "\ud800"])
def test_neither_capabilities_nor_metadata_hold_them(bad: str) -> None:
    for card in (Card(capabilities=(bad,)), Card(metadata={"a": [bad]}), Card(metadata={bad: 1})):
        with pytest.raises(BadText):
            check_card(card)


def test_allow_from_holds_names_or_a_star() -> None:
    assert check_card(Card(allow_from=("*", "system", "bob"))).allow_from == ("*", "system", "bob")
    for entry in ("", "two words", "**", "a/b"):
        with pytest.raises(BadName):
            check_card(Card(allow_from=("bob", entry)))
    with pytest.raises(ReservedName):
        check_card(Card(allow_from=("nul",)))


@pytest.mark.parametrize("most", [-1, 10_001])
def test_concurrent_tasks_are_bounded(most: int) -> None:
    with pytest.raises(Invalid, match="max_concurrent_tasks"):
        check_card(Card(max_concurrent_tasks=most))


@pytest.mark.parametrize("most", [0, 1, 10_000])
def test_an_agent_may_take_no_tasks_or_many(most: int) -> None:
    assert check_card(Card(max_concurrent_tasks=most)).max_concurrent_tasks == most


def test_a_card_is_at_most_64_kib() -> None:
    overhead = len(msgspec.json.encode(Card(description="x"))) - 1
    check_card(Card(description="x" * (64 * 1024 - overhead)))
    with pytest.raises(Invalid, match="card"):
        check_card(Card(description="x" * (64 * 1024 - overhead + 1)))


@pytest.mark.parametrize(
    ("silent_for", "tasks", "expected"),
    [
        (None, 0, Presence.OFFLINE),
        (None, 3, Presence.OFFLINE),
        (timedelta(0), 0, Presence.IDLE),
        (timedelta(0), 1, Presence.BUSY),
        (TIMEOUT, 0, Presence.IDLE),
        (TIMEOUT, 2, Presence.BUSY),
        (TIMEOUT + timedelta(microseconds=1), 0, Presence.OFFLINE),
        (timedelta(days=1), 2, Presence.OFFLINE),
    ],
)
def test_presence_is_offline_without_a_sign_of_life_else_busy_or_idle(silent_for: timedelta | None, tasks: int, expected: Presence) -> None:
    assert presence(silent_for, tasks, TIMEOUT) is expected


def test_a_key_is_a_prefix_and_64_hexadecimal_digits() -> None:
    made = {new_key() for _ in range(100)}
    assert len(made) == 100
    assert all(re.fullmatch("amb_[0-9a-f]{64}", key) for key in made)


def test_only_the_hash_of_a_key_is_kept() -> None:
    key = new_key()
    assert key_hash(key) == sha256(key.encode()).hexdigest()
    assert key[4:] not in str(key_hash(key))


def test_a_key_is_shown_by_its_beginning_only() -> None:
    key = new_key()
    assert key.startswith(key_prefix(key))
    assert len(key_prefix(key)) == 8


@given(st.text())
def test_what_is_no_key_has_no_hash(text: str) -> None:
    assert key_hash(text) is None
    assert key_hash(new_key() + text[:1] + "\n") is None


@pytest.mark.parametrize("text", ["amb_", "amb_" + "a" * 63, "amb_" + "a" * 65, "amb_" + "A" * 64, "amb_" + "g" * 64, "AMB_" + "a" * 64, " amb_" + "a" * 64, "amb_" + "\ud800" * 64])  # fmt: skip
def test_what_only_resembles_a_key_has_no_hash(text: str) -> None:
    assert key_hash(text) is None
