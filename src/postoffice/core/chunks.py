"""Messages too large for one transaction: put together again from the pieces a mirror tells of."""

from base64 import b64decode
from collections.abc import Sequence
from typing import Any

import msgspec


class Whole(msgspec.Struct, frozen=True, kw_only=True):
    """A message of the ledger with all its pieces there."""

    sequence: int
    """Of its last piece."""
    payer: str
    at: str
    data: bytes


class Gathered(msgspec.Struct, frozen=True):
    """What is whole, in order, and the sequence up to which nothing is left in pieces."""

    whole: tuple[Whole, ...]
    through: int


def gather(rows: Sequence[dict[str, Any]], after: int, *, give_up: Sequence[str] = ()) -> Gathered:
    """Put messages together. Rows may come twice and out of order; groups named in `give_up` are left behind as they are."""
    unique = {int(row["sequence_number"]): row for row in rows if int(row["sequence_number"]) > after}
    groups: dict[str, list[dict[str, Any]]] = {}
    for sequence in sorted(unique):
        row = unique[sequence]
        chunk = row.get("chunk_info")
        groups.setdefault(group_key(chunk) if chunk and int(chunk.get("total", 1)) > 1 else f"{sequence}", []).append(row)
    found = {key: _whole(rows) for key, rows in groups.items()}
    spans = {key: (int(rows[0]["sequence_number"]), int(rows[-1]["sequence_number"])) for key, rows in groups.items()}
    through = max(unique, default=after)
    # Whatever is not handed on now must be asked for again from its first piece on.
    while kept := [first for key, (first, last) in spans.items() if first <= through and _waits(found[key], key in give_up, last, through)]:
        through = min(kept) - 1
    whole = [one for one in found.values() if one is not None and one.sequence <= through]
    return Gathered(tuple(sorted(whole, key=lambda one: one.sequence)), through)


def _waits(whole: Whole | None, given_up: bool, last: int, through: int) -> bool:  # noqa: FBT001 - two facts of a group
    return (whole is None and not given_up) or (whole is not None and last > through)


def group_key(chunk: dict[str, Any]) -> str:
    """What the pieces of one message have in common."""
    first = chunk["initial_transaction_id"]
    return f"{first['account_id']}@{first['transaction_valid_start']}"


def _whole(rows: Sequence[dict[str, Any]]) -> Whole | None:
    chunk = rows[0].get("chunk_info")
    pieces = {int(row["chunk_info"]["number"]) if chunk else 1: row for row in rows}
    order = range(1, int(chunk["total"]) + 1 if chunk else 2)
    if any(number not in pieces for number in order):
        return None
    last = rows[-1]
    return Whole(
        sequence=int(last["sequence_number"]),
        payer=str(rows[0]["payer_account_id"]),
        at=str(last["consensus_timestamp"]),
        data=b"".join(b64decode(pieces[number]["message"]) for number in order),
    )
