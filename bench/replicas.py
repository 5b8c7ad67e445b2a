"""Two replicas over one PostgreSQL against one: sends a second, and how soon a send at one wakes whoever waits at the other."""

import asyncio
import json
import time
import urllib.request
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median

import msgspec

from bench.calls import Pace, at, measure_pace, median_pace
from bench.clients import run
from bench.errands import Send, acked, letters, new_names
from bench.house import House, Street, our_house
from bench.nats_server import nats_server
from bench.ours import install
from bench.plan import BODY, Plan
from bench.scratch import progress, scratch
from bench.server import Server
from bench.wire import request, wires

CONCURRENCY = 16
NOTIFY, NATS = "LISTEN/NOTIFY", "NATS"
_SETTLE = 0.01
"""Seconds after which a call that has to wait is waiting."""
_PATIENCE = 30.0
_LETTER = {"subject": "The build", "content": BODY}


class Crossing(msgspec.Struct, frozen=True):
    """From a send at the first replica to the answer of a wait at the last one."""

    rounds: int
    p50_millis: float
    p99_millis: float


class Replicas(msgspec.Struct, frozen=True):
    """So many replicas and what carries hints between them: the medians, and the samples they come from."""

    replicas: int
    wake: str
    sends: Pace
    crossing: Crossing
    samples: list[Pace]
    crossings: list[Crossing]


def measure_replicas(server: Server, plan: Plan) -> list[Replicas]:
    """One replica, two that notify each other, and two with NATS between them, in turn, all open throughout."""
    with scratch() as folder, ExitStack() as stack:
        nats = f"nats://127.0.0.1:{stack.enter_context(nats_server(folder)).port}"
        wakes = {NOTIFY: None, NATS: nats}
        streets = [_street(stack, server, folder, 1, NOTIFY, None)]
        streets += [_street(stack, server, folder, 2, name, address) for name, address in wakes.items()]
        samples: list[tuple[list[Pace], list[Crossing]]] = [([], []) for _ in streets]
        for number in range(plan.rounds):
            progress(f"replicas: round {number + 1} of {plan.rounds}")
            order = list(zip(streets, samples, strict=True))
            for street, (paces, crossings) in order if number % 2 == 0 else reversed(order):
                paces.append(run(measure_pace(street, Send(), CONCURRENCY, plan)))
                crossings.append(run(_cross(street, plan.wakes)))
    return [_row(street, paces, crossings) for street, (paces, crossings) in zip(streets, samples, strict=True)]


def median_crossing(samples: Sequence[Crossing]) -> Crossing:
    """The middle of each number."""
    return Crossing(
        sum(sample.rounds for sample in samples),
        median(sample.p50_millis for sample in samples),
        median(sample.p99_millis for sample in samples),
    )


def _row(street: Street, paces: list[Pace], crossings: list[Crossing]) -> Replicas:
    return Replicas(len(street.houses), street.name, median_pace(paces), median_crossing(crossings), paces, crossings)


def _street(stack: ExitStack, server: Server, folder: Path, count: int, wake: str, address: str | None) -> Street:
    url = run(server.database("ours", install))
    names = [f"{count}-{wake.partition('/')[0]}-{number}" for number in range(count)]
    houses = [stack.enter_context(our_house(name, folder, url, address)) for name in names]
    for house in houses:
        _await_hints(house)
    return Street(wake, houses)


def _await_hints(house: House) -> None:
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        with urllib.request.urlopen(f"http://127.0.0.1:{house.port}/ready", timeout=5) as answer:
            if json.load(answer)["hints"] == "carried":
                return
        time.sleep(0.05)
    message = f"no hints are carried to {house.name}"
    raise RuntimeError(message)


async def _cross(street: Street, rounds: int) -> Crossing:
    """One waits at the last replica, one sends at the first, with nobody else there."""
    waiter, sender = new_names(2)
    send = request("POST", "/messages/send", sender, _LETTER | {"to": waiter})
    acks: list[dict[str, str]] = []
    times = []
    async with wires(street.ports[-1], 1) as (one,), wires(street.ports[0], 1) as (other,):

        async def wait() -> tuple[bytes, float]:
            answer = await one.call(request("POST", "/messages/wait", waiter, {"wait": 10, "ack": acks}))
            return answer, time.perf_counter()

        for _ in range(rounds):
            waiting = asyncio.create_task(wait())
            await asyncio.sleep(_SETTLE)
            begun = time.perf_counter()
            await other.call(send)
            answer, came = await waiting
            times.append(came - begun)
            acks = [acked(letter) for letter in letters(answer)]
    return Crossing(rounds, at(times, 0.5) * 1e3, at(times, 0.99) * 1e3)
