"""Bells: those who wait for an agent's mail or news, and what rings them."""

import asyncio
from typing import Self

from postoffice.wake.protocol import EVERYBODY


class Bell:
    """One waiter; it hangs while `with` lasts. `after`: the last number it knows; None if it waits for mail to take. `narrow`: it takes only some mail."""

    # Thousands wait at once: an asyncio.Event, a timeout and a generator for `with` would weigh ten times as much.
    __slots__ = ("_agent", "_also", "_bells", "_heard", "_rung", "after", "narrow")

    def __init__(self, bells: "dict[str, set[Bell]]", agent: str, after: int | None, *, narrow: bool) -> None:
        self._bells = bells
        self._agent = agent
        self._also: tuple[str, ...] = ()
        self.after = after
        self.narrow = narrow
        self._rung = False
        self._heard: asyncio.Future[None] | None = None

    def __enter__(self) -> Self:
        self._bells.setdefault(self._agent, set()).add(self)
        return self

    def __exit__(self, *_: object) -> None:
        for name in (self._agent, *self._also):
            bells = self._bells[name]
            bells.discard(self)
            if not bells:
                del self._bells[name]

    def hear_also(self, names: tuple[str, ...]) -> None:
        """Be rung for these too, and no longer for those that were said before: the roles that its waiter is in."""
        if names != self._also:
            self.__exit__()
            self._also = names
            for name in (self._agent, *names):
                self._bells.setdefault(name, set()).add(self)

    def ring(self) -> None:
        """Have the waiter look."""
        self._rung = True
        self._wake()

    def still(self) -> bool:
        """Forget earlier rings, and say whether there were any; what comes from here on counts."""
        rung, self._rung = self._rung, False
        return rung

    async def rings(self, within: float) -> bool:
        """Wait for a ring, but not forever."""
        if not self._rung:
            loop = asyncio.get_running_loop()
            self._heard = loop.create_future()
            timer = loop.call_later(within, self._wake)
            try:
                await self._heard
            finally:
                timer.cancel()
                self._heard = None
        return self._rung

    def _wake(self) -> None:
        if self._heard is not None and not self._heard.done():
            self._heard.set_result(None)


class Bells:
    """Every waiter in this process, by the folded name of the agent it waits for."""

    def __init__(self) -> None:
        self._bells: dict[str, set[Bell]] = {}
        self.closed = False
        """The office is closing: nobody waits any more."""

    def waiting(self, agent: str, after: int | None = None, *, narrow: bool = False) -> Bell:
        """A bell to hang up before its waiter first looks, so that nothing falls between."""
        return Bell(self._bells, agent, after, narrow=narrow)

    def ring(self, agents: frozenset[str]) -> None:
        """Ring for agents that have mail or news, and for whoever watches everybody; `*` rings for all."""
        for agent in self._bells if EVERYBODY in agents else (*agents, EVERYBODY):
            for bell in self._bells.get(agent, ()):
                bell.ring()

    def mail_awaited(self, agent: str, *, narrow: bool = False) -> bool:
        """Whether somebody waits to take an agent's mail: any, or, if `narrow`, only some. Waiting for news does not count."""
        bells = self._bells.get(agent)
        return bells is not None and any(bell.after is None and bell.narrow is narrow for bell in bells)

    def names(self) -> list[str]:
        """For whom somebody waits."""
        return list(self._bells)

    def compare(self, looked: dict[str, tuple[int, int]]) -> None:
        """Ring for changes that a look at the mailboxes shows and no hint told of."""
        for agent, (pending, counted) in looked.items():
            for bell in self._bells.get(agent, ()):
                if pending if bell.after is None else counted != bell.after:  # less, where a backup took the log's place
                    bell.ring()

    def close(self) -> None:
        """Wake everybody, and have nobody wait any more: the office is closing."""
        self.closed = True
        self.ring(frozenset((EVERYBODY,)))
