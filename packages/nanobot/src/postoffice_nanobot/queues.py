"""In which order mails are taken up: those of one sender as they were sent, those of several side by side."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from weakref import WeakValueDictionary

from postoffice_files.names import folded


class Queues:
    """A queue for each sender, in the order in which its mails came."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def turn(self, sender: str) -> AsyncIterator[Callable[[], None]]:
        """Wait for one's turn. What this gives ends it before the work is done: one that takes long keeps nobody waiting."""
        lock = self._locks.setdefault(folded(sender), asyncio.Lock())
        await lock.acquire()
        with ExitStack() as held:
            held.callback(lock.release)
            yield held.close
