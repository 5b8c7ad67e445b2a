"""Keeps messages from going round in circles: a forward costs a hop and records where the message has been."""

from collections.abc import Sequence
from typing import Any

from postoffice_files.errors import LoopRefused
from postoffice_files.names import folded


def is_forward(message: dict[str, Any], sender: str) -> bool:
    """Whether this message is a forward: somebody other than its sender had it before. A task update never is one."""
    trace = message.get("trace") or ()
    return message.get("type") != "task_update" and any(folded(name) != folded(sender) for name in trace)


def hop(ttl: int, trace: Sequence[str], forwarder: str, to: str) -> tuple[int, list[str]]:
    """The ttl and trace of a forward. Raises LoopRefused if it is not allowed."""
    hop_taken = folded(forwarder) in map(folded, trace)  # seed 002's channel counts the hop before it sends
    been = list(trace) if hop_taken else [*trace, forwarder]
    if ttl <= 0 and not hop_taken:
        raise LoopRefused(to=to, why="it has no hops left; handle it yourself")
    if folded(to) in map(folded, been):
        raise LoopRefused(to=to, why=f"it has been there already ({' → '.join(been)}); choose another agent")
    return (ttl if hop_taken else ttl - 1), been


def came_round(message: dict[str, Any], recipient: str) -> bool:
    """Whether a message from a writer that does not count hops has come back to an agent."""
    return is_forward(message, message["from"]) and folded(recipient) in map(folded, message["trace"])
