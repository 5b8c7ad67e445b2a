"""The shape of an act."""

from typing import Any, Generic, TypeVar

from postoffice.acts.desk import Desk
from postoffice.acts.needs import Needs
from postoffice.core.errors import MailError

R_co = TypeVar("R_co", covariant=True)


class Act(Generic[R_co]):
    """One thing to do. It says what it needs, then does it or refuses, and never half of it."""

    brief = False
    """Whether it takes a moment only, however much mail there is: one letter sent, a few taken or settled."""

    def ask(self, needs: Needs) -> None:
        """Say what must lie on the desk, as far as it is known before anything is loaded."""

    def ask_more(self, needs: Needs, desk: Desk) -> None:
        """Say what else, now that mail and mailboxes are there."""

    def run(self, desk: Desk) -> R_co | MailError:
        """Do it. Refusals are MailErrors raised before the first change; one that is returned keeps what was changed."""
        raise NotImplementedError

    def undo(self, outcome: Any) -> "Act[Any] | None":  # noqa: ARG002 - for acts that have something to take back
        """The act that undoes it when its caller left before it was answered; None if it may stand."""
        return None


class Pause(Act[None]):
    """Does nothing. When it is answered, everything asked before it has been answered too."""

    def run(self, desk: Desk) -> None:
        """Change nothing."""
