"""The ledger's words: HCS-10 topics and envelopes, and the fingerprint by which a message is known again."""

import re
from hashlib import sha256
from typing import Annotated, Any, Final

import msgspec
from msgspec import UNSET

from postoffice.core.errors import Invalid, NotOurs
from postoffice.core.message import Draft, Message

PROTOCOL: Final = "hcs-10"
URGENT: Final = 2
"""Mail of this priority or a higher one is delivered at once and confirmed later."""
AWAITING: Final = "awaiting"
DIRECT: Final = "direct"
"""How a message goes: by the ledger, or straight into the mailbox."""
_ID = re.compile(r"\d{1,10}\.\d{1,10}\.\d{1,18}", re.ASCII)
_encode = msgspec.json.Encoder(order="sorted").encode
MESSAGE_MEMO: Final = "hcs-10:op:6:1"
"""The transaction memo of a message on an inbound topic."""
LOG_MEMO: Final = "hcs-10:op:6:2"
"""The same on an agent's public log."""
CONNECTION_MEMO: Final = "hcs-10:op:6:3"
"""The same on a connection's topic."""
REQUEST_MEMO: Final = "hcs-10:op:3:1"
"""The transaction memo of a request to connect."""
CREATED_MEMO: Final = "hcs-10:op:4:1"
"""The transaction memo of the answer to it."""
NOTE_MEMO: Final = "postoffice:note"
"""The transaction memo of a note on an entity's topic, of which HCS-10 knows nothing."""
NEW_TOPIC: Final = ""
"""In place of a post's topic: the post is that a topic is made."""
ENTITY, CONNECTION, ASKED, FORMER = "entity", "connection", "asked", "former"
"""Why a topic is watched: something happens there, two agents meet there, an answer is awaited there, an agent was written to there."""


class Account(msgspec.Struct, frozen=True, kw_only=True):
    """An agent's place on the ledger."""

    agent: str
    account_id: str
    inbound_topic_id: str
    outbound_topic_id: str | None
    """Nothing for an agent of other software, which is known by its account alone."""

    @property
    def outside(self) -> bool:
        """Whether it is an agent of other software."""
        return self.outbound_topic_id is None

    @property
    def operator_id(self) -> str:
        """How the agent signs what it writes; anybody can write this, so whoever pays must be the same account."""
        return f"{self.inbound_topic_id}@{self.account_id}"


class Body(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is said of a message on the ledger: all of it, or, with a hash, only that it was."""

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


_SAYS: Final = frozenset({"message_type", "subject", "content", "parts", "payload", "hash"})
"""Of these a body has at least one; what has none of them is no body of ours."""


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


class Post(msgspec.Struct, frozen=True, kw_only=True):
    """Something to be put on the ledger, as it waits in the outbox. Whoever submits it signs it first, and keeps the signed bytes."""

    id: str
    topic_id: str
    memo: str
    payer: str | None
    """Whose account pays; nothing for the office's own."""
    body: str
    message_id: str | None
    mailbox: str | None
    attempts: int
    signed: str | None


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """Mail that something on the ledger comes to."""

    sender: str
    draft: Draft
    verified: bool = True


class Sighting(msgspec.Struct, frozen=True, kw_only=True):
    """One message on the ledger: ours coming back, mail of others, or something to be set aside."""

    sequence: int
    payer: str
    at: str
    raw: str
    sender: str | None = None
    mailbox: str | None = None
    body: Body | None = None
    """What it says, where it may be a message of ours."""
    deliveries: tuple[Delivery, ...] = ()
    refusal: str | None = None
    former: bool = False
    """Whether it is to or by an agent as it was on the ledger before: only what the office itself has sent is taken there."""
    verdict: str | None = None
    """What it is, where it is neither mail nor to be set aside."""


class Opening(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An agent of ours and one of other software are to meet, on a topic that is made for them."""

    agent: str
    peer: str
    """The other agent's account, which is its name here as well."""
    inbound_topic_id: str
    """Where it asked, and where it is answered."""
    connection_id: int
    """The number of its request there."""
    topic_id: str | None = None
    """Where they have met before; they meet there again."""


class Topic(msgspec.Struct, frozen=True, kw_only=True):
    """A topic that is listened to besides agents' own: an entity's, or a connection's."""

    topic_id: str
    kind: str
    agent: str | None
    about: str


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A message on the ledger, and what was made of it: confirmed, delivered, noted or quarantined."""

    topic_id: str
    sequence: int
    payer: str
    at: str
    verdict: str
    message_id: str | None
    reason: str | None
    body: str | None


def is_ledger_id(value: str) -> bool:
    """Whether an account or a topic can be called this."""
    return _ID.fullmatch(value) is not None


def check_ledger_id(value: str, what: str) -> str:
    """The id, if an account or a topic can have it."""
    if not is_ledger_id(value):
        raise Invalid(what=what, why=f"{value!r} is not an id of the ledger, such as 0.0.12345")
    return value


def inbound_memo(account_id: str) -> str:
    """The memo of the topic an agent is written to."""
    return f"hcs-10:0:3600:0:{account_id}"


OUTBOUND_MEMO: Final = "hcs-10:0:3600:1"
"""The memo of an agent's public log."""


def connection_memo(inbound_topic_id: str, connection_id: int) -> str:
    """The memo of a topic where two agents meet."""
    return f"hcs-10:1:3600:2:{inbound_topic_id}:{connection_id}"


def inbound_owner(memo: str) -> str | None:
    """Whose inbound topic it is by its memo: an account, or nobody's."""
    words = memo.split(":")
    return words[4] if len(words) == 5 and words[0] == PROTOCOL and words[3] == "0" and is_ledger_id(words[4]) else None  # noqa: PLR2004


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
    said = {
        name: value for name, value in msgspec.structs.asdict(body).items() if name != "hash" and value is not None and value is not UNSET
    }
    return sha256(_encode(said)).hexdigest()


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
    said = {"type": message.type, "from_agent": message.sender, "note": message.content, "notify": notify, "ts": message.created_at}
    return _text(said | {"id": message.id})


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
        found = msgspec.json.decode(data, type=Envelope)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise NotOurs(why=f"it is not an HCS-10 operation ({error})") from None
    if found.p != PROTOCOL:
        raise NotOurs(why=f"its protocol is {found.p[:40]!r}, not {PROTOCOL}")
    return found


def read_operator(operator_id: str) -> tuple[str, str]:
    """The inbound topic and the account that an operation says it is from."""
    topic, at, account = operator_id.partition("@")
    if not at or not _ID.fullmatch(topic) or not _ID.fullmatch(account):
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


def matches(body: Body, message: Message) -> bool:
    """Whether what stands on the ledger is this message."""
    ours = fingerprint(body_of(message))
    return ours == (fingerprint(body) if body.hash is None else body.hash)


def _write_message(sender: Account, message: Message, said: dict[str, Any]) -> str:
    """An operation that tells of a message; how urgent and how old it is stands in each of them."""
    # `data` is a string by the standard; the seed's object goes into it.
    data = _text(said | {"priority": message.priority})
    return _text(Envelope(p=PROTOCOL, op="message", operator_id=sender.operator_id, data=data, ts=message.created_at))


def _text(value: object) -> str:
    return msgspec.json.encode(value).decode()
