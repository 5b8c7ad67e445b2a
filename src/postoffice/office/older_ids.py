"""What agents have not done with of mail that is older than the office's newest, by the ends of its ids."""

from collections.abc import Collection

from postoffice.core.short_id import LEAST_CHARACTERS
from postoffice.store.store import Store

MANY = 10_000
"""Of a mailbox with more than this nobody looks which ids end alike: its messages are called by longer ends."""
_AGENTS_REMEMBERED = 1000


class OlderIds:
    """A mailbox is read when it is first asked about, and kept: ends may only be missing that nobody needs any more."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._endings: dict[str, set[str]] = {}
        """By agent the last four characters of each; of mail that is done with since too. They are kept as long as they are few."""

    async def ending(self, agent: str, endings: Collection[str], before: str) -> set[str]:
        """Messages older than `before` that an agent has not done with and whose ids end with one of these."""
        return set(await self._store.mail.unfinished_ids_ending(agent, list(endings), before)) if endings else set()

    async def alike(self, agent: str, endings: Collection[str], before: str) -> tuple[set[str], bool]:
        """The same, mostly without a look; or that there are too many of them."""
        kept = self._endings.get(agent)
        if kept is None:
            if len(self._endings) >= _AGENTS_REMEMBERED:
                self._endings.clear()
            kept = self._endings[agent] = set()  # what is added while it is read
            kept.update(id[-LEAST_CHARACTERS:] for id in await self._store.mail.unfinished_ids(agent, before, MANY + 1))
        if len(kept) > MANY // 2:
            return set(), True
        return await self.ending(agent, [ending for ending in endings if ending in kept], before), False

    def add(self, id: str, agent: str) -> None:
        """A message is among the newest no longer."""
        if agent in self._endings:
            self._endings[agent].add(id[-LEAST_CHARACTERS:])
