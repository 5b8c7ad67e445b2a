"""PostOffice: the verbs, and the office's opening hours."""

import asyncio
from collections.abc import Awaitable
from datetime import timedelta
from typing import Final, Self, TypeVar

from postoffice.core.agent import Caller
from postoffice.core.errors import DatabaseLost, Unavailable
from postoffice.core.views import Numbers
from postoffice.office.consent import ConsentVerbs
from postoffice.office.mail import MailVerbs
from postoffice.office.pausing import PausingVerbs
from postoffice.office.questions import QuestionVerbs
from postoffice.office.reading import ReadingVerbs
from postoffice.office.tasks import TaskVerbs
from postoffice.office.watching import WatchingVerbs
from postoffice.office.windows import WindowVerbs

R = TypeVar("R")
_STORE_ANSWER_SECONDS: Final = 2.0
"""Seconds within which a store answers that is well."""


class PostOffice(
    MailVerbs,
    PausingVerbs,
    ConsentVerbs,
    ReadingVerbs,
    QuestionVerbs,
    TaskVerbs,
    WatchingVerbs,
    WindowVerbs,
):
    """One office over one store. `async with` opens and closes it."""

    async def __aenter__(self) -> Self:
        await self.store.open(self.wake.hint)
        await self.wake.open(self._hear)
        self._upkeep = asyncio.create_task(self.upkeep.run())
        return self

    async def __aexit__(self, *_: object) -> None:
        """Waiters are sent home empty-handed before the store closes; what they had asked for waits."""
        self.drain()
        self._upkeep.cancel()
        await asyncio.gather(self._upkeep, return_exceptions=True)
        await asyncio.gather(asyncio.wait_for(self._presences.flush(self.store), _STORE_ANSWER_SECONDS), return_exceptions=True)
        await self.store.close()
        await self.wake.close()
        if self.trace is not None:
            await asyncio.to_thread(self.trace.close)

    def drain(self) -> None:
        """Send whoever waits home empty-handed; from here on nobody waits, but calls are still answered."""
        self._bells.close()

    @property
    def draining(self) -> bool:
        """Whether the office is closing."""
        return self._bells.closed

    @property
    def hints_carried(self) -> bool:
        """Whether this office hears at once what others do; if not, it looks once a tick."""
        return self.wake.healthy

    @property
    def hints_trouble(self) -> str | None:
        """Why it does not hear at once."""
        return None if self.wake.healthy else self.wake.trouble

    async def ping(self) -> None:
        """Raise unless the store answers soon."""
        await _soon(self.store.ping())

    async def numbers(self) -> Numbers:
        """The whole office in numbers, if the store answers soon; to count takes it as long as it takes."""
        await self.ping()
        oldest = await self.store.overview.longest_waiting(1)
        return Numbers(
            totals=await self.store.overview.totals(),
            oldest=oldest[0].waiting if oldest else timedelta(0),
            posts={} if self.house.ledger is None else await self.store.ledger.posts_by_state(),
        )

    async def watcher(self, *, key: str | None, name: str | None) -> Caller:
        """Who asks for numbers. While the store cannot tell whose a key is, it is whose it was the last time it was asked."""
        try:
            return await _soon(self.identify(key=key, name=name))
        except Unavailable:
            if (caller := self._identities.last_known(key)) is None:
                raise
            return caller

    def _hear(self, agents: frozenset[str]) -> None:
        self._identities.forget(agents)
        self._board.hear(agents)
        self._bells.ring(agents)


async def _soon(answer: Awaitable[R]) -> R:
    """Whoever asks whether the office is well wants to know it now, and not when the store has had its last chance to answer."""
    try:
        async with asyncio.timeout(_STORE_ANSWER_SECONDS):
            return await answer
    except TimeoutError:
        raise DatabaseLost(why=f"nothing came within {_STORE_ANSWER_SECONDS:.0f} seconds") from None
