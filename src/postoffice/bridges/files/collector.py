"""Files dropped into the inboxes of agents at home in the office: read, checked, sent through the office, and put away."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import msgspec

from postoffice.bridges.files.letters import another_id, to_draft, to_update
from postoffice.bridges.files.tree import Tree
from postoffice.core.agent import Caller
from postoffice.core.delivery import next_try
from postoffice.core.errors import IdConflict, MailboxFull, MailError, RateLimited, Unavailable
from postoffice.core.message import TASK_UPDATE, Draft
from postoffice.core.names import SYSTEM, folded
from postoffice.office import PostOffice

_log = logging.getLogger(__name__)
_BATCH = 100
_FOR_NOW = (MailboxFull, RateLimited, Unavailable)
"""Refusals that pass: the file waits."""
_SET_ASIDE = "set_aside"


class Collector:
    """Speaks for whoever is at home in the files; what anybody else is said to have written is set aside."""

    def __init__(self, office: PostOffice, tree: Tree, at_home: Callable[[str], Caller | None]) -> None:
        self._office = office
        self._tree = tree
        self._at_home = at_home
        self.refused = 0

    async def collect(self, agent: str) -> None:
        """Take everything out of one inbox."""
        while letters := await self._tree.poll(agent, _BATCH):
            # In the order of the files: acts asked for one after another are done so.
            outcomes = await asyncio.gather(*(self._take(agent, letter) for letter in letters))
            await self._tree.processed(agent, [letter["filename"] for letter, taken in zip(letters, outcomes, strict=True) if taken])
            if len(letters) < _BATCH:
                return

    async def copy(self, agent: str, names: list[str]) -> None:
        """Keep what one file agent wrote to another: it is delivered already."""
        for letter in await self._tree.read(agent, names):
            if (sender := self._at_home(letter["from"])) is None:
                continue
            try:
                await self._send(sender, agent, letter, settled=True)
            except _FOR_NOW:
                raise
            except MailError as error:
                _log.info("a file of %s to %s was not copied: %s", sender.name, agent, error)

    async def _take(self, agent: str, letter: dict[str, Any]) -> bool:
        name, sender = letter["filename"], self._at_home(letter["from"])
        if sender is None:
            if folded(letter["from"]) == SYSTEM and letter["metadata"].get("notice") == _SET_ASIDE:
                return True  # the library's word on a file that was set aside: the office tells its sender itself
            self.refused += 1
            why = f"{letter['from']} is not at home in these files; it writes through a door of its own"
            await self._tree.refuse(agent, name, why, tell=False)
            return False
        try:
            await self._send(sender, agent, letter)
        except _FOR_NOW as error:
            _log.warning("a file of %s to %s waits: %s", sender.name, agent, error)
            await self._tree.later(agent, name, str(error), next_try(letter["attempt"]).total_seconds())
        except MailError as error:
            self.refused += 1
            await self._tree.refuse(agent, name, str(error), tell=True)
        else:
            return True
        return False

    async def _send(self, sender: Caller, agent: str, letter: dict[str, Any], *, settled: bool = False) -> None:
        if letter["type"] == TASK_UPDATE:
            task, state, report = to_update(letter)
            report = msgspec.structs.replace(report, settled=settled)
            await _once(lambda draft: self._office.update_task(sender, task, state, draft), report)
            return
        draft = msgspec.structs.replace(to_draft(letter, agent), settled=settled)
        if draft.session_id is None and draft.subject is None and draft.reply_to is not None:
            draft = msgspec.structs.replace(draft, session_id=await self._session_of(sender, agent, draft.reply_to))
        await _once(lambda draft: self._office.send(sender, draft), draft)

    async def _session_of(self, sender: Caller, agent: str, ref: str) -> str | None:
        """The conversation of the message that is answered, if these two had it."""
        try:
            proof = await self._office.status(sender, ref)
        except MailError as error:
            if isinstance(error, _FOR_NOW):
                raise
            return None
        two = {folded(sender.name), folded(agent)}
        if proof.message is None:
            return None
        return next(
            (at.session_id for at in proof.standings if {folded(at.recipient), folded(proof.message.sender)} == two),
            None,
        )


async def _once(act: Callable[[Draft], Any], draft: Draft) -> None:
    try:
        await act(draft)
    except IdConflict:
        await act(another_id(draft))
