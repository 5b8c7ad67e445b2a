"""How soon news is pushed: from the answer to a send until its event is on the recipient's WebSocket."""

import asyncio
import time

import msgspec
from websockets.asyncio.client import connect

from bench.calls import at
from bench.clients import run
from bench.house import House
from bench.plan import BODY, Plan
from bench.scratch import progress
from bench.wire import Wire, request, wires

_READER = "reader"
_SENDERS = 32
_PATIENCE = 10.0
_decode = msgspec.json.Decoder().decode


class Push(msgspec.Struct, frozen=True):
    """Events at a steady rate on one socket; all events came, or nothing is reported."""

    server: str
    per_second: int
    events: int
    p50_millis: float
    """From the send's answer; below zero the event came first."""
    p99_millis: float
    p50_from_send_millis: float
    p99_from_send_millis: float


def measure_push(house: House, plan: Plan) -> Push:
    """Send at the plan's rate for as long as it says."""
    progress(f"HTTP: {plan.push_rate} pushes a second on {house.name}")
    return run(_measure(house, plan))


async def _measure(house: House, plan: Plan) -> Push:
    count = int(plan.push_rate * plan.push_seconds)
    sent: dict[str, tuple[float, float]] = {}
    came: dict[str, float] = {}
    address = f"ws://127.0.0.1:{house.port}/ws"
    async with connect(address, additional_headers={"X-Agent": _READER}, compression=None) as socket, wires(house.port, _SENDERS) as lines:

        async def listen() -> None:
            while len(came) < count:
                frame = _decode(await socket.recv())
                came[frame["message_id"]] = time.perf_counter()

        listening = asyncio.create_task(listen())
        free: asyncio.Queue[int] = asyncio.Queue()
        for line in range(_SENDERS):
            free.put_nowait(line)
        began = time.perf_counter()
        async with asyncio.TaskGroup() as sends:
            for number in range(count):
                await asyncio.sleep(began + number / plan.push_rate - time.perf_counter())
                sends.create_task(_send(lines, free, sent))
        await asyncio.wait_for(listening, _PATIENCE)
    after = [came[id] - answered for id, (_, answered) in sent.items()]
    whole = [came[id] - begun for id, (begun, _) in sent.items()]
    millis = [at(values, part) * 1e3 for values in (after, whole) for part in (0.5, 0.99)]
    return Push(house.name, plan.push_rate, count, *millis)


async def _send(lines: list[Wire], free: asyncio.Queue[int], sent: dict[str, tuple[float, float]]) -> None:
    line = await free.get()
    begun = time.perf_counter()
    body = {"to": _READER, "subject": "The build", "content": BODY}
    answer = await lines[line].call(request("POST", "/messages/send", f"sender-{line}", body))
    sent[_decode(answer)["message_id"]] = (begun, time.perf_counter())
    free.put_nowait(line)
