"""Bells: those who wait for an agent's mail or news, and what rings them."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from postoffice.wake.protocol import EVERYBODY


class Bell:
    """One waiter. `after` is the last number it knows of; None waits for mail to take."""

    def __init__(self, after: int | None) -> None:
        self.after = after
        self._rung = asyncio.Event()

    def ring(self) -> None:
        """Have the waiter look."""
        self._rung.set()

    def still(self) -> None:
        """Forget earlier rings; what comes from here on counts."""
        self._rung.clear()

    async def rings(self, within: float) -> bool:
        """Wait for a ring, but not forever."""
        try:
            async with asyncio.timeout(within):
                await self._rung.wait()
        except TimeoutError:
            return False
        return True


class Bells:
    """Every waiter in this process, by the folded name of the agent it waits for."""

    def __init__(self) -> None:
        self._bells: dict[str, set[Bell]] = {}

    @contextmanager
    def waiting(self, agent: str, after: int | None = None) -> Iterator[Bell]:
        """Hang up a bell. It hangs before its waiter first looks, so that nothing falls between."""
        bell = Bell(after)
        bells = self._bells.setdefault(agent, set())
        bells.add(bell)
        try:
            yield bell
        finally:
            bells.discard(bell)
            if not bells and self._bells.get(agent) is bells:
                del self._bells[agent]

    def ring(self, agents: frozenset[str]) -> None:
        """Ring for agents that have mail or news, and for whoever watches everybody; `*` rings for all."""
        for agent in self._bells if EVERYBODY in agents else (*agents, EVERYBODY):
            for bell in self._bells.get(agent, ()):
                bell.ring()

    def names(self) -> list[str]:
        """For whom somebody waits."""
        return list(self._bells)

    def compare(self, looked: dict[str, tuple[int, int]]) -> None:
        """Ring for what a look at the mailboxes shows and no hint has told."""
        for agent, (pending, counted) in looked.items():
            for bell in self._bells.get(agent, ()):
                if pending if bell.after is None else counted > bell.after:
                    bell.ring()

    def ring_all(self) -> None:
        """Wake everybody: the office is closing."""
        self.ring(frozenset((EVERYBODY,)))
