"""Rows about work as the desk holds them. They never leave the acts and the store."""

from typing import Any

from msgspec import Struct
from msgspec.json import Decoder

from postoffice.core.reservation import Claim

_paths = Decoder(tuple[str, ...]).decode


class ReservationRow(Struct, kw_only=True):
    """A reservation as stored."""

    id: str
    agent: str
    name: str
    claim: Claim
    why: str
    window: str | None
    made_at: int
    until: int
    live: bool = True
    """Whether it still holds, and its window with it."""

    @classmethod
    def of(cls, row: tuple[Any, ...]) -> "ReservationRow":
        """A reservation as one query gives it: paths are JSON, truths may be numbers."""
        id, agent, name, project, paths, exclusive, why, window, made_at, until, live = row
        claim = Claim(project=project, paths=_paths(paths), exclusive=bool(exclusive))
        return cls(id=id, agent=agent, name=name, claim=claim, why=why, window=window, made_at=made_at, until=until, live=bool(live))

    def holds(self, now: int) -> bool:
        """Whether neither its time nor its window has ended."""
        return self.live and self.until > now

    def is_of(self, agent: str, window: str | None) -> bool:
        """Whether it is this agent's, and not another of its windows'."""
        return self.agent == agent and (self.window is None or window is None or self.window == window)


class BidRow(Struct, frozen=True, kw_only=True):
    """What somebody is to be told of once it is free, as stored."""

    id: str
    agent: str
    claim: Claim
    asked_at: int

    @classmethod
    def of(cls, row: tuple[Any, ...]) -> "BidRow":
        """A bid as one query gives it."""
        id, agent, project, paths, exclusive, asked_at = row
        return cls(id=id, agent=agent, claim=Claim(project=project, paths=_paths(paths), exclusive=bool(exclusive)), asked_at=asked_at)
