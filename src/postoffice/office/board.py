"""The board: which windows are open, kept in memory and read again when a hint says that they changed."""

import asyncio
from collections.abc import Sequence

from postoffice.core.names import folded
from postoffice.core.window import WINDOWS, Window
from postoffice.store.store import Store
from postoffice.wake.protocol import EVERYBODY


class Board:
    """Every sender is told what reaches the reader. That costs no query as long as no window changes."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._windows: dict[str, list[Window]] = {}
        self._changes = 1
        self._seen = 0
        self._reading = asyncio.Lock()

    def hear(self, hints: frozenset[str]) -> None:
        """A hint may be about windows."""
        if WINDOWS in hints or EVERYBODY in hints:
            self._changes += 1

    @property
    def current(self) -> bool:
        """Whether no hint has told of a change since it was read."""
        return self._seen == self._changes

    async def look(self) -> None:
        """Have it as it is now, as far as any hint has told."""
        while not self.current:
            async with self._reading:
                changes = self._changes
                if self._seen != changes:
                    windows = await self._store.windows.open_now()
                    self._windows = {}
                    for window in windows:
                        self._windows.setdefault(folded(window.agent), []).append(window)
                    self._seen = changes

    def of(self, agent: str) -> Sequence[Window]:
        """An agent's open windows."""
        return self._windows.get(folded(agent), ())
