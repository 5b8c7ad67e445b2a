"""An agent at home in the files: its mail from the office lies in its inbox until it has handled it."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable
from typing import NamedTuple

from postoffice.bridges.files.letters import to_file
from postoffice.bridges.files.lying import Waiting
from postoffice.bridges.files.tree import Tree
from postoffice.core.agent import Caller
from postoffice.core.clock import is_id, micros
from postoffice.core.delivery import Ack, GiveBack, Handed, Leased, Lent, Refuse, Settlement
from postoffice.core.errors import Conflict, NotFound
from postoffice.core.message import Message
from postoffice.core.names import folded
from postoffice.office import PostOffice
from postoffice_files import FileMailError

_log = logging.getLogger(__name__)
_LEND_WAIT_SECONDS = 60.0
_REASON_CHARACTERS = 400
_SETTLED_REMEMBERED = 10_000


class Handover(NamedTuple):
    """One file and the lease it stands for."""

    message_id: str
    token: str
    folder: str
    """The very inbox it was put into: a file missing from another inbox was not handled."""


class Resident:
    """Lends mail, writes it as files, and settles it by what becomes of them: processed or gone is acked, set aside is dead."""

    def __init__(self, office: PostOffice, tree: Tree, caller: Caller) -> None:
        self.caller = caller
        self._office = office
        self._tree = tree
        self._handed: dict[str, Handover] = {}
        self._settled: dict[str, str] = {}  # by file: the inbox it had left
        # Only one at a time: a file must be recorded as ours before we look for it.
        self._turn = asyncio.Lock()

    async def run(self) -> None:
        """Hand over what comes, until cancelled. First finish what an earlier bridge left."""
        await self._recover()
        await self.look()
        while True:
            if lent := await self._office.lending.lend(self.caller, within=_LEND_WAIT_SECONDS):
                await self._hand_over(lent)
            elif self._office.draining:
                return

    async def look(self) -> None:
        """Settle what has left the inbox. A missing inbox says nothing."""
        async with self._turn:
            if not (self._handed or self._settled) or (waiting := await self._tree.waiting(self.caller.name)) is None:
                return
            await self._take_note(waiting)
            gone = [name for name in self._handed if name not in waiting.names]
            reasons = await self._tree.reasons(self.caller.name, gone) if gone else {}
            lost = {name for name in gone if name not in reasons and self._handed[name].folder != waiting.folder}
            if lost:
                lost -= await self._tree.archived(self.caller.name)
            await self._settle([name for name in gone if name not in lost], reasons)
        if lost:
            await self._hand_over_again(lost)

    async def _take_note(self, waiting: Waiting) -> None:
        """Record files that lie in another inbox than expected: an old inbox is back, or was copied."""
        moved = [name for name in self._handed if name in waiting.names and self._handed[name].folder != waiting.folder]
        for name in moved:
            self._handed[name] = self._handed[name]._replace(folder=waiting.folder)
        await self._put([self._handed_as(name) for name in moved])
        done = [name for name in waiting.names if self._settled.get(name, waiting.folder) != waiting.folder]
        await self._tree.withdraw(self.caller.name, done)

    async def _hand_over_again(self, lost: set[str]) -> None:
        """Write the unhandled mail again that lay in an inbox which another one has replaced."""
        _log.warning("%s's inbox was replaced by another; %s of its files are written again", self.caller.name, len(lost))
        places: set[str | None] = set()
        async for page in self._lent():
            await self._hand_over([lent for lent in page if self._name_of(lent) in lost])
            places.update(map(self._name_of, page))
        for name in lost - places:  # it is no longer lent
            self._handed.pop(name, None)

    async def stop(self, running: asyncio.Task[None]) -> None:
        """Stop, but not in the middle of a handover."""
        async with self._turn:
            running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    async def leave(self) -> None:
        """The agent has moved out: what it has not handled waits in the office again."""
        unwritten = [lent async for page in self._elsewhere() for lent in page if lent.where is None]
        async with self._turn:
            # Only what lies in `processed` counts as handled: if the folder was removed, an empty one may stand in its place.
            reasons = await self._tree.reasons(self.caller.name, list(self._handed))
            handled = {*reasons, *await self._tree.archived(self.caller.name)}
            await self._settle([name for name in self._handed if name in handled], reasons)
            # Give it back first and remove the file after: if we are killed in between, the mail is there twice rather than lost.
            await self._put([GiveBack(one.message_id, one.token) for one in self._handed.values()])
            await self._put([GiveBack(lent.message.id, lent.token) for lent in unwritten])
            await self._tree.withdraw(self.caller.name, list(self._handed))
            self._handed.clear()

    def has_handed(self, name: str) -> bool:
        """Whether the office wrote this file, or had it there lately."""
        return name in self._handed or name in self._settled

    @property
    def waiting(self) -> int:
        """How many of our files the agent has still to handle."""
        return len(self._handed)

    async def _recover(self) -> None:
        async for unwritten in self._elsewhere():
            await self._hand_over(unwritten)

    async def _elsewhere(self) -> AsyncIterator[list[Lent]]:
        """What is lent but not in this tree, page by page. The rest is recorded as handed over on the way."""
        async for page in self._lent():
            elsewhere = []
            async with self._turn:
                for lent in page:
                    if (name := self._name_of(lent)) is None:
                        elsewhere.append(lent)
                    else:
                        self._handed[name] = Handover(lent.message.id, lent.token, self._folder_of(lent))
            yield elsewhere

    async def _lent(self) -> AsyncIterator[list[Lent]]:
        """All that is lent, page by page."""
        cursor: str | None = None
        while True:
            page = await self._office.lending.lent(self.caller, cursor)
            yield list(page.items)
            if (cursor := page.cursor) is None:
                return

    def _handed_as(self, name: str) -> Handed:
        """What the office writes down of a file's place: the tree, the very inbox, and the name."""
        one = self._handed[name]
        return Handed(one.message_id, one.token, f"{self._tree.id}@{one.folder}/{name}")

    def _name_of(self, lent: Lent) -> str | None:
        """The file's name in this tree; None if it was not written here."""
        at, _, name = (lent.where or "").partition("/")
        return name if at.partition("@")[0] == self._tree.id else None

    def _folder_of(self, lent: Lent) -> str:
        """The inbox it was put into; empty if an older office did not write that down."""
        return (lent.where or "").partition("/")[0].partition("@")[2]

    async def _hand_over(self, lent: Iterable[Leased | Lent]) -> None:
        batch = list(lent)
        if not batch:
            return
        await self._office.lending.guest(self.caller.name)  # refused if the name has a key by now
        answered = [await self._answered(one.message) for one in batch]
        async with self._turn:
            written = await self._tree.deliver(
                self.caller.name,
                [
                    (
                        one.message.sender,
                        to_file(one.message, one.session_id, reply_to),
                        micros(one.message.created_at),
                        f"{one.message.id}:{one.token}",  # lent a second time, it is another file
                        one.number,
                    )
                    for one, reply_to in zip(batch, answered, strict=True)
                ],
            )
            settlements: list[Settlement] = []
            for one, put in zip(batch, written, strict=True):
                if isinstance(put, FileMailError):
                    settlements.append(Refuse(one.message.id, one.token, str(put)[:_REASON_CHARACTERS]))
                    continue
                self._handed[put.filename] = Handover(one.message.id, one.token, put.folder)
                settlements.append(self._handed_as(put.filename))
            await self._put(settlements)

    async def _answered(self, message: Message) -> str | None:
        """The id of the answered message as the agent itself gave it, as it knows no other."""
        if message.reply_to is None or not is_id(message.reply_to):
            return message.reply_to
        try:
            original = (await self._office.status(self.caller, message.reply_to)).message
        except (NotFound, Conflict):
            return message.reply_to
        mine = original is not None and folded(original.sender) == folded(self.caller.name)
        return (original.client_id if original is not None and mine else None) or message.reply_to

    async def _settle(self, gone: list[str], reasons: dict[str, str]) -> None:
        settlements: list[Settlement] = []
        for name in gone:
            message_id, token, _ = self._handed[name]
            settlements.append(Refuse(message_id, token, reasons[name]) if name in reasons else Ack(message_id, token))
        await self._put(settlements)
        if len(self._settled) > _SETTLED_REMEMBERED:
            self._settled.clear()
        for name in gone:
            self._settled[name] = self._handed.pop(name).folder

    async def _put(self, settlements: list[Settlement]) -> None:
        batch = self._office.rules.limits.batch
        for begin in range(0, len(settlements), batch):
            for outcome in await self._office.settle(self.caller, settlements[begin : begin + batch]):
                if isinstance(outcome, Exception):
                    _log.info("%s's file mailbox: %s", self.caller.name, outcome)
