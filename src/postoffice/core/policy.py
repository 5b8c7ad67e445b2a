"""Who may come in, and who may write to whom."""

from collections.abc import Collection
from enum import StrEnum

from postoffice.core.names import SYSTEM, folded

ANYONE = "*"


class Auth(StrEnum):
    """Open: names without a key may be used by whoever says them. Keys: every call brings a key."""

    OPEN = "open"
    KEYS = "keys"


def admitted(sender: str, recipient: str, allow_from: Collection[str], *, connected: bool) -> bool:
    """The one rule of admission (updates of a task by its assignee pass before it is asked)."""
    if connected or ANYONE in allow_from:
        return True
    name = folded(sender)
    return name in (SYSTEM, folded(recipient)) or name in map(folded, allow_from)
