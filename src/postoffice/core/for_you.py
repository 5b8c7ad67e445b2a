"""For you: all that waits for a person, in one ranked list, each with what can be done about it."""

from datetime import datetime, timedelta
from enum import IntEnum, StrEnum

import msgspec

_DUE_SOON_WITHIN = timedelta(hours=1)
_URGENT_PRIORITY = 1


class MatterKind(StrEnum):
    """What waits."""

    QUESTION = "question"
    CONSENT = "consent"
    TASK = "task"
    HELD = "held"
    MAIL = "mail"
    WEBHOOK = "webhook"
    NOTIFY = "notify"
    DEAD = "dead"
    SILENT = "silent"


class Rank(IntEnum):
    """How pressing it is. The lowest comes first, and of two equal ones the older."""

    NOW = 0
    QUESTION = 1
    CONSENT = 2
    TASK = 3
    HELD = 4
    MAIL = 5
    WEBHOOK = 6
    NOTIFY = 6
    DEAD = 7
    SILENT = 8


class Matter(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that waits for a person."""

    kind: MatterKind
    id: str
    """Of the message, or of the connection; of a webhook or a notify address its name."""
    who: str
    """Who asks, wrote, or did not come."""
    what: str
    text: str
    since: datetime
    rank: Rank
    can: tuple[str, ...]
    """What the person can do about it."""
    due: datetime | None = None
    whom: str | None = None
    """The other agent it is about, where there is one besides."""
    session_id: str | None = None
    seen_at: datetime | None = None


class ForYou(msgspec.Struct, frozen=True, kw_only=True):
    """What waits, the most pressing first, and how much it is in all."""

    matters: tuple[Matter, ...]
    count: int


def rank_of(kind: MatterKind, now: datetime, due: datetime | None = None, priority: int | None = None) -> Rank:
    """What is urgent, late or nearly late comes before everything else."""
    if priority == _URGENT_PRIORITY or (due is not None and due - now < _DUE_SOON_WITHIN):
        return Rank.NOW
    return Rank[kind.name]
