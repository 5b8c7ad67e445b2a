"""What every service has that carries hints between processes: a connection that is made again, and hints that gather meanwhile."""

import asyncio
import logging
import random

from postoffice.core.errors import why
from postoffice.wake.protocol import EVERYBODY, Heard

_log = logging.getLogger(__name__)
_FIRST_PAUSE_SECONDS = 0.2
_LONGEST_PAUSE_SECONDS = 5.0
_HEARD_SECONDS = 1.0


class CarriedWake:
    """One connection publishes and listens. What is hinted while one hint is under way goes out with the next."""

    lost: tuple[type[Exception], ...]
    """How the connection says that it is gone."""
    most: int
    """Bytes that one hint can carry."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.healthy = False
        self.trouble: str | None = None
        self._waiting: set[str] = set()
        self._hinted = asyncio.Event()

    async def open(self, heard: Heard) -> None:
        self._heard = heard
        self._task = asyncio.create_task(self._run())

    def hint(self, agents: frozenset[str]) -> None:
        self._heard(agents)
        self._waiting |= agents
        self._hinted.set()

    async def close(self) -> None:
        # A client that is failing to connect may take a cancellation for one more failure: cancel it until it ends.
        while not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=_HEARD_SECONDS)
        await asyncio.gather(self._task, return_exceptions=True)

    async def carry(self) -> None:
        """Connect, say so, and carry hints until the connection ends."""
        raise NotImplementedError

    def connected(self) -> None:
        """Hints are carried from here on; when the connection is lost, the first try to make it again comes soon."""
        self.healthy = True
        self.trouble = None
        self._pause = _FIRST_PAUSE_SECONDS

    def gathered(self) -> str:
        """What was hinted since it was last asked for, as one hint."""
        self._hinted.clear()
        agents, self._waiting = self._waiting, set()
        text = ",".join(sorted(agents))
        return text if len(text) < self.most else EVERYBODY

    def hear(self, text: str) -> None:
        """A hint of another process."""
        self._heard(frozenset(text.split(",")))

    async def _run(self) -> None:
        self._pause = _FIRST_PAUSE_SECONDS
        lost: tuple[type[Exception], ...] = (OSError, TimeoutError, *self.lost)
        while True:
            try:
                await self.carry()
                self._tell("the connection has ended")
            except lost as error:
                # Meanwhile every process looks by itself: a hint lost here costs a tick.
                self._tell(why(error))
            finally:
                self.healthy = False
            await asyncio.sleep(self._pause * random.uniform(0.5, 1.0))  # noqa: S311
            self._pause = min(self._pause * 2, _LONGEST_PAUSE_SECONDS)

    def _tell(self, trouble: str) -> None:
        """Say what is in the way, once for as long as it is the same."""
        if trouble != self.trouble:
            _log.warning("hints are not carried: %s", trouble)
        self.trouble = trouble
