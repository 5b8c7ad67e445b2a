"""What the ledger says of a message, and the fingerprint by which a message is known again."""

from hashlib import sha256
from typing import Any

import msgspec
from msgspec import UNSET

from postoffice.core.message import Message

_encode = msgspec.json.Encoder(order="sorted").encode


class Body(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the ledger says of a message: all of it, or, if private, only its hash."""

    id: str | None = None
    message_type: str = "message"
    subject: str = ""
    content: str | None = None
    parts: tuple[dict[str, Any], ...] = ()
    payload: Any = UNSET
    context: Any = None
    ref_id: str | None = None
    ref_type: str | None = None
    priority: int = 3
    hash: str | None = None


def body_of(message: Message) -> Body:
    """All that the ledger says of a message."""
    return Body(
        id=message.id,
        message_type=message.type,
        subject=message.subject,
        content=message.content,
        parts=message.parts,
        payload=message.payload,
        context=message.context,
        ref_id=message.ref_id,
        ref_type=message.ref_type,
        priority=message.priority,
    )


def fingerprint(body: Body) -> str:
    """The same for the same message, and for no other."""
    # Field by field: whether a struct leaves a default out depends on which of two equal strings it holds.
    fields = {
        name: value for name, value in msgspec.structs.asdict(body).items() if name != "hash" and value is not None and value is not UNSET
    }
    return sha256(_encode(fields)).hexdigest()


def matches(body: Body, message: Message) -> bool:
    """Whether what stands on the ledger is this message."""
    ours = fingerprint(body_of(message))
    return ours == (fingerprint(body) if body.hash is None else body.hash)
