"""A process with a desk that dies at a chosen moment, at once and without a word. Run by test_kills.py."""

import asyncio
import os
import sys

from postoffice_nanobot.answer import Answer
from postoffice_nanobot.box import Box
from postoffice_nanobot.config import MailboxConfig
from postoffice_nanobot.delegation import Delegation
from postoffice_nanobot.desk import Desk
from postoffice_nanobot.outbox import Order, Origin
from postoffice_nanobot.place import Place

ROOT, MOMENT = sys.argv[1:]


class DyingBox(Box):
    """Dies before it marks anything, or in the midst of delegating."""

    async def processed(self, filename: str) -> None:  # noqa: ARG002 - it never comes to that
        os._exit(9)

    async def keep(self, delegation: Delegation) -> None:
        await super().keep(delegation)
        if ("sent" if delegation.sent else "written down") == MOMENT:
            os._exit(9)


class DyingBot:
    """Its model delegates when it is to die in the midst of that."""

    def __init__(self) -> None:
        config = MailboxConfig(enabled=True, agent_id="coder", poll_interval=0.02, mailboxes_root=ROOT)
        self.desk = Desk(config, DyingBox(config), self)

    def allows(self, sender: str) -> bool:
        return bool(sender)

    async def ask(self, place: Place, text: str, cause: str) -> Answer:
        if MOMENT == "asked":
            os._exit(9)
        if MOMENT in {"written down", "sent"}:
            await self.desk.send(Order("typist", Answer("type this")), Origin(place, cause))
        return Answer(f"answer to {len(text)} characters")

    async def tell(self, place: Place, text: str, cause: str) -> None:
        await self.ask(place, text, cause)

    async def show(self, place: Place, text: str) -> None:
        """Nobody looks."""


asyncio.run(DyingBot().desk.run())
