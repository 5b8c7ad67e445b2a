"""HCS-10 operations, as they are written to a topic and read from it."""

from typing import Annotated, Any, Final

import msgspec

from postoffice.core.errors import NotOurs
from postoffice.core.fingerprint import Body, body_of, fingerprint
from postoffice.core.ledger import LEDGER_ID, PROTOCOL, Account, Opening, Post
from postoffice.core.message import Message

_SAYS: Final = frozenset({"message_type", "subject", "content", "parts", "payload", "hash"})


"""A body has at least one of these; anything else is no body of ours."""


_Sequence = Annotated[int, msgspec.Meta(le=2**63 - 1)]


"""A message's number on its topic; a larger one no database could look for."""


class Envelope(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An HCS-10 operation."""

    p: str
    op: str
    operator_id: str = ""
    data: str | dict[str, Any] = ""
    ts: Any = None
    """When it was written, by its sender (seed 004). The standard has no such field, so what others put there is not read."""
    m: str | None = None
    uaid: str | None = None
    connection_topic_id: str | None = None
    connected_account_id: str | None = None
    connection_id: _Sequence | None = None


def write_envelope(sender: Account, message: Message, *, private: bool) -> str:
    """A message as it goes to a topic; a private one only by its fingerprint."""
    body = body_of(message)
    if private:
        return _write_message(sender, message, {"id": message.id, "hash": fingerprint(body)})
    always = {"message_type": message.type, "subject": message.subject}
    return _write_message(sender, message, always | msgspec.to_builtins(body))


def write_log(sender: Account, message: Message) -> str:
    """What an agent's public log tells of a message: that it was sent, never what it says."""
    return _write_message(sender, message, {"message_type": message.type, "to": message.to, "hash": fingerprint(body_of(message))})


def write_note(message: Message) -> str:
    """A note as it goes to its entity's topic (seed 004)."""
    notify = [message.to] if isinstance(message.to, str) else list(message.to)
    fields = {"type": message.type, "from_agent": message.sender, "note": message.content, "notify": notify, "ts": message.created_at}
    return _text(fields | {"id": message.id})


def note_author(post: Post) -> str:
    """Who wrote a note that is to be put on a topic."""
    return str(msgspec.json.decode(post.body)["from_agent"])


def write_request(sender: Account, note: str | None) -> str:
    """A request to connect, as it goes to the other's inbound topic."""
    return _text(Envelope(p=PROTOCOL, op="connection_request", operator_id=sender.operator_id, m=note))


def write_created(owner: Account, opening: Opening, topic_id: str) -> str:
    """The answer to such a request: where to meet from now on."""
    return _text(
        Envelope(
            p=PROTOCOL,
            op="connection_created",
            operator_id=owner.operator_id,
            connection_topic_id=topic_id,
            connected_account_id=opening.peer,
            connection_id=opening.connection_id,
        )
    )


def read_envelope(data: bytes) -> Envelope:
    """What stands on a topic of HCS-10's."""
    try:
        envelope = msgspec.json.decode(data, type=Envelope)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise NotOurs(why=f"it is not an HCS-10 operation ({error})") from None
    if envelope.p != PROTOCOL:
        raise NotOurs(why=f"its protocol is {envelope.p[:40]!r}, not {PROTOCOL}")
    return envelope


def read_operator(operator_id: str) -> tuple[str, str]:
    """The inbound topic and the account that an operation says it is from."""
    topic, at, account = operator_id.partition("@")
    if not at or not LEDGER_ID.fullmatch(topic) or not LEDGER_ID.fullmatch(account):
        raise NotOurs(why=f"its operator_id {operator_id[:80]!r} is not topic@account")
    return topic, account


def read_body(envelope: Envelope) -> Body:
    """What a message says. The seed wrote an object where the standard wants a string; both are read."""
    try:
        data = msgspec.json.decode(envelope.data) if isinstance(envelope.data, str) else envelope.data
    except (msgspec.DecodeError, RecursionError):
        return Body(content=str(envelope.data))  # other software sends plain text
    if not isinstance(data, dict):
        return Body(content=str(envelope.data))
    if not data.keys() & _SAYS:
        return Body(payload=data)  # or JSON of its own making
    try:
        return msgspec.convert(data, Body)
    except msgspec.ValidationError as error:
        raise NotOurs(why=f"its data is wrong: {error}") from None


def _write_message(sender: Account, message: Message, said: dict[str, Any]) -> str:
    """An operation that tells of a message; how urgent and how old it is stands in each of them."""
    # `data` is a string by the standard; the seed's object goes into it.
    data = _text(said | {"priority": message.priority})
    return _text(Envelope(p=PROTOCOL, op="message", operator_id=sender.operator_id, data=data, ts=message.created_at))


def _text(value: object) -> str:
    return msgspec.json.encode(value).decode()
