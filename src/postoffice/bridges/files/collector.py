"""Files dropped into the inboxes of agents at home in the office: read, checked, sent through the office, and put away."""

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
"""Refusals that pass: the file waits."""
_SET_ASIDE = "set_aside"


class Instruction(NamedTuple):
    """What a file asks the office to do."""

    sender: Caller
    draft: Draft
    task: str = ""
    state: TaskState | None = None
    """Where the task stands now, if it is an update."""

    def renamed(self) -> "Instruction":
        """The same under another id: its own was used for something else."""
        return self._replace(draft=another_id(self.draft, self.task, self.state))


class Collector:
    """Speaks for whoever is at home in the files; what anybody else is said to have written is set aside."""

    def __init__(self, office: PostOffice, tree: Tree, directory: Directory, sync: Callable[[], Awaitable[None]]) -> None:
        self._office = office
        self._tree = tree
        self._directory = directory
        self._sync = sync
        self.refused = 0

    async def collect(self, agent: str) -> None:
        """Take everything out of one inbox."""
        if not await self._tree.has_any(agent):
            return
        if not self._directory.knows(agent):
            await self._sync()  # somebody may have moved in just now, whose inbox is its own to read
        if self._directory.find(agent) is not None:
            return
        while letters := await self._tree.poll(agent, _FILES_AT_ONCE):
            await self._meet(letters)
            if self._directory.find(agent) is not None:  # moved in meanwhile
                await self._tree.release(agent, [letter["filename"] for letter in letters])
                return
            instructions = await asyncio.gather(*(self._instruction(agent, letter) for letter in letters), return_exceptions=True)
            # In the order of the files: acts asked for one after another are done so, and nothing is waited for in between.
            outcomes = await asyncio.gather(*(self._run(instruction) for instruction in _told_apart(instructions)), return_exceptions=True)
            done = [letter["filename"] for letter, outcome in zip(letters, outcomes, strict=True) if outcome is None]
            await self._tree.processed(agent, done)
            for letter, outcome in zip(letters, outcomes, strict=True):
                if outcome is not None:
                    await self._put_away(agent, letter, outcome)
            if len(letters) < _FILES_AT_ONCE:
                return

    async def copy(self, files: list[File]) -> set[File]:
        """Keep what file agents wrote to each other: it is delivered already. Gives the reports on tasks that are not known, or not yet."""
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
        """What a file asks for, and who asks; None if it asks for nothing."""
        if (sender := await self._speaker(letter["from"])) is None:
            if folded(letter["from"]) == SYSTEM and letter["metadata"].get("notice") == _SET_ASIDE:
                return None  # the library's word on a file that was set aside: the office tells its sender itself
            raise NotAtHome(name=letter["from"]) if self._directory.readable else NoRegistry(root=self._tree.root)
        if letter["type"] == TASK_UPDATE:
            task, state, draft = to_update(letter)
            return Instruction(sender, msgspec.structs.replace(draft, settled=settled), task, state)
        draft = to_draft(letter, agent)
        if settled and draft.content is None and not draft.parts and draft.payload is msgspec.UNSET:
            draft = msgspec.structs.replace(draft, content="")  # nothing was said, and has been delivered
        return Instruction(sender, msgspec.structs.replace(draft, settled=settled))

    async def _meet(self, letters: list[dict[str, Any]]) -> None:
        """Whoever is not known may have moved in just before it wrote."""
        if any(self._directory.find(letter["from"]) is None for letter in letters):
            await self._sync()

    async def _speaker(self, name: str) -> Caller | None:
        """The agent at home in the files whom we speak for; None for anybody else, and for a name that has a key by now."""
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
            case Exception():  # a bug that one file met must not keep the others
                _log.error("a file of %s to %s waits", letter["from"], agent, exc_info=outcome)
                await self._tree.later(agent, letter["filename"], repr(outcome), next_try(letter["attempt"]).total_seconds())
            case _:
                raise outcome

    async def _came_from_here(self, instruction: Instruction, agent: str, letter: dict[str, Any]) -> bool:
        """Whether the office itself handed a file over: its sender may use other doors as well."""
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
    """Two files with one id and different words, as seed 002's writers make within a second, are two messages in their order."""
    first_by_id: dict[tuple[str, str | None], Instruction] = {}
    for instruction in instructions:
        if isinstance(instruction, Instruction) and instruction != first_by_id.setdefault(
            (instruction.sender.name, instruction.draft.client_id), instruction
        ):
            yield instruction.renamed()
        else:
            yield instruction
