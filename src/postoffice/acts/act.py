"""The shape of an act."""

from typing import Generic, TypeVar

from postoffice.acts.desk import Desk
from postoffice.acts.needs import Needs

R = TypeVar("R")


class Act(Generic[R]):
    """One thing to do. It says what it needs, then does it or refuses, and never half of it."""

    def ask(self, needs: Needs) -> None:
        """Say what must lie on the desk, as far as it is known before anything is loaded."""

    def ask_more(self, needs: Needs, desk: Desk) -> None:
        """Say what else, now that mail and mailboxes are there."""

    def run(self, desk: Desk) -> R:
        """Do it. Refusals are MailErrors raised before the first change."""
        raise NotImplementedError


class Pause(Act[None]):
    """Nothing, done in its turn: what was asked before it has been answered."""

    def run(self, desk: Desk) -> None:
        """Change nothing."""
