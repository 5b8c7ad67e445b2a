"""The office's newest mail by the ends of its ids, remembered: whatever a model reads calls messages by them."""

from collections.abc import Collection, Iterable
from datetime import timedelta

from postoffice.core.clock import steady
from postoffice.core.names import folded
from postoffice.core.short_id import LEAST_CHARACTERS, LONGER_CHARACTERS
from postoffice.office.older_ids import OlderIds
from postoffice.store.reads.mail import NEWEST
from postoffice.store.reads.pages import FIRST_ID
from postoffice.store.store import Store

_LATE = timedelta(seconds=2)
"""How much later than its id says another process may commit a message."""
_FRESH_NANOS = 1_000_000_000
"""For so long after a look no other is needed. A letter that came meanwhile may end as one does that is told of: then that end names neither."""
Key = tuple[str, str]
"""A message and one of those it went to."""


class NewestIds:
    """Each look reads only what has come since the last. What this process sends and gives out is noted without a look."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[Key, tuple[str, bool]] = {}
        """The sender of each, and whether its recipient was told of it; about the oldest first."""
        self._by_ending: dict[str, set[Key]] = {}
        self._older = OlderIds(store)
        self._last = FIRST_ID
        self._looked_at = self._looked_back = steady()

    async def ending(self, agent: str | None, endings: list[str]) -> set[str]:
        """Messages whose ids end with one of these four characters: of the newest and of what is not done with, those of this agent."""
        await self._read_on()
        ids = self._remembered(agent, endings)
        if agent is not None and self._full:
            ids |= await self._older.ending(folded(agent), endings, self._oldest)
        return ids

    async def alike(self, agent: str | None, ids: Collection[str]) -> tuple[set[str], int]:
        """Those of these that are an agent's, with others of its mail that end alike, and how many characters may tell one from the rest."""
        endings = {id[-LEAST_CHARACTERS:] for id in ids}
        known = self._remembered(agent, endings)
        if steady() - self._looked_at > _FRESH_NANOS or self._last == FIRST_ID or not known.issuperset(ids):
            await self._read_on()
            known = self._remembered(agent, endings)
        if agent is not None and self._full:
            older, crowded = await self._older.alike(folded(agent), endings, self._oldest)
            return known | older, LONGER_CHARACTERS if crowded else LEAST_CHARACTERS
        if not known.issuperset(ids):  # others', or the clock has stepped back since the newest
            known |= set(await self._store.mail.ids_ending(agent, list(endings)))
        return known, LEAST_CHARACTERS

    def remembered(self, agent: str | None, ending: str) -> set[str]:
        """Of what was read before, those that this agent has sent, or got and was told of."""
        return self._remembered(agent, (ending,))

    def _remembered(self, agent: str | None, endings: Iterable[str]) -> set[str]:
        me = None if agent is None else folded(agent)
        known, by_ending, ids = self._known, self._by_ending, set[str]()
        for ending in endings:
            for key in by_ending.get(ending, ()):
                sender, told = known[key]
                if me is None or me == sender or (told and me == key[1]):
                    ids.add(key[0])
        return ids

    def note(self, id: str, sender: str, mailboxes: Iterable[str], *, told: bool) -> None:
        """Remember a message without a look. The next look says for certain which of its recipients were told of it."""
        for mailbox in mailboxes:
            self._remember((id, mailbox), sender, told=told or self._known.get((id, mailbox), ("", False))[1])

    @property
    def _full(self) -> bool:
        return len(self._known) >= NEWEST

    @property
    def _oldest(self) -> str:
        return min(next(iter(self._known))[0], self._last)

    async def _read_on(self) -> None:
        self._looked_at = steady()
        for id, mailbox, sender, told in await self._store.mail.newer_ids(self._after()):
            self._last = max(self._last, id)
            self._remember((id, mailbox), sender, told=bool(told))

    def _remember(self, key: Key, sender: str, *, told: bool) -> None:
        self._known[key] = sender, told
        self._by_ending.setdefault(key[0][-LEAST_CHARACTERS:], set()).add(key)
        if len(self._known) > NEWEST:
            self._forget(next(iter(self._known)))

    def _after(self) -> str:
        """Where to read on. With other processes beside this one, now and then from a little earlier."""
        since = timedelta(microseconds=(steady() - self._looked_back) // 1000)
        if not self._store.engine.shared or since < _LATE or self._last == FIRST_ID:
            return self._last
        self._looked_back = steady()
        stamp = f"{int(self._last[:8] + self._last[9:13], 16) - (since + _LATE) // timedelta(milliseconds=1):012x}"
        return f"{stamp[:8]}-{stamp[8:]}{FIRST_ID[13:]}"

    def _forget(self, key: Key) -> None:
        del self._known[key]
        ending = key[0][-LEAST_CHARACTERS:]
        alike = self._by_ending[ending]
        alike.remove(key)
        if not alike:
            del self._by_ending[ending]
        self._older.add(*key)
