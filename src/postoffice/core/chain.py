"""The chain that binds a topic's messages: each running hash holds the one before, so whoever changes a message breaks it."""

import hashlib
import struct
from base64 import b64decode
from collections.abc import Sequence
from typing import Any, Final

VERSION: Final = 3
_EMPTY = bytes(48)
# What is hashed is what Java's object stream writes of it.
_STREAM = bytes.fromhex("aced0005")
_BYTES_CLASS = bytes.fromhex("7200025b42acf317f8060854e00200007870")
_SAME_CLASS = bytes.fromhex("71007e0000")
_ARRAY, _BLOCK = b"\x75", b"\x77"


def broken_links(rows: Sequence[dict[str, Any]]) -> list[int]:
    """The sequences of messages that do not fit the hash a mirror gives for them, among a topic's messages in order."""
    broken, last, expected = [], _EMPTY, 1
    for row in rows:
        sequence, mirrored_hash = int(row["sequence_number"]), b64decode(row["running_hash"])
        if sequence == expected and row.get("running_hash_version") == VERSION and _following(last, row) != mirrored_hash:
            broken.append(sequence)
        last, expected = mirrored_hash, sequence + 1
    return broken


def _following(last: bytes, row: dict[str, Any]) -> bytes:
    seconds, _, nanos = str(row["consensus_timestamp"]).partition(".")
    facts = struct.pack(
        ">8qiq",
        VERSION,
        *_numbers(row["payer_account_id"]),
        *_numbers(row["topic_id"]),
        int(seconds),
        int(nanos.ljust(9, "0")[:9]),
        int(row["sequence_number"]),
    )
    body = hashlib.sha384(b64decode(row["message"])).digest()
    written = (
        *(_STREAM, _ARRAY, _BYTES_CLASS, _length(last), last),
        *(_BLOCK, bytes([len(facts)]), facts),
        *(_ARRAY, _SAME_CLASS, _length(body), body),
    )
    return hashlib.sha384(b"".join(written)).digest()


def _numbers(id: str) -> tuple[int, ...]:
    return tuple(int(part) for part in id.split("."))


def _length(data: bytes) -> bytes:
    return struct.pack(">i", len(data))
