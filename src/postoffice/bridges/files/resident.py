"""An agent at home in the files: what the office has for it lies in its inbox until it is done with."""

import asyncio
import logging
from collections.abc import Iterable
from typing import NamedTuple

from postoffice.bridges.files.letters import to_file
from postoffice.bridges.files.tree import Tree
from postoffice.core.agent import Caller
from postoffice.core.clock import micros
from postoffice.core.delivery import Ack, GiveBack, Handed, Leased, Lent, Refuse, Settlement
from postoffice.office import PostOffice
from postoffice_files import FileMailError

_log = logging.getLogger(__name__)
_BATCH = 100
_WAIT = 60.0


class Handover(NamedTuple):
    """One file and the lease it stands for."""

    message_id: str
    token: str


class Resident:
    """Lends, hands over, and settles by what becomes of the file: processed or gone is acked, set aside is dead."""

    def __init__(self, office: PostOffice, tree: Tree, caller: Caller) -> None:
        self.caller = caller
        self._office = office
        self._tree = tree
        self._handed: dict[str, Handover] = {}
        # A file must not be looked for before it is known to be ours.
        self._turn = asyncio.Lock()

    async def run(self) -> None:
        """Hand over what comes, until cancelled. What an earlier bridge left unfinished comes first."""
        await self._recover()
        await self.look()
        while True:
            if lent := await self._office.lend(self.caller, _BATCH, within=_WAIT):
                await self._hand_over(lent)
            elif self._office.draining:
                return

    async def look(self) -> None:
        """Settle what has left the inbox."""
        async with self._turn:
            if not self._handed:
                return
            waiting = await self._tree.waiting(self.caller.name)
            gone = [name for name in self._handed if name not in waiting]
            if gone:
                await self._settle(gone, await self._tree.reasons(self.caller.name, gone))

    async def leave(self) -> None:
        """It has moved out: what it has not handled waits in the office again."""
        async with self._turn:
            waiting = await self._tree.waiting(self.caller.name)
            left = [name for name in self._handed if name in waiting]
            await self._put([GiveBack(*self._handed[name]) for name in left])
            await self._tree.processed(self.caller.name, left)
            self._handed.clear()

    def has_handed(self, name: str) -> bool:
        """Whether a file is one of ours."""
        return name in self._handed

    @property
    def waiting(self) -> int:
        """How many of our files it has still to handle."""
        return len(self._handed)

    async def _recover(self) -> None:
        cursor: str | None = None
        while True:
            page = await self._office.lent(self.caller, cursor, _BATCH)
            unwritten = []
            async with self._turn:
                for lent in page.items:
                    if lent.where is None:
                        unwritten.append(lent)
                    elif lent.where.startswith(f"{self._tree.id}/"):
                        self._handed[lent.where.partition("/")[2]] = Handover(lent.message.id, lent.token)
            await self._hand_over(unwritten)
            if (cursor := page.cursor) is None:
                return

    async def _hand_over(self, lent: Iterable[Leased | Lent]) -> None:
        batch = list(lent)
        if not batch:
            return
        async with self._turn:
            written = await self._tree.deliver(
                self.caller.name,
                [
                    (
                        one.message.sender,
                        to_file(one.message, one.session_id),
                        micros(one.message.created_at),
                        f"{one.message.id}:{one.attempt}",
                        one.number,
                    )
                    for one in batch
                ],
            )
            told: list[Settlement] = []
            for one, name in zip(batch, written, strict=True):
                if isinstance(name, FileMailError):
                    told.append(Refuse(one.message.id, one.token, str(name)))
                    continue
                self._handed[name] = Handover(one.message.id, one.token)
                told.append(Handed(one.message.id, one.token, f"{self._tree.id}/{name}"))
            await self._put(told)

    async def _settle(self, gone: list[str], reasons: dict[str, str]) -> None:
        settlements: list[Settlement] = []
        for name in gone:
            message_id, token = self._handed[name]
            settlements.append(Refuse(message_id, token, reasons[name]) if name in reasons else Ack(message_id, token))
        await self._put(settlements)
        for name in gone:
            del self._handed[name]

    async def _put(self, settlements: list[Settlement]) -> None:
        for begin in range(0, len(settlements), _BATCH):
            for outcome in await self._office.settle(self.caller, settlements[begin : begin + _BATCH]):
                if isinstance(outcome, Exception):
                    _log.info("%s's file mailbox: %s", self.caller.name, outcome)
