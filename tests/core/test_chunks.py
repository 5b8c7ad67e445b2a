"""Messages in pieces: however they come, each is given once and whole, and nothing unfinished is passed."""

from base64 import b64encode
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as some

from postoffice.core.chunks import all_whole, gather


def row(sequence: int, data: bytes, chunk: tuple[str, int, int] | None = None) -> dict[str, Any]:
    """A message as a mirror tells it; of a piece: whose, which, of how many."""
    info = chunk and {
        "initial_transaction_id": {"account_id": "0.0.9", "nonce": 0, "scheduled": False, "transaction_valid_start": chunk[0]},
        "number": chunk[1],
        "total": chunk[2],
    }
    return {
        "chunk_info": info,
        "consensus_timestamp": f"{sequence}.000000000",
        "message": b64encode(data).decode(),
        "payer_account_id": "0.0.9",
        "sequence_number": sequence,
        "topic_id": "0.0.1",
    }


Pieces = tuple[list[dict[str, Any]], dict[str, bytes], set[str]]


def topic_of(sizes: list[int], lost: list[int], chance: Random) -> Pieces:
    """A topic: messages in so many pieces each, interleaved and out of order, some pieces lost."""
    whole = {f"m{number}": [f"m{number}p{piece}".encode() for piece in range(1, size + 1)] for number, size in enumerate(sizes)}
    pieces = [(name, place, len(parts), part) for name, parts in whole.items() for place, part in enumerate(parts, 1)]
    chance.shuffle(pieces)
    kept = [piece for index, piece in enumerate(pieces) if index not in lost or piece[2] == 1]
    torn = {piece[0] for piece in pieces} - {piece[0] for piece in kept} | {name for name, *_ in set(pieces) - set(kept)}
    told = [row(n, data, None if total == 1 else (name, place, total)) for n, (name, place, total, data) in enumerate(kept, 1)]
    return told, {name: b"".join(parts) for name, parts in whole.items()}, torn


@given(
    sizes=some.lists(some.integers(1, 4), max_size=8),
    lost=some.lists(some.integers(0, 20), max_size=3),
    steps=some.lists(some.integers(0, 24), max_size=4),
    chance=some.randoms(use_true_random=False),
)
def test_any_interleaving_duplication_and_order_gives_each_message_once(
    sizes: list[int], lost: list[int], steps: list[int], chance: Random
) -> None:
    rows, whole, torn = topic_of(sizes, lost, chance)
    shown = rows + chance.choices(rows, k=3) if rows else []
    chance.shuffle(shown)
    after, found = 0, []
    for upto in (*sorted(min(step, len(rows)) for step in steps), len(rows)):  # some more of the topic each time, from the cursor on
        page = [one for one in shown if after < one["sequence_number"] <= upto]
        gathered = gather(page, after)
        assert after <= gathered.through <= max(after, upto)
        assert {one.sequence for one in gathered.ahead} | {one.sequence for one in gathered.whole} == {
            one.sequence for one in all_whole(page)
        }
        found += [one.data for one in gathered.whole]
        after = gathered.through
    expected = {data for name, data in whole.items() if name not in torn}
    assert len(found) == len(set(found))
    assert set(found) <= expected
    unfinished = [one["sequence_number"] for one in rows if one["chunk_info"] and _name(one) in torn]
    assert after < min(unfinished, default=len(rows) + 1)
    rest = gather([one for one in shown if one["sequence_number"] > after], after, give_up={f"0.0.9@{name}" for name in torn})
    found += [one.data for one in rest.whole]
    assert sorted(found) == sorted(expected)
    assert rest.through == max(after, len(rows))
    assert len(rest.torn) == len({_name(one) for one in rows if one["chunk_info"] and _name(one) in torn})


def _name(told: dict[str, Any]) -> str:
    return str(told["chunk_info"]["initial_transaction_id"]["transaction_valid_start"])


def test_a_message_is_as_late_as_its_last_piece() -> None:
    rows = [row(5, b"b", ("x", 2, 2)), row(4, b"a", ("x", 1, 2))]
    (whole,) = gather(rows, 3).whole
    assert (whole.sequence, whole.at, whole.data) == (5, "5.000000000", b"ab")


def test_what_was_whole_stays_as_it_was_whatever_comes_of_it_again() -> None:
    rows = [row(3, b"-", ("y", 1, 2)), row(4, b"a", ("x", 1, 2)), row(5, b"b", ("x", 2, 2)), row(6, b"s")]
    again = [*rows, row(7, b"B", ("x", 2, 2))]
    for shown in (rows, again):
        gathered = gather(shown, 2)
        assert [(one.sequence, one.data) for one in gathered.ahead] == [(5, b"ab"), (6, b"s")]
        assert (gathered.whole, gathered.through) == ((), 2)
    assert [one.sequence for one in all_whole(again)] == [5, 6]


def test_nothing_goes_ahead_of_what_the_mirror_leaves_out() -> None:
    rows = [row(4, b"a", ("x", 1, 2)), row(5, b"b"), row(7, b"c")]
    assert [one.sequence for one in gather(rows, 3).ahead] == [5]
    assert [one.sequence for one in gather(rows, 3, give_up={"gap 6"}).ahead] == [5, 7]


def test_what_the_mirror_leaves_out_is_not_passed_unless_it_is_given_up() -> None:
    rows = [row(4, b"a"), row(6, b"c"), row(9, b"d")]
    gathered = gather(rows, 3)
    assert ([one.sequence for one in gathered.whole], gathered.through, gathered.waiting) == ([4], 4, frozenset(("gap 5", "gap 7")))
    assert gather(rows, 3, give_up={"gap 5"}).through == 6
    passed = gather(rows, 3, give_up=gathered.waiting)
    assert ([one.sequence for one in passed.whole], passed.through, passed.torn) == ([4, 6, 9], 9, ())
    assert gather([*rows, row(5, b"b")], 3).through == 6


def test_nothing_is_nothing() -> None:
    assert gather([], 7).through == 7


@given(
    sizes=some.lists(some.integers(1, 4), max_size=8),
    lost=some.lists(some.integers(0, 20), max_size=3),
    chance=some.randoms(use_true_random=False),
)
def test_all_that_is_whole_is_given_in_order_whatever_is_missing_of_others(sizes: list[int], lost: list[int], chance: Random) -> None:
    rows, whole, torn = topic_of(sizes, lost, chance)
    found = all_whole(rows)
    assert sorted(one.data for one in found) == sorted(data for name, data in whole.items() if name not in torn)
    assert [one.sequence for one in found] == sorted(one.sequence for one in found)
