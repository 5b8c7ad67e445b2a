"""Many letters at once: which are meant, and what becomes of them."""

from datetime import datetime, timedelta
from enum import StrEnum

import msgspec


class BulkAct(StrEnum):
    """Dead letters are requeued or discarded; what waits expires."""

    REQUEUE = "requeue"
    DISCARD = "discard"
    EXPIRE = "expire"


class Which(msgspec.Struct, frozen=True, kw_only=True):
    """Those that fit all of this."""

    agent: str | None = None
    """Whose mailbox they are in."""
    sender: str | None = None
    type: str | None = None
    reason: str | None = None
    """Words that stand in the reason."""
    older_than: timedelta | None = None
    """Since they died, or since they came to wait."""


class Counted(msgspec.Struct, frozen=True):
    """How many fit, of those there were at that moment."""

    count: int
    before: datetime


class BulkDone(msgspec.Struct, frozen=True):
    """What became of one group of them."""

    done: int
    refused: int
    """Somebody else settled them meanwhile, or they cannot be brought back."""
    left: int
    cursor: str | None
    """Where the next group begins; nothing when there is none."""
