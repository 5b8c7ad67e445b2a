"""A page of a topic's messages: which are asked for, and where the next page begins."""

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.ledger.emulator.clock import stamp
from tests.ledger.emulator.running_hash import VERSION
from tests.ledger.emulator.topic import Message

USUAL, LARGEST = 25, 100
_KNOWN = {"limit", "order", "sequencenumber"}
_SEQUENCE = re.compile(r"(?:(eq|gt|gte|lt|lte):)?(\d+)")
_HOLDS = {
    "eq": lambda one, other: one == other,
    "gt": lambda one, other: one > other,
    "gte": lambda one, other: one >= other,
    "lt": lambda one, other: one < other,
    "lte": lambda one, other: one <= other,
}


class BadParameter(Exception):
    """`Invalid parameter: limit`, `Unknown query parameter: offset`."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{'Invalid parameter' if name in _KNOWN else 'Unknown query parameter'}: {name}")


@dataclass(frozen=True)
class Asked:
    limit: int
    ascending: bool
    filters: tuple[tuple[str, int], ...]

    @classmethod
    def parse(cls, query: Sequence[tuple[str, str]]) -> "Asked":
        limit, order, filters = USUAL, "asc", []
        for name, value in query:
            if name == "limit" and value.isdigit() and int(value) > 0:
                limit = min(int(value), LARGEST)
            elif name == "order" and value in {"asc", "desc"}:
                order = value
            # Zero is refused, as the real mirror does: `gt:0` is an error, `gte:1` is not.
            elif name == "sequencenumber" and (found := _SEQUENCE.fullmatch(value)) and int(found[2]) > 0:
                filters.append((found[1] or "eq", int(found[2])))
            else:
                raise BadParameter(name)
        return cls(limit, order == "asc", tuple(filters))


def page(topic: str, messages: Sequence[Message], asked: Asked) -> dict[str, Any]:
    """One page. A page that is exactly full names a next one, even if that is empty."""
    wanted = [message for message in messages if all(_HOLDS[way](message.sequence, number) for way, number in asked.filters)]
    shown = (wanted if asked.ascending else wanted[::-1])[: asked.limit]
    following = None
    if len(shown) == asked.limit and all(way != "eq" for way, _ in asked.filters):
        way, order = ("gt", "asc") if asked.ascending else ("lt", "desc")
        following = f"/api/v1/topics/{topic}/messages?limit={asked.limit}&order={order}&sequencenumber={way}:{shown[-1].sequence}"
    return {"links": {"next": following}, "messages": [as_json(topic, message) for message in shown]}


def as_json(topic: str, message: Message) -> dict[str, Any]:
    chunk = message.chunk
    return {
        "chunk_info": chunk
        and {
            "initial_transaction_id": {
                "account_id": chunk.payer,
                "nonce": chunk.nonce,
                "scheduled": chunk.scheduled,
                "transaction_valid_start": stamp(chunk.valid_start),
            },
            "number": chunk.number,
            "total": chunk.total,
        },
        "consensus_timestamp": stamp(message.moment),
        "message": base64.b64encode(message.body).decode(),
        "payer_account_id": message.payer,
        "running_hash": base64.b64encode(message.running_hash).decode(),
        "running_hash_version": VERSION,
        "sequence_number": message.sequence,
        "topic_id": topic,
    }
