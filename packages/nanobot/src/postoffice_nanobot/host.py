"""What the desk needs from nanobot."""

from typing import Protocol

from postoffice_nanobot.answer import Answer
from postoffice_nanobot.place import Place


class TurnFailed(Exception):
    """The model's turn gave no answer; the text says why."""


class Host(Protocol):
    """One nanobot. `causes` are the files of the mails because of which something is done."""

    def allows(self, sender: str) -> bool:
        """Whether this sender may talk to the agent."""

    async def ask(self, place: Place, text: str, cause: str) -> Answer:
        """Run a turn in a conversation of the mailbox, and return its answer, which is not shown. Raises TurnFailed."""

    async def tell(self, place: Place, text: str, cause: str) -> None:
        """Run a turn in any conversation, where its answer is shown. Raises TurnFailed."""

    async def show(self, place: Place, text: str) -> None:
        """Show text to the person, without a turn."""
