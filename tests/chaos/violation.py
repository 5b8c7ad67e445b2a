"""What can be wrong with a history, each with a name."""

from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """The promises, each by how it is broken."""

    LOST = "accepted and never delivered"
    DOUBLED = "one id, two messages"
    STRANGER = "delivered and never sent"
    REFUSED = "delivered although its sender was told that nothing was stored"
    SHARED = "two holders within one lease"
    DISORDER = "a later message first delivered before an earlier one"
    MISNUMBERED = "numbered against the order in which it was accepted"
    RISEN = "acked, and given out again"
    LATE = "settled by a holder whose lease another had taken since"
    ROBBED = "a holder within its lease was turned away"
    LENGTH = "a lease of another length than was asked for"
    UNPROMISED = "an answer that no promise covers"
    LEFT = "still waiting when nobody could take any more"


class Violation(NamedTuple):
    """One broken promise: which, of which message, and the calls that show it."""

    kind: Kind
    what: str
    calls: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.kind.value}: {self.what} ({', '.join(self.calls)})"
