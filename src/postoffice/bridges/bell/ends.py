"""The ends of processes, heard of from the system where it tells of them, so that nobody has to look again and again."""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress

from postoffice.client.process import Process


class Ends:
    """The processes that are watched. Where a system does not tell, none is."""

    def __init__(self, ended: Callable[[Process], None]) -> None:
        self._ended = ended
        self._watched: dict[Process, int] = {}

    def __contains__(self, at: object) -> bool:
        return at in self._watched

    def watch(self, at: Process) -> None:
        """Have its end told, which may be at once."""
        if at in self._watched or not hasattr(os, "pidfd_open"):
            return
        with suppress(OSError):
            end = os.pidfd_open(at.pid)
            if not at.alive:  # another has its number by now
                os.close(end)
                return
            self._watched[at] = end
            asyncio.get_running_loop().add_reader(end, self._ended, at)

    def leave(self, at: Process) -> None:
        """It is of no interest any more."""
        if (end := self._watched.pop(at, None)) is not None:
            asyncio.get_running_loop().remove_reader(end)
            os.close(end)
