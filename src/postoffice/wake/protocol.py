"""The shape of a wake-up service."""

from collections.abc import Callable
from typing import Protocol

EVERYBODY = "*"
"""Sent instead of names when more agents have news than one hint can carry."""
Heard = Callable[[frozenset[str]], None]


class Wake(Protocol):
    """Carries the names of agents with news to every process. It may lose, delay or repeat them: only latency suffers."""

    healthy: bool
    """Whether hints are being carried now; without them everyone goes on by looking once a tick."""
    trouble: str | None
    """Why not, as far as it is known."""

    async def open(self, heard: Heard) -> None: ...
    def hint(self, agents: frozenset[str]) -> None: ...
    async def close(self) -> None: ...
