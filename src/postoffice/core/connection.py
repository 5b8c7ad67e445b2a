"""Two agents' mutual consent, made by a code that people pass on."""

import re
import secrets
import string
from datetime import datetime
from enum import StrEnum

import msgspec

from postoffice.core.folding import squeeze

MASKED_CODE = "**-***"
_CODE = re.compile(r"[A-Z]{2}-[0-9]{3}", re.ASCII)
_SQUEEZED = re.compile(r"[a-z]{2}[0-9]{3}", re.ASCII)


class Status(StrEnum):
    """PENDING → ACTIVE, REJECTED or EXPIRED; ACTIVE → ENDED."""

    PENDING = "PENDING"
    ACTIVE = "ACTIVE"
    REJECTED = "REJECTED"
    EXPIRED = "EXPIRED"
    ENDED = "ENDED"


class Assurance(StrEnum):
    """How we know that people agreed."""

    HUMAN = "human"
    IN_BAND = "in_band"
    OWNER = "owner"


class Handshake(StrEnum):
    """Whether the target may see the code it has to give."""

    VISIBLE = "visible"
    HUMAN = "human"


class Connection(msgspec.Struct, frozen=True, kw_only=True):
    """A request for consent, and what came of it."""

    id: str
    requester: str
    target: str
    status: Status
    code: str
    note: str | None
    created_at: datetime
    updated_at: datetime
    expires_at: datetime
    assurance: Assurance | None = None


def new_code() -> str:
    """Two letters, a dash, three digits: easy to read out, worth guessing only a few times."""
    letters = "".join(secrets.choice(string.ascii_uppercase) for _ in range(2))
    return f"{letters}-{secrets.randbelow(1000):03d}"


def read_code(text: str) -> str | None:
    """The code as it was made, however it was typed; None if it cannot be one."""
    code = text.strip().upper()
    return code if text.isascii() and _CODE.fullmatch(code) else None


def may_say_code(text: str) -> bool:
    """Whether a text could hold a code, however it is spelled."""
    return _SQUEEZED.search(squeeze(text)) is not None


def says_code(text: str, code: str) -> bool:
    """Whether a text holds this code, in whatever case, width or script of digits, and whatever stands between its characters."""
    return squeeze(code) in squeeze(text)


def as_target_sees(connection: Connection, handshake: Handshake) -> Connection:
    """In `human` mode the code and the requester's note stay hidden from the target unless it has approved."""
    if handshake is Handshake.VISIBLE or connection.status in (Status.ACTIVE, Status.ENDED):
        return connection
    return msgspec.structs.replace(connection, code=MASKED_CODE, note=None)
