"""Redis Streams through redis-py: a stream and a group for each mailbox, a connection for each client."""

from contextlib import AsyncExitStack
from typing import Any

from redis.asyncio import Redis

from bench.clients import Sample, run, with_coroutines
from bench.daemon import Daemon
from bench.plan import BODY, Plan

_GROUP, _READER = "readers", "reader"
_FIELDS = {"body": BODY}


class RedisStreams:
    """One at a time it is three calls; in batches the sends go as one pipeline, and the acks with the next read."""

    name = "Redis Streams"
    durability = "appendfsync always: send, lease and ack synced before the answer"

    def __init__(self, server: Daemon) -> None:
        self._server = server

    def measure(self, concurrency: int, batch: int, plan: Plan) -> Sample:
        return run(self._measure(concurrency, batch, plan))

    async def _measure(self, concurrency: int, batch: int, plan: Plan) -> Sample:
        async with AsyncExitStack() as stack:
            clients = [await stack.enter_async_context(Redis(port=self._server.port, protocol=2)) for _ in range(concurrency)]
            await clients[0].flushall()
            boxes = [_Box(client, f"box:{number}") for number, client in enumerate(clients)]
            for box in boxes:
                await box.open()

            async def cycle(client: int) -> int:
                return await (boxes[client].one() if batch == 1 else boxes[client].many(batch))

            return await with_coroutines(cycle, concurrency, plan, self._server.cpu)


class _Box:
    def __init__(self, client: Any, name: str) -> None:
        self._redis = client
        self._name = name
        self._acks: list[bytes] = []

    async def open(self) -> None:
        await self._redis.xgroup_create(self._name, _GROUP, id="0", mkstream=True)

    async def one(self) -> int:
        await self._redis.xadd(self._name, _FIELDS)
        ids = _ids(await self._redis.xreadgroup(_GROUP, _READER, {self._name: ">"}, count=1))
        await self._redis.xack(self._name, _GROUP, *ids)
        return len(ids)

    async def many(self, batch: int) -> int:
        async with self._redis.pipeline(transaction=False) as sends:
            for _ in range(batch):
                sends.xadd(self._name, _FIELDS)
            await sends.execute()
        async with self._redis.pipeline(transaction=False) as turn:
            if self._acks:
                turn.xack(self._name, _GROUP, *self._acks)
            turn.xreadgroup(_GROUP, _READER, {self._name: ">"}, count=batch)
            self._acks = _ids((await turn.execute())[-1])
        return len(self._acks)


def _ids(answer: Any) -> list[bytes]:
    return [id for _, entries in answer or () for id, _ in entries]
