"""What keeps agents from running in circles: hops for forwards, a budget for automatic replies."""

from collections.abc import Sequence

from postoffice.core.errors import LoopRefused
from postoffice.core.message import Message
from postoffice.core.names import folded


def hop(original: Message, forwarder: str, to: str) -> tuple[int, tuple[str, ...]]:
    """The ttl and trace of a forward, if it may be made at all."""
    trace = original.trace if folded(forwarder) in map(folded, original.trace) else (*original.trace, forwarder)
    if original.ttl <= 0:
        raise LoopRefused(to=to, why="the message has no hops left; handle it yourself")
    check_trace(trace, to)
    return original.ttl - 1, trace


def check_trace(trace: Sequence[str], to: str) -> None:
    """Refuse to send a message where it has been."""
    if folded(to) in map(folded, trace):
        raise LoopRefused(to=to, why=f"it has been there already ({' → '.join(trace)}); choose another agent")


def budget_after(left: int, *, automatic: bool, full: int) -> int | None:
    """The automatic replies left after a message; None when this one is no longer allowed."""
    if not automatic:
        return full
    return left - 1 if left > 0 else None
