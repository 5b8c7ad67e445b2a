"""Short ids: what is named by the end or the beginning of its id, and the shortest ends that name mail."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

from postoffice.core.agent import Caller
from postoffice.core.clock import is_id
from postoffice.core.delivery import Leased, Settlement
from postoffice.core.errors import (
    AmbiguousBeginning,
    AmbiguousEnding,
    MailError,
    NoSuchMessage,
    NoSuchQuestion,
    NoSuchTask,
    NothingToAnswer,
)
from postoffice.core.message import Accepted
from postoffice.core.names import folded
from postoffice.core.short_id import LEAST_CHARACTERS, meant, part_of, shortened
from postoffice.office.newest_ids import NewestIds
from postoffice.office.rota import Rota
from postoffice.store.store import Store

R = TypeVar("R")
UNKNOWN = (NoSuchMessage, NoSuchQuestion, NoSuchTask, NothingToAnswer)
"""What a verb says of an id that it finds nowhere."""


class ShortIds:
    """Exact ids never come here: a ref is tried as a short id only after it named nothing else."""

    def __init__(self, store: Store, rota: Rota) -> None:
        self._store = store
        self._rota = rota
        self._newest = NewestIds(store)

    async def named(self, agent: str | None, ref: str, do: Callable[[str], Awaitable[R]]) -> R:
        """Do something about a message by any of its ids. If that finds nothing, try the ref as a short id."""
        try:
            return await do(ref)
        except UNKNOWN:
            whole = await self.whole(agent, ref)
            if whole is None:
                raise
            return await do(whole)

    async def whole(self, agent: str | None, ref: str) -> str | None:
        """The id of the one message, sent or got by the agent or a role it is in, whose id ends so, or, where none does, begins so.

        Without an agent, anybody's.
        """
        found = await self._whole(agent, ref)
        for role in () if agent is None or found is not None else self._rota.of(agent):
            found = found or await self._whole(role, ref)
        return found

    async def _whole(self, agent: str | None, ref: str) -> str | None:
        whose = agent or "this office"
        part = part_of(ref, whose)
        if part is None:
            return None
        four = part[-LEAST_CHARACTERS:]
        # A caller that was told of one by this end means that one, whatever came later.
        ending = [id for id in self._newest.remembered(agent, four) if id.endswith(part)]
        if not ending:
            ending = [id for id in await self._newest.ending(agent, [four]) if id.endswith(part)]
        if not ending:
            ending = [id for id in await self._store.mail.ids_ending(agent, [four]) if id.endswith(part)]
        if ending:
            return meant(ref, ending, whose, AmbiguousEnding)
        return meant(ref, await self._store.mail.ids_beginning(agent, part), whose, AmbiguousBeginning)

    def remembered(self, agent: str, settlements: Sequence[Settlement]) -> Mapping[str, str]:
        """What short ids mean that this agent was told of, so that no second act has to be done for them."""
        wholes: dict[str, str] = {}
        for ref in {asked.ref for asked in settlements if not is_id(asked.ref)}:
            if len(ref) >= LEAST_CHARACTERS and (part := part_of(ref, agent)) is not None:
                ending = [id for id in self._newest.remembered(agent, part[-LEAST_CHARACTERS:]) if id.endswith(part)]
                if len(ending) == 1:
                    wholes[ref] = ending[0]
        return wholes

    async def whole_of(self, agent: str, settlements: Sequence[Settlement], outcomes: Sequence[object]) -> dict[int, str | MailError]:
        """By place: what is meant by those that named nothing."""
        wholes: dict[int, str | MailError] = {}
        for place, (asked, outcome) in enumerate(zip(settlements, outcomes, strict=True)):
            if isinstance(outcome, NoSuchMessage):
                try:
                    whole = await self.whole(agent, asked.ref)
                except MailError as error:
                    wholes[place] = error
                else:
                    wholes |= {} if whole is None else {place: whole}
        return wholes

    async def shorten(self, caller: Caller, ids: Sequence[str]) -> Mapping[str, str]:
        """For each id the shortest end, of four characters at least, that names it and nothing else among the caller's mail."""
        if not ids:
            return {}
        known, least = await self._newest.alike(None if caller.owner else caller.name, ids)
        return shortened(ids, known, least)

    def note_sent(self, caller: Caller, accepted: Accepted) -> None:
        """Remember a message that was just accepted, so that nobody has to look for it."""
        self._newest.note(accepted.message_id, folded(caller.name), [folded(to.recipient) for to in accepted.posted], told=False)

    def note_taken(self, caller: Caller, leased: Sequence[Leased]) -> None:
        """The same of mail that its recipient has just been given."""
        for item in leased:
            self._newest.note(item.message.id, folded(item.message.sender), [folded(caller.name)], told=True)
