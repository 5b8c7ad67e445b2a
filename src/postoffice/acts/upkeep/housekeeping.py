"""What acts of housekeeping have in common."""

from typing import TypeVar

from postoffice.acts.act import Act
from postoffice.acts.needs import Needs
from postoffice.core.names import SYSTEM

R = TypeVar("R")


class Housekeeping(Act[R]):
    """It takes the office's own mailbox, so that no two processes do it at once."""

    def ask(self, needs: Needs) -> None:
        needs.boxes.add(SYSTEM)
