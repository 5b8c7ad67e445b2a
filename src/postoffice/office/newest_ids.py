"""The office's newest mail by the ends of its ids, remembered: whatever a model reads calls messages by them."""

from datetime import timedelta

from postoffice.core.clock import steady
from postoffice.core.names import folded
from postoffice.core.short_id import LEAST_CHARACTERS
from postoffice.store.reads.mail import NEWEST
from postoffice.store.reads.pages import FIRST_ID
from postoffice.store.store import Store

_LATE = timedelta(seconds=2)
"""How much later than its id says another process may commit a message."""
Key = tuple[str, str]
"""A message and one of those it went to."""


class NewestIds:
    """Each look reads only what has come since the last."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[Key, tuple[str, bool]] = {}
        """The sender of each, and whether its recipient was told of it; the oldest first."""
        self._by_ending: dict[str, set[Key]] = {}
        self._last = FIRST_ID
        self._looked_back = steady()

    async def ending(self, agent: str | None, endings: list[str]) -> set[str]:
        """Messages whose ids end with one of these four characters: of the newest and of what is not done with, those of this agent."""
        await self._read_on()
        ids = {id for ending in endings for id in self.remembered(agent, ending)}
        if agent is not None and len(self._known) >= NEWEST:
            before = min(next(iter(self._known))[0], self._last)
            ids.update(await self._store.mail.unfinished_ids_ending(folded(agent), endings, before))
        return ids

    def remembered(self, agent: str | None, ending: str) -> set[str]:
        """Of what was read before, those that this agent has sent, or got and was told of."""
        me = None if agent is None else folded(agent)
        found = ((key, *self._known[key]) for key in self._by_ending.get(ending, ()))
        return {id for (id, mailbox), sender, told in found if me is None or me == sender or (me == mailbox and told)}

    async def _read_on(self) -> None:
        for id, mailbox, sender, told in await self._store.mail.newer_ids(self._after()):
            self._last = max(self._last, id)
            self._known[id, mailbox] = sender, bool(told)
            self._by_ending.setdefault(id[-LEAST_CHARACTERS:], set()).add((id, mailbox))
        while len(self._known) > NEWEST:
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
