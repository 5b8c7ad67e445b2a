"""What the desk needs of the nanobot it works for."""

from typing import Protocol

from postoffice_nanobot.answer import Answer
from postoffice_nanobot.place import Place


class TurnFailed(Exception):
    """The model's turn came to no answer; the text says why."""


class Host(Protocol):
    """One nanobot. Causes are the files of the mail because of which something is done."""

    def allows(self, sender: str) -> bool:
        """Whether this sender may talk to the agent at all."""

    async def ask(self, place: Place, text: str, cause: str) -> Answer:
        """A turn in a conversation of the mailbox; its answer is not shown to anybody. Raises TurnFailed."""

    async def tell(self, place: Place, text: str, cause: str) -> None:
        """A turn in any conversation; its answer is shown there. Raises TurnFailed."""

    async def show(self, place: Place, text: str) -> None:
        """Words for the person there to read, without a turn."""
