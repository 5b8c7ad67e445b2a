"""What there is on the ledger: accounts, topics, posts, and what is seen there."""

import re
from typing import Final

import msgspec

from postoffice.core.draft import Draft
from postoffice.core.errors import Invalid
from postoffice.core.fingerprint import Body

PROTOCOL: Final = "hcs-10"
URGENT: Final = 2
"""Mail of this priority or a higher one is delivered at once and confirmed later."""
AWAITING: Final = "awaiting"
DIRECT: Final = "direct"
"""How a message goes: by the ledger, or straight into the mailbox."""
LEDGER_ID = re.compile(r"\d{1,10}\.\d{1,10}\.\d{1,18}", re.ASCII)
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
    def foreign(self) -> bool:
        """Whether it is an agent of other software."""
        return self.outbound_topic_id is None

    @property
    def operator_id(self) -> str:
        """How the agent signs what it writes; anybody can write this, so whoever pays must be the same account."""
        return f"{self.inbound_topic_id}@{self.account_id}"


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
    return LEDGER_ID.fullmatch(value) is not None


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
