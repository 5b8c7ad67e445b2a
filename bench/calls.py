"""The REST door under load, in turn with a bare FastAPI echo: operations a second, how long each takes, and what it costs."""

import asyncio
import time
from collections.abc import Sequence
from statistics import median

import msgspec

from bench.clients import run
from bench.errands import Batches, Errand, FusedReceive, OutOfMail, ReadInbox, ReceiveAck, Send
from bench.house import House, Street
from bench.plan import CONCURRENCIES, Plan
from bench.scratch import progress
from bench.wire import wires

ECHO = "echo"


class Pace(msgspec.Struct, frozen=True):
    """One measurement."""

    per_second: float
    p50_millis: float
    p99_millis: float
    server_cpu_micros: float
    """Of the web server's process, per operation."""


class Calls(msgspec.Struct, frozen=True):
    """One operation on one server at one concurrency: the medians, and the samples they come from."""

    what: str
    server: str
    concurrency: int
    median: Pace
    samples: list[Pace]


def measure_calls(echo: House, ours: Sequence[House], plan: Plan) -> list[Calls]:
    """Every errand on every server at every concurrency, every second round backwards; the echo is one of them."""
    errands: list[Errand] = [Send(), ReadInbox(), ReceiveAck(), FusedReceive(), Batches()]
    tours: list[tuple[str, House, Errand]] = [(ECHO, echo, Send())]
    tours += [(errand.name, house, errand) for errand in errands for house in ours]
    rows = []
    for concurrency in CONCURRENCIES:
        samples: list[list[Pace]] = [[] for _ in tours]
        for number in range(plan.rounds):
            progress(f"HTTP: {concurrency} clients, round {number + 1} of {plan.rounds}")
            order = list(zip(tours, samples, strict=True))
            for (_, house, errand), taken in order if number % 2 == 0 else reversed(order):
                taken.append(run(measure_pace(house, errand, concurrency, plan)))
        rows += [
            Calls(what, house.name, concurrency, median_pace(taken), taken) for (what, house, _), taken in zip(tours, samples, strict=True)
        ]
    return rows


async def measure_pace(house: House | Street, errand: Errand, concurrency: int, plan: Plan) -> Pace:
    """One errand on one server, done over and over by so many clients."""
    async with wires(house.ports, concurrency) as lines:
        await errand.prepare(lines, plan.mail)
        times: list[float] = []
        working = True

        async def work(client: int) -> None:
            nonlocal working
            while working:
                began = time.perf_counter()
                try:
                    await errand.go(client, lines[client])
                except OutOfMail:
                    working = False
                    return
                times.append(time.perf_counter() - began)

        clients = asyncio.gather(*(work(client) for client in range(concurrency)))
        await asyncio.sleep(plan.warm_up)
        warm, cpu, began = len(times), house.cpu(), time.perf_counter()
        await asyncio.wait([clients], timeout=plan.window)
        done, cost, took = times[warm:], house.cpu() - cpu, time.perf_counter() - began
        working = False
        await clients
    return Pace(len(done) / took, at(done, 0.5) * 1e3, at(done, 0.99) * 1e3, cost / max(len(done), 1) * 1e6)


def at(values: list[float], part: float) -> float:
    """The value that this part of all values stays under."""
    ordered = sorted(values) or [0.0]
    return ordered[min(int(len(ordered) * part), len(ordered) - 1)]


def median_pace(samples: list[Pace]) -> Pace:
    """The middle of each number."""
    return Pace(
        median(sample.per_second for sample in samples),
        median(sample.p50_millis for sample in samples),
        median(sample.p99_millis for sample in samples),
        median(sample.server_cpu_micros for sample in samples),
    )
