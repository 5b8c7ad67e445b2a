"""NATS JetStream through nats-py: one stream, a subject and a durable pull consumer for each mailbox, a connection for each client."""

import asyncio
import itertools
from contextlib import AsyncExitStack

import nats
from nats.aio.client import Client
from nats.js.api import AckPolicy, ConsumerConfig, StorageType

from bench.clients import Sample, run, with_coroutines
from bench.daemon import Daemon
from bench.plan import BODY, Plan

_DATA = BODY.encode()
_numbers = itertools.count(1)


class JetStream:
    """An ack settles all before it, so that a batch takes one; it is confirmed, as ours are."""

    name = "NATS JetStream"
    durability = "sync_interval always: send synced before the answer; leases and acks are not"

    def __init__(self, server: Daemon) -> None:
        self._server = server

    def measure(self, concurrency: int, batch: int, plan: Plan) -> Sample:
        return run(self._measure(concurrency, batch, plan))

    async def _measure(self, concurrency: int, batch: int, plan: Plan) -> Sample:
        stream = f"bench{next(_numbers)}"
        async with AsyncExitStack() as stack:
            clients = [await stack.enter_async_context(await self._connect()) for _ in range(concurrency)]
            manager = clients[0].jetstream()
            await manager.add_stream(name=stream, subjects=[f"{stream}.*"], storage=StorageType.FILE)
            boxes = [_Box(client, stream, f"box{number}") for number, client in enumerate(clients)]
            for box in boxes:
                await box.open()

            async def cycle(client: int) -> int:
                return await boxes[client].cycle(batch)

            sample = await with_coroutines(cycle, concurrency, plan, self._server.cpu)
            await manager.delete_stream(stream)
        return sample

    async def _connect(self) -> Client:
        return await nats.connect(f"nats://127.0.0.1:{self._server.port}")


class _Box:
    def __init__(self, client: Client, stream: str, name: str) -> None:
        self._js = client.jetstream()
        self._stream, self._name, self._subject = stream, name, f"{stream}.{name}"

    async def open(self) -> None:
        kept = ConsumerConfig(durable_name=self._name, ack_policy=AckPolicy.ALL, filter_subject=self._subject)
        await self._js.add_consumer(self._stream, kept)
        self._mail = await self._js.pull_subscribe_bind(self._name, self._stream)

    async def cycle(self, batch: int) -> int:
        if batch == 1:
            await self._js.publish(self._subject, _DATA)
        else:
            await asyncio.gather(*[await self._js.publish_async(self._subject, _DATA) for _ in range(batch)])
        letters = await self._mail.fetch(batch)
        await letters[-1].ack_sync()
        return len(letters)
