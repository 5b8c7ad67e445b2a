"""Clients at work, as threads or as coroutines: how many cycles they finish in a window, and what that costs."""

import asyncio
import resource
import time
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, Protocol, TypeVar

import msgspec
import uvloop

from bench.plan import Plan

T = TypeVar("T")
Meter = Callable[[], float]
"""CPU seconds that a server beside us has used so far."""


class Sample(msgspec.Struct, frozen=True):
    """One measurement."""

    cycles_per_second: float
    cpu_micros: float
    """Of this process, per cycle."""
    server_cpu_micros: float | None
    """Of the database server, per cycle, where there is one."""


class Contender(Protocol):
    """Something that can send, lease and ack."""

    name: str
    durability: str
    """As read back from its own connections before anything is measured."""

    def measure(self, concurrency: int, plan: Plan) -> Sample:
        """Send, lease and ack with so many clients, on a database of its own."""


class _Reading(NamedTuple):
    at: float
    cycles: int
    cpu: float
    server_cpu: float | None


class _Crew:
    """How often each client went round, and whether it should go on."""

    def __init__(self, size: int, server: Meter | None) -> None:
        self.cycles = [0] * size
        self.working = True
        self._server = server

    def read(self) -> _Reading:
        usage = resource.getrusage(resource.RUSAGE_SELF)
        server_cpu = None if self._server is None else self._server()
        return _Reading(time.perf_counter(), sum(self.cycles), usage.ru_utime + usage.ru_stime, server_cpu)


def with_threads(cycle: Callable[[int], None], concurrency: int, plan: Plan) -> Sample:
    """Let so many threads go round; `cycle` is given the client's number."""
    crew = _Crew(concurrency, None)

    def work(client: int) -> None:
        while crew.working:
            cycle(client)
            crew.cycles[client] += 1

    with ThreadPoolExecutor(concurrency) as pool:
        clients = [pool.submit(work, client) for client in range(concurrency)]
        try:
            time.sleep(plan.warm_up)
            before = crew.read()
            time.sleep(plan.window)
            after = crew.read()
        finally:
            crew.working = False
        for client in clients:
            client.result()
    return _sample(before, after)


async def with_coroutines(cycle: Callable[[int], Awaitable[int]], concurrency: int, plan: Plan, server: Meter | None = None) -> Sample:
    """Let so many coroutines go round; `cycle` says how often it came all the way."""
    crew = _Crew(concurrency, server)

    async def work(client: int) -> None:
        while crew.working:
            crew.cycles[client] += await cycle(client)

    async with asyncio.TaskGroup() as clients:
        for client in range(concurrency):
            clients.create_task(work(client))
        await asyncio.sleep(plan.warm_up)
        before = crew.read()
        await asyncio.sleep(plan.window)
        after = crew.read()
        crew.working = False
    return _sample(before, after)


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run on the loop that the server runs on."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main)


def _sample(before: _Reading, after: _Reading) -> Sample:
    cycles = max(after.cycles - before.cycles, 1)
    server_cpu = None
    if before.server_cpu is not None and after.server_cpu is not None:
        server_cpu = (after.server_cpu - before.server_cpu) / cycles * 1e6
    return Sample(cycles / (after.at - before.at), (after.cpu - before.cpu) / cycles * 1e6, server_cpu)
