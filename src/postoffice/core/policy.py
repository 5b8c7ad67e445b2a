"""Who may write to whom."""

from collections.abc import Iterable

from postoffice.core.names import SYSTEM, folded

ANYONE = "*"


def admitted(sender: str, recipient: str, allow_from: Iterable[str], *, connected: bool) -> bool:
    """The one rule of admission (updates of a task by its assignee pass before it is asked)."""
    if connected or folded(sender) in (SYSTEM, folded(recipient)):
        return True
    return any(entry == ANYONE or folded(entry) == folded(sender) for entry in allow_from)
