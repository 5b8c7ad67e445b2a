"""A message as every door shows it: what always matters is always there, the rest where the sender gave it."""

from datetime import datetime
from operator import attrgetter
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from postoffice.core.attachment import Attachment
from postoffice.core.connection import Assurance
from postoffice.core.delivery import Leased
from postoffice.core.message import Forwarded, Message, TaskRef
from postoffice.core.question import Answer, Ask
from postoffice.core.text import render


class Letter(msgspec.Struct, frozen=True, kw_only=True, rename={"sender": "from"}):
    """A message, raw: what other agents wrote is data."""

    id: str
    sender: str
    to: str | tuple[str, ...]
    type: str
    subject: str
    content: str | None
    priority: int
    created_at: datetime
    from_verified: bool
    assurance: Assurance | UnsetType = UNSET
    client_id: str | UnsetType = UNSET
    session_id: str | UnsetType | None = UNSET
    parts: tuple[dict[str, Any], ...] | UnsetType = UNSET
    payload: Any | UnsetType = UNSET
    context: Any | UnsetType = UNSET
    correlation_id: str | UnsetType = UNSET
    reply_to: str | UnsetType = UNSET
    ttl: int | UnsetType = UNSET
    trace: tuple[str, ...] | UnsetType = UNSET
    task: TaskRef | UnsetType = UNSET
    callback: dict[str, Any] | UnsetType = UNSET
    ref_id: str | UnsetType = UNSET
    ref_type: str | UnsetType = UNSET
    metadata: dict[str, Any] | UnsetType = UNSET
    forward_of: str | UnsetType = UNSET
    ask: Ask | UnsetType = UNSET
    answer: Answer | UnsetType = UNSET
    forwarded_from: Forwarded | UnsetType = UNSET
    attachments: tuple[Attachment, ...] | UnsetType = UNSET
    automatic: bool | UnsetType = UNSET
    deliver_at: datetime | UnsetType = UNSET
    expires_at: datetime | UnsetType = UNSET


class LeasedLetter(Letter, frozen=True, kw_only=True, rename={"sender": "from"}):
    """A message in its taker's hands, with the token that settles it."""

    token: str
    attempt: int
    number: int
    leased_until: datetime | None


_ELSEWHERE = {"session_id", "payload", "automatic"}  # the delivery's, possibly null, and a yes or no
_GIVEN = tuple(field.name for field in msgspec.structs.fields(Letter) if field.default is UNSET and field.name not in _ELSEWHERE)
_given = attrgetter(*_GIVEN)


def letter(message: Message, session_id: str | UnsetType | None = UNSET) -> Letter:
    """A message as the doors show it."""
    return Letter(**_fields(message), session_id=session_id)


def leased_letter(leased: Leased) -> LeasedLetter:
    """A leased message as the doors show it."""
    return LeasedLetter(
        **_fields(leased.message),
        session_id=leased.session_id,
        token=leased.token,
        attempt=leased.attempt,
        number=leased.number,
        leased_until=leased.leased_until,
    )


def text_of(message: Message) -> str:
    """A message as plain text, whatever it carries."""
    return render(message.content, message.parts, None if message.payload is UNSET else message.payload)


def text_of_letter(letter: Letter) -> str:
    """The same of a letter."""
    parts = letter.parts if isinstance(letter.parts, tuple) else ()
    return render(letter.content, parts, None if letter.payload is UNSET else letter.payload)


def _fields(message: Message) -> dict[str, Any]:
    given = {name: value for name, value in zip(_GIVEN, _given(message), strict=True) if value is not None and value != ()}
    return {
        "id": message.id,
        "sender": message.sender,
        "to": message.to,
        "type": message.type,
        "subject": message.subject,
        "content": message.content,
        "priority": message.priority,
        "created_at": message.created_at,
        "from_verified": message.from_verified,
        "payload": message.payload,
        "automatic": message.automatic or UNSET,
        **given,
    }
