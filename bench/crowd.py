"""A crowd of idle clients in a process of their own, and somebody who writes to them: `python -m bench.crowd PORT`.

Told what to do on its standard input, a line at a time: so many more connections of a kind, or mail at a steady rate. When that is
done it says so on its standard output.
"""

import asyncio
import random
import sys
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import msgspec

from bench.calls import at
from bench.clients import run
from bench.listener import ListeningSocket
from bench.mcp_errands import structured, tool_request
from bench.plan import BODY
from bench.wire import Wire, request
from postoffice.serve.descriptors import raise_limit

SOCKETS, WAITS = "WebSockets", "MCP waits"
_AT_ONCE = 100
_SENDERS = 8
_AN_ADDRESS = 5_000
"""Connections from one source address: a port is used once."""
_PATIENCE = 10.0
_LONGEST = 240_000
_SETTLE = 1.0
_decode = msgspec.json.Decoder().decode
P = TypeVar("P", bound=asyncio.Protocol)


class Gather(msgspec.Struct, frozen=True, tag=True):
    """So many more of a kind."""

    kind: str
    count: int


class Write(msgspec.Struct, frozen=True, tag=True):
    """Mail to any of a kind, at a steady rate."""

    kind: str
    rate: int
    seconds: float


class Delays(msgspec.Struct, frozen=True):
    """How long mail took; all of it came, or nothing is reported."""

    letters: int
    p50_millis: float
    """From the send's answer; below zero the message came first."""
    p99_millis: float
    p50_from_send_millis: float
    p99_from_send_millis: float


class Crowd:
    """Everybody who is connected."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._names: dict[str, list[str]] = {SOCKETS: [], WAITS: []}
        self._connections = 0
        self._came: dict[str, float] = {}
        self._news = asyncio.Event()
        self._waiting: set[asyncio.Task[None]] = set()
        self._sockets: list[ListeningSocket] = []

    async def gather(self, kind: str, count: int) -> int:
        """Let more of a kind come; gives how many of it there are."""
        names = self._names[kind]
        come: Callable[[str], Awaitable[None]] = self._listen if kind == SOCKETS else self._wait
        added = [f"{kind.replace(' ', '-')}-{len(names) + number}" for number in range(count)]
        for start in range(0, count, _AT_ONCE):
            await asyncio.gather(*(come(name) for name in added[start : start + _AT_ONCE]))
        names += added
        await asyncio.sleep(_SETTLE)
        return len(names)

    async def write(self, kind: str, rate: int, seconds: float) -> Delays:
        """Write to one after the other, in no order."""
        sent: dict[str, tuple[float, float]] = {}
        chosen = random.Random(1)
        free: asyncio.Queue[tuple[str, Wire]] = asyncio.Queue()
        for number in range(_SENDERS):
            free.put_nowait((f"sender-{number}", await self._connect(Wire)))
        began = time.perf_counter()
        async with asyncio.TaskGroup() as sends:
            for number in range(int(rate * seconds)):
                await asyncio.sleep(began + number / rate - time.perf_counter())
                sends.create_task(_send(chosen.choice(self._names[kind]), free, sent))
        while not free.empty():
            free.get_nowait()[1].close()
        async with asyncio.timeout(_PATIENCE):
            while not sent.keys() <= self._came.keys():
                self._news.clear()
                await self._news.wait()
        after = [self._came[id] - answered for id, (_, answered) in sent.items()]
        whole = [self._came[id] - begun for id, (begun, _) in sent.items()]
        millis = [at(values, part) * 1e3 for values in (after, whole) for part in (0.5, 0.99)]
        return Delays(len(sent), *millis)

    async def _listen(self, name: str) -> None:
        socket = await self._connect(lambda: ListeningSocket(name, self._on_news))
        self._sockets.append(socket)
        await socket.open

    def _on_news(self, text: bytes) -> None:
        now, news = time.perf_counter(), _decode(text)
        if "message_id" in news:
            self._came[news["message_id"]] = now
            self._news.set()

    async def _wait(self, name: str) -> None:
        task = asyncio.create_task(self._keep_waiting(name, await self._connect(Wire)))
        self._waiting.add(task)

    async def _keep_waiting(self, name: str, wire: Wire) -> None:
        ack: list[str] = []
        while True:
            answer = await wire.call(tool_request(name, "mailbox_wait", {"timeout_ms": _LONGEST, "ack": ack}))
            now = time.perf_counter()
            ack = [letter["id"] for letter in structured(_message(answer))["messages"]]
            self._came |= dict.fromkeys(ack, now)
            self._news.set()

    async def _connect(self, protocol: Callable[[], P]) -> P:
        # Every address of 127.0.0.0/8 is this machine's, but only Linux says so unasked.
        source = (f"127.0.0.{1 + self._connections // _AN_ADDRESS}", 0) if sys.platform == "linux" else None
        self._connections += 1
        loop = asyncio.get_running_loop()
        _, made = await loop.create_connection(protocol, "127.0.0.1", self._port, local_addr=source)
        return made


def _message(answer: bytes) -> bytes:
    """A wait that lasts is answered by a stream of events, the last of which is the answer."""
    return answer if answer.startswith(b"{") else answer.rpartition(b"data: ")[2]


async def _send(to: str, free: asyncio.Queue[tuple[str, Wire]], sent: dict[str, tuple[float, float]]) -> None:
    sender, wire = await free.get()
    begun = time.perf_counter()
    answer = await wire.call(request("POST", "/messages/send", sender, {"to": to, "subject": "The build", "content": BODY}))
    sent[_decode(answer)["message_id"]] = (begun, time.perf_counter())
    free.put_nowait((sender, wire))


async def _main(port: int) -> None:
    crowd = Crowd(port)
    orders = msgspec.json.Decoder(Gather | Write)
    while line := await asyncio.to_thread(sys.stdin.buffer.readline):
        order = orders.decode(line)
        done: int | Delays
        if isinstance(order, Gather):
            done = await crowd.gather(order.kind, order.count)
        else:
            done = await crowd.write(order.kind, order.rate, order.seconds)
        sys.stdout.buffer.write(msgspec.json.encode(done) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    raise_limit()
    run(_main(int(sys.argv[1])))
