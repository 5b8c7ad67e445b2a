"""Collects files that were dropped into the inboxes of agents at home in the office: checks them, sends them, and puts them away."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from postoffice.bridges.files.directory import Directory
from postoffice.bridges.files.letters import another_id, to_draft, to_update
from postoffice.bridges.files.lying import File
from postoffice.bridges.files.tree import Tree
from postoffice.core.agent import Caller
from postoffice.core.delivery import next_try
from postoffice.core.draft import Draft
from postoffice.core.errors import (
    IdConflict,
    KeyRequired,
    MailboxFull,
    MailError,
    NoRegistry,
    NoSuchTask,
    NotAtHome,
    RateLimited,
    Unavailable,
)
from postoffice.core.message import TASK_UPDATE
from postoffice.core.names import SYSTEM, folded
from postoffice.core.task import TaskState
from postoffice.core.views import Proof
from postoffice.office import PostOffice

_log = logging.getLogger(__name__)
_FILES_AT_ONCE = 100
_PASSING_REFUSALS = (MailboxFull, RateLimited, Unavailable)
"""Refusals that pass with time: the file waits."""
_SET_ASIDE = "set_aside"


class Instruction(NamedTuple):
    """What one file asks the office to do."""

    sender: Caller
    draft: Draft
    task: str = ""
    state: TaskState | None = None
    """Where the task stands now, if it is an update."""

    def renamed(self) -> "Instruction":
        """The same with another id, as its own was used for something else."""
        return self._replace(draft=another_id(self.draft, self.task, self.state))


class Collector:
    """Sends for agents at home in the files. A file that names another sender is set aside."""

    def __init__(self, office: PostOffice, tree: Tree, directory: Directory, sync: Callable[[], Awaitable[None]]) -> None:
        self._office = office
        self._tree = tree
        self._directory = directory
        self._sync = sync
        self.refused = 0

    async def collect(self, agent: str) -> None:
        """Collect everything in one inbox."""
        if not await self._tree.has_any(agent):
            return
        if not self._directory.knows(agent):
            await self._sync()  # this agent may have just moved into the files; then it reads its inbox itself
        if self._directory.find(agent) is not None:
            return
        while letters := await self._tree.poll(agent, _FILES_AT_ONCE):
            await self._meet(letters)
            if self._directory.find(agent) is not None:  # it moved in meanwhile
                await self._tree.release(agent, [letter["filename"] for letter in letters])
                return
            instructions = await asyncio.gather(*(self._instruction(agent, letter) for letter in letters), return_exceptions=True)
            # Acts are done in the order they are asked for, so the files keep their order without a wait between them.
            outcomes = await asyncio.gather(*(self._run(instruction) for instruction in _told_apart(instructions)), return_exceptions=True)
            done = [letter["filename"] for letter, outcome in zip(letters, outcomes, strict=True) if outcome is None]
            await self._tree.processed(agent, done)
            for letter, outcome in zip(letters, outcomes, strict=True):
                if outcome is not None:
                    await self._put_away(agent, letter, outcome)
            if len(letters) < _FILES_AT_ONCE:
                return

    async def copy(self, files: list[File]) -> set[File]:
        """Copy what file agents wrote to each other; it is delivered already. Returns the reports on tasks that are not known (yet)."""
        letters = await self._tree.read(files)
        await self._meet([letter for _, letter in letters])
        early: set[File] = set()
        for file, letter in letters:
            agent = file.agent
            try:
                instruction = await self._instruction(agent, letter, settled=True)
                if instruction is not None and not await self._came_from_here(instruction, agent, letter):
                    await self._run(instruction)
            except _PASSING_REFUSALS:
                raise
            except NotAtHome:
                continue
            except NoSuchTask:
                early.add(file)
            except MailError as error:
                _log.info("a file of %s to %s was not copied: %s", letter["from"], agent, error)
            except Exception:  # noqa: BLE001 - a bug that one file met must not keep the others
                _log.exception("a file of %s to %s was not copied", letter["from"], agent)
        return early

    async def _instruction(self, agent: str, letter: dict[str, Any], *, settled: bool = False) -> Instruction | None:
        """What a file asks for, and for whom; None if it asks for nothing."""
        if (sender := await self._speaker(letter["from"])) is None:
            if folded(letter["from"]) == SYSTEM and letter["metadata"].get("notice") == _SET_ASIDE:
                return None  # the library reports a file that was set aside; the office tells its sender itself
            raise NotAtHome(name=letter["from"]) if self._directory.readable else NoRegistry(root=self._tree.root)
        if letter["type"] == TASK_UPDATE:
            task, state, draft = to_update(letter)
            return Instruction(sender, msgspec.structs.replace(draft, settled=settled), task, state)
        draft = to_draft(letter, agent)
        if settled and draft.content is None and not draft.parts and draft.payload is msgspec.UNSET:
            draft = msgspec.structs.replace(draft, content="")  # an empty message between file agents has been delivered, so keep it
        return Instruction(sender, msgspec.structs.replace(draft, settled=settled))

    async def _meet(self, letters: list[dict[str, Any]]) -> None:
        """Look around for an unknown sender: it may have moved in just before it wrote."""
        if any(self._directory.find(letter["from"]) is None for letter in letters):
            await self._sync()

    async def _speaker(self, name: str) -> Caller | None:
        """The file agent we send for; None if it is not at home in the files, or its name has a key by now."""
        if (caller := self._directory.find(name)) is None:
            return None
        try:
            return await self._office.lending.guest(caller.name)
        except KeyRequired:
            return None

    async def _run(self, instruction: Instruction | BaseException | None) -> None:
        if isinstance(instruction, BaseException):
            raise instruction
        if instruction is not None:
            try:
                await self._act(instruction)
            except IdConflict:
                await self._act(instruction.renamed())

    async def _act(self, instruction: Instruction) -> None:
        if instruction.state is None:
            await self._office.send(instruction.sender, instruction.draft)
        else:
            await self._office.update_task(instruction.sender, instruction.task, instruction.state, instruction.draft)

    async def _put_away(self, agent: str, letter: dict[str, Any], outcome: BaseException) -> None:
        match outcome:
            case MailboxFull() | RateLimited() | Unavailable():
                _log.warning("a file of %s to %s waits: %s", letter["from"], agent, outcome)
                await self._tree.later(agent, letter["filename"], str(outcome), next_try(letter["attempt"]).total_seconds())
            case MailError():
                self.refused += 1
                await self._tree.refuse(agent, letter["filename"], str(outcome), tell=not isinstance(outcome, NotAtHome))
            case Exception():  # a bug with one file must not hold up the others
                _log.error("a file of %s to %s waits", letter["from"], agent, exc_info=outcome)
                await self._tree.later(agent, letter["filename"], repr(outcome), next_try(letter["attempt"]).total_seconds())
            case _:
                raise outcome

    async def _came_from_here(self, instruction: Instruction, agent: str, letter: dict[str, Any]) -> bool:
        """Whether the office handed this file over itself. Its sender may use other doors too."""
        ref = letter.get("message_id")
        proof = await self._proof(instruction.sender, ref) if isinstance(ref, str) else None
        return proof is not None and any(folded(at.recipient) == folded(agent) for at in proof.standings)

    async def _proof(self, sender: Caller, ref: str) -> Proof | None:
        try:
            return await self._office.status(sender, ref)
        except MailError as error:
            if isinstance(error, _PASSING_REFUSALS):
                raise
            return None


def _told_apart(instructions: Iterable[Instruction | BaseException | None]) -> Iterator[Instruction | BaseException | None]:
    """Make two files with one id and different words two messages, in their order: seed 002's writers repeat an id within a second."""
    first_by_id: dict[tuple[str, str | None], Instruction] = {}
    for instruction in instructions:
        if isinstance(instruction, Instruction) and instruction != first_by_id.setdefault(
            (instruction.sender.name, instruction.draft.client_id), instruction
        ):
            yield instruction.renamed()
        else:
            yield instruction
