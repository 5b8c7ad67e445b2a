"""Hints within one process."""

from postoffice.wake.protocol import Heard


class LocalWake:
    """Whoever hints is whoever hears."""

    healthy = True

    async def open(self, heard: Heard) -> None:
        self._heard = heard

    def hint(self, agents: frozenset[str]) -> None:
        self._heard(agents)

    async def close(self) -> None:
        pass
