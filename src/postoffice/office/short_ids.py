"""Short ids: what is named by the end or the beginning of its id, and the shortest ends that name mail."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

from postoffice.core.agent import Caller
from postoffice.core.delivery import Settlement
from postoffice.core.errors import (
    AmbiguousBeginning,
    AmbiguousEnding,
    MailError,
    NoSuchMessage,
    NoSuchQuestion,
    NoSuchTask,
    NothingToAnswer,
)
from postoffice.core.short_id import LEAST_CHARACTERS, meant, part_of, shortened
from postoffice.office.newest_ids import NewestIds
from postoffice.store.store import Store

R = TypeVar("R")
UNKNOWN = (NoSuchMessage, NoSuchQuestion, NoSuchTask, NothingToAnswer)
"""What a verb says of an id that it finds nowhere."""


class ShortIds:
    """Exact ids never come here: a ref is tried as a short id only after it named nothing else."""

    def __init__(self, store: Store) -> None:
        self._store = store
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
        """The id of the one message, sent or got by the agent, whose id ends so, or, where none does, begins so. Without an agent, anybody's."""
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
        endings = list({id[-LEAST_CHARACTERS:] for id in ids})
        agent = None if caller.owner else caller.name
        known = await self._newest.ending(agent, endings)
        if not set(ids) <= known:  # older ones, or others'; or the clock has stepped back since the newest
            known |= set(await self._store.mail.ids_ending(agent, endings))
        return shortened(ids, known)
