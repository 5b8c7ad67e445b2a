"""Messages too large for one transaction: put together again from the pieces a mirror tells of."""

from base64 import b64decode
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from typing import Any

import msgspec


class Whole(msgspec.Struct, frozen=True, kw_only=True):
    """A message of the ledger with all its pieces there."""

    sequence: int
    """Of the piece that made it whole."""
    payer: str
    at: str
    data: bytes


class Gathered(msgspec.Struct, frozen=True):
    """What is whole, in order, and the sequence up to which nothing is left in pieces."""

    whole: tuple[Whole, ...]
    through: int
    ahead: tuple[Whole, ...] = ()
    """What is whole too, but after something that is not. The missing one will get a later place, and nothing waits for it."""
    torn: tuple[Whole, ...] = ()
    """What was given up: as much of each as there is."""
    waiting: frozenset[str] = frozenset()
    """What is not whole yet, or was left out by the mirror. Name it in `give_up` to do without it."""


def gather(rows: Sequence[dict[str, Any]], after: int, *, give_up: Collection[str] = ()) -> Gathered:
    """Put messages together. Rows may come twice and out of order; what is named in `give_up` is left behind as it is."""
    unique = {int(row["sequence_number"]): row for row in rows if int(row["sequence_number"]) > after}
    groups = _groups(unique)
    complete = {key: _is_complete(rows) for key, rows in groups.items()}
    spans = {key: (int(rows[0]["sequence_number"]), int(rows[-1]["sequence_number"])) for key, rows in groups.items()}
    # A topic counts without a gap: what is left out is yet to be told.
    spans |= {f"gap {last + 1}": (last + 1, last + 1) for last, following in pairwise([after, *sorted(unique)]) if following > last + 1}
    settled = {key for key in spans if complete.get(key) or key in give_up}
    through = max(unique, default=after)
    # What is not handed on now has to be asked for again, from its first piece on.
    while kept := [first for key, (first, last) in spans.items() if first <= through and (key not in settled or last > through)]:
        through = min(kept) - 1
    # What the mirror left out may be whole: nothing overtakes it.
    left_out = min((spans[key][0] for key in spans.keys() - settled - groups.keys()), default=max(unique, default=after) + 1)
    behind = {key for key in settled & groups.keys() if spans[key][1] <= through}
    return Gathered(
        _in_order(groups[key] for key in behind if complete[key]),
        through,
        tuple(one for one in _in_order(groups[key] for key in groups.keys() - behind if complete[key]) if one.sequence < left_out),
        _in_order(groups[key] for key in behind if not complete[key]),
        frozenset(spans.keys() - settled),
    )


def all_whole(rows: Sequence[dict[str, Any]]) -> list[Whole]:
    """Every message of a topic of which nothing is missing, in order, whatever is missing of others."""
    groups = _groups({int(row["sequence_number"]): row for row in rows})
    return list(_in_order(pieces for pieces in groups.values() if _is_complete(pieces)))


def group_key(row: dict[str, Any]) -> str | None:
    """What the pieces of one message have in common; nothing for a message in one piece."""
    chunk = row.get("chunk_info")
    if not chunk or int(chunk.get("total") or 1) <= 1:
        return None
    first = chunk["initial_transaction_id"]
    return f"{first['account_id']}@{first['transaction_valid_start']}"


def _groups(unique: dict[int, dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The pieces of each message, in order."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for sequence in sorted(unique):
        groups.setdefault(group_key(unique[sequence]) or f"{sequence}", []).append(unique[sequence])
    return groups


def _is_complete(rows: Sequence[dict[str, Any]]) -> bool:
    if group_key(rows[0]) is None:
        return True
    numbers = {int(row["chunk_info"]["number"]) for row in rows}
    return all(number in numbers for number in range(1, int(rows[0]["chunk_info"]["total"]) + 1))


def _in_order(groups: Iterable[Sequence[dict[str, Any]]]) -> tuple[Whole, ...]:
    return tuple(sorted(map(_joined, groups), key=lambda one: one.sequence))


def _joined(rows: Sequence[dict[str, Any]]) -> Whole:
    # If a piece comes twice, the first one counts: what was whole stays the same, wherever reading begins.
    pieces = {int(row["chunk_info"]["number"]) if row.get("chunk_info") else 1: row for row in reversed(rows)}
    last = max(pieces.values(), key=lambda row: int(row["sequence_number"]))
    return Whole(
        sequence=int(last["sequence_number"]),
        payer=str(rows[0]["payer_account_id"]),
        at=str(last["consensus_timestamp"]),
        data=b"".join(b64decode(pieces[number]["message"]) for number in sorted(pieces)),
    )
