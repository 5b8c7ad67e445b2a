"""Hints within one process."""

from postoffice.wake.protocol import Heard


class LocalWake:
    """One process hints and hears by itself. If other processes may exist, it says that it is not healthy, because it does not carry their hints."""

    def __init__(self, *, alone: bool = True) -> None:
        self.healthy = alone
        self.trouble = None if alone else "the database is behind a pooler, through which nobody can listen"

    async def open(self, heard: Heard) -> None:
        self._heard = heard

    def hint(self, agents: frozenset[str]) -> None:
        self._heard(agents)

    async def close(self) -> None:
        pass
