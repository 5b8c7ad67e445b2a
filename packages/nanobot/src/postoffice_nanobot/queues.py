"""The order in which mails begin: one sender's in the order sent, several senders' side by side."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from weakref import WeakValueDictionary

from postoffice_files.names import folded


class Queues:
    """A queue for each sender."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def turn(self, sender: str) -> AsyncIterator[Callable[[], None]]:
        """Wait for a mail's turn. The returned call ends the turn early, so that long work does not hold up the next mail."""
        lock = self._locks.setdefault(folded(sender), asyncio.Lock())
        await lock.acquire()
        with ExitStack() as held:
            held.callback(lock.release)
            yield held.close
