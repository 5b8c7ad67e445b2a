"""A reservation: an agent's word that it is working on some files, with an end."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec

from postoffice.core.errors import Invalid, TooLarge
from postoffice.core.globs import Steps, glob_of, meet, project_of, steps_of, steps_to

USUAL: Final = timedelta(hours=1)
LONGEST_HELD: Final = timedelta(hours=12)
MOST_PATHS: Final = 50
MOST_HELD: Final = 100
"""Reservations that one agent has at once, and as many bids."""


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """Which files of which project somebody wants, alone or together with others who say so."""

    project: str
    paths: tuple[str, ...]
    exclusive: bool = True

    @property
    def steps(self) -> list[Steps]:
        """What it covers."""
        return [steps_of(self.project, path) for path in self.paths]

    def same_files(self, other: "Claim") -> bool:
        """Whether both are of the same paths, word for word."""
        return (self.project, self.paths) == (other.project, other.paths)

    def clash(self, other: "Claim") -> str | None:
        """The first path of this claim that the other stands in the way of."""
        if not (self.exclusive or other.exclusive):
            return None
        theirs = other.steps
        return next((path for path, mine in zip(self.paths, self.steps, strict=True) if any(meet(mine, one) for one in theirs)), None)

    def covers(self, project: str, path: str) -> bool:
        """Whether an edit of this file is an edit of what is claimed."""
        return any(meet(one, steps_to(project, path)) for one in self.steps)


class Reservation(msgspec.Struct, frozen=True, kw_only=True):
    """A claim that is granted."""

    id: str
    holder: str
    project: str
    paths: tuple[str, ...]
    exclusive: bool
    why: str
    """In the holder's words."""
    window: str | None
    """The holder's window; when that ends the reservation ends too."""
    since: datetime
    until: datetime

    @property
    def claim(self) -> Claim:
        """What it covers."""
        return Claim(project=self.project, paths=self.paths, exclusive=self.exclusive)


def check_claim(project: str, paths: Sequence[str], *, exclusive: bool = True) -> Claim:
    """The claim in one spelling, if somebody can make it."""
    kept = project_of(project)
    if not paths:
        raise Invalid(what="paths", why="name at least one")
    if len(paths) > MOST_PATHS:
        raise TooLarge(what="paths", size=f"{len(paths)} of them", limit=MOST_PATHS)
    return Claim(project=kept, paths=tuple(sorted({glob_of(path, kept) for path in paths})), exclusive=exclusive)
