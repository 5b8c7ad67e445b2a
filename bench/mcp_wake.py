"""How soon `mailbox_wait` answers: from the answer to a send until the waiting client has the message."""

import asyncio
import time

import msgspec

from bench.calls import at
from bench.clients import run
from bench.house import House
from bench.mcp_errands import checked, new_names, structured, tool_request
from bench.plan import BODY, Plan
from bench.scratch import progress
from bench.wire import wires

_SETTLE = 0.01
"""Seconds after which a call that has to wait is waiting."""


class Wake(msgspec.Struct, frozen=True):
    """Rounds of one client that waits and one that sends, with nobody else there."""

    server: str
    rounds: int
    p50_millis: float
    """From the send's answer; below zero the message came first."""
    p99_millis: float
    p50_from_send_millis: float
    p99_from_send_millis: float


def measure_wake(house: House, plan: Plan) -> Wake:
    """Wait and send as often as the plan says."""
    progress(f"MCP: {plan.wakes} wake-ups on {house.name}")
    return run(_measure(house, plan))


async def _measure(house: House, plan: Plan) -> Wake:
    waiter, sender = new_names(2)
    send = tool_request(sender, "mailbox_send", {"to": waiter, "content": BODY})
    after, whole, ack = [], [], list[str]()
    async with wires(house.port, 2) as (one, other):

        async def wait() -> tuple[bytes, float]:
            answer = await one.call(tool_request(waiter, "mailbox_wait", {"timeout_ms": 10_000, "ack": ack}))
            return answer, time.perf_counter()

        for _ in range(plan.wakes):
            waiting = asyncio.create_task(wait())
            await asyncio.sleep(_SETTLE)
            begun = time.perf_counter()
            checked(await other.call(send))
            answered = time.perf_counter()
            answer, came = await waiting
            after.append(came - answered)
            whole.append(came - begun)
            ack = [letter["id"] for letter in structured(answer)["messages"]]
    millis = [at(values, part) * 1e3 for values in (after, whole) for part in (0.5, 0.99)]
    return Wake(house.name, plan.wakes, *millis)
