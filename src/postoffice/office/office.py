"""PostOffice: the verbs, and the office's opening hours."""

import asyncio
from typing import Self

from postoffice.office.abroad import AbroadVerbs
from postoffice.office.consent import ConsentVerbs
from postoffice.office.lending import LendingVerbs
from postoffice.office.people import PeopleVerbs
from postoffice.office.reading import ReadingVerbs
from postoffice.office.tasks import TaskVerbs
from postoffice.office.watching import WatchingVerbs


class PostOffice(PeopleVerbs, ConsentVerbs, ReadingVerbs, TaskVerbs, LendingVerbs, WatchingVerbs, AbroadVerbs):
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
        await asyncio.gather(self._presences.flush(self.store), return_exceptions=True)
        await self.store.close()
        await self.wake.close()
        if self.trace is not None:
            await asyncio.to_thread(self.trace.close)

    def drain(self) -> None:
        """Send whoever waits home empty-handed; from here on nobody waits, but calls are still answered."""
        self._closing = True
        self._bells.ring_all()

    @property
    def draining(self) -> bool:
        """Whether the office is closing."""
        return self._closing

    @property
    def hints_carried(self) -> bool:
        """Whether this office hears at once what others do; if not, it looks once a tick."""
        return self.wake.healthy

    async def ping(self) -> None:
        """Raise unless the store answers."""
        await self.store.ping()

    def _hear(self, agents: frozenset[str]) -> None:
        self._identities.forget(agents)
        self._bells.ring(agents)
