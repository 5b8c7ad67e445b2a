"""The chain that binds a topic's messages: version 3, sha384 over what Java's object stream writes."""

import hashlib
import struct

from tests.ledger.emulator.clock import SECOND
from tests.ledger.emulator.names import parts

VERSION = 3
EMPTY = bytes(48)

_STREAM = bytes.fromhex("aced0005")
_BYTES_CLASS = bytes.fromhex("7200025b42acf317f8060854e00200007870")
_SAME_CLASS = bytes.fromhex("71007e0000")
_ARRAY = b"\x75"
_BLOCK = b"\x77"


def following(last: bytes, *, payer: str, topic: str, moment: int, sequence: int, body: bytes) -> bytes:
    """The hash of a topic after one more message."""
    facts = struct.pack(">8qiq", VERSION, *parts(payer), *parts(topic), moment // SECOND, moment % SECOND, sequence)
    written = (
        *(_STREAM, _ARRAY, _BYTES_CLASS, _length(last), last),
        *(_BLOCK, bytes([len(facts)]), facts),
        *(_ARRAY, _SAME_CLASS, _length(EMPTY), hashlib.sha384(body).digest()),
    )
    return hashlib.sha384(b"".join(written)).digest()


def _length(data: bytes) -> bytes:
    return struct.pack(">i", len(data))
