"""Where one message stands with one recipient, and the moves allowed from there."""

from datetime import datetime, timedelta
from enum import StrEnum

import msgspec
from msgspec import UNSET, UnsetType

from postoffice.core.errors import MailError
from postoffice.core.message import Message
from postoffice.core.pause import Pause


class State(StrEnum):
    """held → pending → leased → acked, or dead."""

    HELD = "held"
    PENDING = "pending"
    LEASED = "leased"
    ACKED = "acked"
    DEAD = "dead"


UNREAD = frozenset({State.HELD, State.PENDING})
WAITING = frozenset({State.HELD, State.PENDING, State.LEASED})

MOVES = {
    State.HELD: {State.PENDING, State.ACKED, State.DEAD},
    State.PENDING: {State.LEASED, State.HELD, State.ACKED, State.DEAD},
    State.LEASED: {State.PENDING, State.HELD, State.ACKED, State.DEAD},
    State.ACKED: frozenset[State](),
    State.DEAD: {State.PENDING, State.ACKED},
}


class Ack(msgspec.Struct, frozen=True, gc=False):
    """Done with it. Without a token it settles only what the caller holds, or held until its lease ran out."""

    ref: str
    token: str | None = None


class Nack(msgspec.Struct, frozen=True):
    """Not done with it: give it back, at once or after a while."""

    ref: str
    token: str | None = None
    delay: timedelta = timedelta(0)
    reason: str | None = None
    untried: bool = False
    """It was never begun: the lease was no attempt."""


class Extend(msgspec.Struct, frozen=True):
    """Still at it: keep the lease for so long from now."""

    ref: str
    visible_for: timedelta
    token: str | None = None
    shorten: bool = True
    """Whether the lease may end sooner than it would have."""


class GiveBack(msgspec.Struct, frozen=True):
    """The taker never learned of the lease: undo it as if it had not been."""

    ref: str
    token: str


class Handed(msgspec.Struct, frozen=True):
    """Lent to somebody who keeps mail elsewhere, and now it lies there."""

    ref: str
    token: str
    where: str


class Refuse(msgspec.Struct, frozen=True):
    """It will never be handled: dead, whatever tries are left."""

    ref: str
    token: str | None
    reason: str


Settlement = Ack | Nack | Extend | GiveBack | Handed | Refuse


class Unread(msgspec.Struct, frozen=True):
    """A settlement that its door could not read. It is refused by itself, and harms none of the others."""

    ref: str
    why: MailError


class Settled(msgspec.Struct, frozen=True, gc=False):
    """How one settlement ended."""

    message_id: str
    state: State


CANCELED = "canceled"
"""Why a delivery is dead that its sender has taken back."""
EXPIRED = "expired"
"""Why a delivery is dead that nobody has taken in time."""


class Recalled(msgspec.Struct, frozen=True):
    """What became of a message with one recipient when its sender took it back."""

    recipient: str
    state: State
    canceled: bool
    """Whether it will not reach the recipient any more, or is a task that has ended by this."""


class Asked(msgspec.Struct, frozen=True, gc=False):
    """A message whose answer is awaited: a reply to it, or a message in its session with its correlation id."""

    id: str
    named: tuple[str, ...]
    """Its ids, by any of which a reply may name it."""
    session_id: str | None
    correlation_id: str | None

    def is_answered_by(self, message: Message, session_id: str | None) -> bool:
        """Whether a message, delivered in that session, is its answer."""
        carries_on = self.correlation_id is not None and (message.correlation_id, session_id) == (self.correlation_id, self.session_id)
        return message.id > self.id and (carries_on or message.reply_to in self.named)


class Wish(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a taker asks of its mailbox."""

    limit: int
    visible_for: timedelta | None
    """None leases without expiry."""
    pop: bool = False
    """Settle in the same act: at most once, by contract."""
    one_per_session: bool = False
    session_id: str | None = None
    correlation_id: str | None = None
    answer_to: Asked | None = None
    taker: str | None = None
    """Who takes, where that is not the mailbox's own agent but one of a role's."""

    @property
    def choosy(self) -> bool:
        """Whether not just any mail will do."""
        return self.session_id is not None or self.correlation_id is not None or self.answer_to is not None


class Leased(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A message in its taker's hands."""

    message: Message
    token: str
    session_id: str | None
    attempt: int
    number: int
    leased_until: datetime | None


class Collected(msgspec.Struct, frozen=True, gc=False):
    """What a turn gave: an answer for each settlement, in order, and the mail taken."""

    settled: tuple[Settled | MailError, ...]
    leased: tuple[Leased, ...]
    waiting: int = 0
    """How much more waits."""
    in_hand: int = 0
    """How much of the mailbox is in somebody's hands, with what was taken."""
    paused: Pause | None = None
    in_order: bool = False
    """Nothing was taken: this mailbox gives out one letter of a session at a time, and that was not asked for. Ask so."""


class InHand(msgspec.Struct, frozen=True, kw_only=True):
    """A message that its taker still holds, and for how long."""

    leased: Leased
    left: timedelta


class Lent(msgspec.Struct, frozen=True, kw_only=True):
    """A message leased without expiry, to somebody who keeps mail elsewhere."""

    message: Message
    token: str
    session_id: str | None
    attempt: int
    number: int
    where: str | None
    """What it is called there; nothing while it is not known to have arrived."""


class OnLedger(msgspec.Struct, frozen=True, kw_only=True):
    """Where a message stands on its way over the ledger."""

    state: str
    """`awaiting`, `confirmed`, or `failed`."""
    topic_id: str
    sequence: int | None = None
    consensus_at: str | None = None
    """The ledger's own time for it, in seconds since 1970."""
    trouble: str | None = None
    """Why it is not there yet, where something is in the way."""


class Rings(msgspec.Struct, frozen=True, kw_only=True):
    """How often a window was rung for a message, and what came of it. Only an ack says that it was read."""

    times: int
    first_at: datetime
    last_at: datetime
    turn_at: datetime | None
    """When a turn began there after the last ring."""
    told_at: datetime | None
    """When its sender was told that all that was in vain."""


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """Where a message stands with one recipient, as its sender may know it."""

    recipient: str
    state: State
    attempts: int
    number: int
    session_id: str | None = None
    due_at: datetime | None = None
    settled_at: datetime | None = None
    reason: str | None = None
    leased_at: datetime | None = None
    """When it was first taken."""
    seen_at: datetime | None = None
    """When a person opened it, who has not dealt with it yet."""
    deliver_at: datetime | UnsetType = UNSET
    """Of what waits for its time: when it is delivered. Until then its recipient knows nothing of it."""
    paused_until: datetime | UnsetType | None = UNSET
    """If it waits because its recipient is paused: when the pause ends; None if somebody has to resume it."""
    taken_by: str | UnsetType = UNSET
    """Of a letter to a role: which of its agents took it last."""
    ledger: OnLedger | UnsetType = UNSET
    """Of a message that goes by the ledger."""
    rung: Rings | UnsetType = UNSET
    """Of a message for which a window was rung."""

    @property
    def in_words(self) -> str:
        """The state as people say it: what a person has opened is seen, what is held since it was sent awaits its time or the ledger."""
        if self.state is State.DEAD and self.reason == EXPIRED:
            return "expired"
        if self.state is State.HELD and isinstance(self.deliver_at, datetime):
            return f"scheduled until {self.deliver_at:%Y-%m-%d %H:%M} UTC"
        if self.state is State.PENDING and self.seen_at is not None:
            return "seen"
        if isinstance(self.taken_by, str) and self.state in (State.LEASED, State.ACKED):
            return f"{self.state} by {self.taken_by}"
        waits = self.state is State.HELD and isinstance(self.ledger, OnLedger) and self.ledger.state == "awaiting"
        return "awaiting ledger" if waits else str(self.state)


def after_failure(attempts: int, max_attempts: int, delay: timedelta) -> State:
    """Where a delivery goes when its lease ends without an ack."""
    if attempts >= max_attempts:
        return State.DEAD
    return State.HELD if delay > timedelta(0) else State.PENDING


def next_try(attempts: int, least: timedelta = timedelta(seconds=1), most: timedelta = timedelta(minutes=5)) -> timedelta:
    """How long to wait before trying again what failed so many times."""
    doublings = min(max(attempts - 1, 0), 32)
    return min(least * (1 << doublings), most)
