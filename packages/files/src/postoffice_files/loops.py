"""What keeps agents from running in circles: a message forwarded loses a hop and remembers where it has been."""

from collections.abc import Sequence
from typing import Any

from postoffice_files.errors import LoopRefused
from postoffice_files.names import folded


def is_forward(message: dict[str, Any], sender: str) -> bool:
    """Whether somebody other than its sender has had this message before. A task update never is one: it goes back."""
    trace = message.get("trace") or ()
    return message.get("type") != "task_update" and any(folded(name) != folded(sender) for name in trace)


def hop(ttl: int, trace: Sequence[str], forwarder: str, to: str) -> tuple[int, list[str]]:
    """The ttl and trace of a forward, if it may be made at all."""
    hop_taken = folded(forwarder) in map(folded, trace)  # seed 002's channel counts the hop before it sends
    been = list(trace) if hop_taken else [*trace, forwarder]
    if ttl <= 0 and not hop_taken:
        raise LoopRefused(to=to, why="it has no hops left; handle it yourself")
    if folded(to) in map(folded, been):
        raise LoopRefused(to=to, why=f"it has been there already ({' → '.join(been)}); choose another agent")
    return (ttl if hop_taken else ttl - 1), been


def came_round(message: dict[str, Any], recipient: str) -> bool:
    """Whether a message from a writer that does not count hops has come back to where it was."""
    return is_forward(message, message["from"]) and folded(recipient) in map(folded, message["trace"])
