"""A process's end is told by the system, once, and of that very process."""

import asyncio
import subprocess
import sys

from postoffice.bridges.bell.ends import Ends
from postoffice.client.process import Process, process


async def test_an_end_is_told_at_once_and_once_and_what_was_left_is_not_told() -> None:
    told: asyncio.Queue[Process] = asyncio.Queue()
    ends: Ends

    def ended(at: Process) -> None:
        ends.leave(at)
        told.put_nowait(at)

    ends = Ends(ended)
    running = [subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) for _ in range(3)]
    first, left, other = [found for one in running if (found := process(one.pid)) is not None]
    another = Process(other.pid, f"{other.started}0")
    for at in (first, left, another):
        ends.watch(at)
    assert (first in ends, another in ends) == (True, False), "its number belongs to another process by now"
    ends.leave(left)
    for one in running:
        one.kill()
        one.communicate()
    async with asyncio.timeout(20):
        assert await told.get() == first
    await asyncio.sleep(0.2)
    assert told.empty()
    assert first not in ends
