"""A webhook: an address of the owner's that is told of events, signed by the Standard Webhooks convention."""

import base64
import hashlib
import hmac
import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from postoffice.core.errors import Invalid
from postoffice.core.event import Event, Kind
from postoffice.core.letter import letter
from postoffice.core.message import Message

Network = IPv4Network | IPv6Network
GIVEN_UP_AFTER: Final = timedelta(days=3)
SECRET_OVERLAP: Final = timedelta(days=1)
"""How long a secret that was replaced still signs beside the new one."""
_FIRST_PAUSE, _LONGEST_PAUSE = timedelta(seconds=5), timedelta(hours=6)
_PAUSE_FACTOR = 4
_TRIES_THAT_COUNT = 8
_SECRET_BYTES = 32
_URL_CHARACTERS = 2000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
_FIELDS_WITHOUT_BODY = ("id", "from", "to", "type", "subject", "priority", "created_at", "from_verified", "correlation_id", "reply_to")
"""What is told of a letter where its body is not."""
_SLACK = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_IN_WORDS = {
    Kind.NEW_MESSAGE: "has new mail",
    Kind.DEAD_LETTER: "has a dead letter",
    Kind.QUESTION: "question",
    Kind.TASK: "task",
}
# Ranges of IPv6 in which an IPv4 address is carried: 6to4 by its bits 16 to 48, NAT64 by its last 32.
_NAT64 = IPv6Network("64:ff9b::/96")


class Shape(StrEnum):
    """How an event is written down."""

    STANDARD = "standard"
    SLACK = "slack"


class WebhookState(StrEnum):
    """Whether events go out."""

    ACTIVE = "active"
    DEAD = "dead"
    """Nothing was taken for three days."""
    GONE = "gone"
    """The address said that it wants no more."""
    PAUSED = "paused"
    """The owner holds what goes out until it is resumed."""


class Webhook(msgspec.Struct, frozen=True, kw_only=True):
    """One, as its owner sees it."""

    name: str
    url: str
    events: tuple[Kind, ...]
    """Empty: all."""
    agents: tuple[str, ...]
    """Whose events; empty: everybody's."""
    bodies: bool
    shape: Shape
    state: WebhookState
    since: datetime
    error: str | None
    created_at: datetime
    delivered_at: datetime | None
    waiting: int
    failed: int
    """Events given up after three days, while others were taken."""
    next_try_at: datetime | None
    """When the first of those that wait is tried; none where nothing waits, or nothing goes out."""


class Outgoing(msgspec.Struct, frozen=True, kw_only=True):
    """An event on its way to a webhook."""

    webhook: str
    number: int
    id: str
    body: str
    attempts: int


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """How one attempt ended; without an error it was taken."""

    number: int
    attempts: int
    error: str | None = None
    gone: bool = False
    lapsed: bool = False
    """Nobody needed to be told any more."""
    wait: timedelta | None = None
    """How long the address asks for quiet."""


def check_webhook_name(name: str) -> str:
    """A name for a webhook, or a refusal."""
    if not _NAME.fullmatch(name):
        raise Invalid(what="name", why="it has 1 to 64 letters, digits, '.', '_' or '-', and begins with a letter or a digit")
    return name


def check_url(url: str) -> str:
    """An address that can be posted to, or a refusal. Whether it may be is decided when it is, by what it resolves to."""
    try:
        place = urlsplit(url)
        fine = place.scheme in ("http", "https") and bool(place.hostname) and place.port != 0 and "@" not in place.netloc
    except ValueError:
        fine = False
    if not fine or len(url) > _URL_CHARACTERS or not url.isascii() or re.search(r"[\s\x00-\x20\x7f]", url):
        raise Invalid(what="url", why=f"it has to be like https://host/path, without a password, in at most {_URL_CHARACTERS} characters")
    return url


def new_secret(random: bytes) -> str:
    """A secret as the convention writes it."""
    return "whsec_" + base64.b64encode(random[:_SECRET_BYTES]).decode()


def signed(secrets: Iterable[str], id: str, at: int, body: str) -> dict[str, str]:
    """The headers that prove what is sent: a signature by each secret that counts. `at` is in seconds."""
    text = f"{id}.{at}.{body}".encode()
    return {"webhook-id": id, "webhook-timestamp": str(at), "webhook-signature": " ".join(signature(one, text) for one in secrets)}


def signature(secret: str, text: bytes) -> str:
    """By one secret, of id, time and body."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    return "v1," + base64.b64encode(hmac.digest(key, text, hashlib.sha256)).decode()


def pause_after(attempts: int, asked: timedelta | None = None) -> timedelta:
    """How long an event waits for its next attempt: ever longer, and as long as the address asks for, within bounds."""
    grown: timedelta = _FIRST_PAUSE * _PAUSE_FACTOR ** min(attempts - 1, _TRIES_THAT_COUNT)
    return min(max(grown, asked or grown), _LONGEST_PAUSE)


def is_allowed(address: str, networks: Sequence[Network], *, encrypted: bool) -> bool:
    """Whether an address may be posted to: any public one by https, and those that the owner's settings name."""
    target = ip_address(address.partition("%")[0])
    if isinstance(target, IPv6Address) and target.ipv4_mapped is not None:
        target = target.ipv4_mapped
    if any(target.version == network.version and target in network for network in networks):
        return True
    return encrypted and all(one.is_global and not one.is_multicast for one in (target, *_carried(target)))


def _carried(address: IPv4Address | IPv6Address) -> tuple[IPv4Address, ...]:
    if isinstance(address, IPv4Address):
        return ()
    carried = [address.sixtofour, *(address.teredo or ()), IPv4Address(int(address) & 0xFFFFFFFF) if address in _NAT64 else None]
    return tuple(one for one in carried if one is not None)


def told(event: Event, shape: Shape, message: Message | None, session_id: str | None, *, bodies: bool) -> str:
    """What a webhook is told of an event."""
    about: dict[str, Any] | None = None
    if message is not None:
        whole = msgspec.to_builtins(letter(message))
        about = whole if bodies else {name: whole[name] for name in _FIELDS_WITHOUT_BODY if name in whole}
    if shape is Shape.SLACK:
        return msgspec.json.encode({"text": _in_words(event, about, bodies=bodies).translate(_SLACK)}).decode()
    data = {"agent": event.agent, "number": event.number, "ref": event.ref, "session_id": session_id, "message": about} | event.data
    return msgspec.json.encode({"type": event.kind, "timestamp": event.at, "data": data}).decode()


def _in_words(event: Event, about: dict[str, Any] | None, *, bodies: bool) -> str:
    words = f"{event.agent}: {_IN_WORDS.get(event.kind, event.kind.replace('_', ' '))}"
    words += f" {event.data['state']}" if "state" in event.data else ""
    words += "" if about is None else f" from {about['from']}: {about['subject']}"
    return words + (f"\n{about['content']}" if bodies and about is not None and about.get("content") else "")
