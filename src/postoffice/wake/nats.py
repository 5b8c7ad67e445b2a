"""Hints between processes by NATS: for many replicas, or where PostgreSQL is reached through a pooler that cannot LISTEN."""

import asyncio
import random
from contextlib import suppress

import nats
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error

from postoffice.wake.protocol import EVERYBODY, Heard

_MOST = 500_000  # a message of NATS carries a megabyte unless told otherwise
_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 5.0
_LOOK = 0.5  # seconds between two looks at whether the connection is still there


class NatsWake:
    """One connection publishes and listens. What is hinted while a message is under way goes out with the next."""

    def __init__(self, url: str, subject: str = "postoffice") -> None:
        self.url = url
        self.subject = subject
        self.healthy = False
        self._waiting: set[str] = set()
        self._hinted = asyncio.Event()

    async def open(self, heard: Heard) -> None:
        self._heard = heard
        self._task = asyncio.create_task(self._run())

    def hint(self, agents: frozenset[str]) -> None:
        self._heard(agents)
        self._waiting |= agents
        self._hinted.set()

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        self._pause = _FIRST_PAUSE
        while True:
            # Everybody is looking by themselves meanwhile; a hint lost here costs a tick.
            with suppress(OSError, Error, TimeoutError):
                await self._carry()
            await asyncio.sleep(self._pause * random.uniform(0.5, 1.0))  # noqa: S311
            self._pause = min(self._pause * 2, _LONGEST_PAUSE)

    async def _carry(self) -> None:
        # Reconnecting is this loop's business: the client's own would buffer hints that are stale by the time they go out.
        connection = await nats.connect(
            self.url, name="postoffice", no_echo=True, allow_reconnect=False, connect_timeout=5, error_cb=_quietly, ping_interval=10
        )
        try:
            await connection.subscribe(self.subject, cb=self._on_message)
            await connection.flush()
            self.healthy = True
            self._pause = _FIRST_PAUSE
            await self._publish(connection)
        finally:
            self.healthy = False
            await connection.close()

    async def _publish(self, connection: Client) -> None:
        while not connection.is_closed:
            try:
                async with asyncio.timeout(_LOOK):
                    await self._hinted.wait()
            except TimeoutError:
                continue
            self._hinted.clear()
            agents, self._waiting = self._waiting, set()
            payload = ",".join(sorted(agents)).encode()
            await connection.publish(self.subject, payload if len(payload) < _MOST else EVERYBODY.encode())

    async def _on_message(self, message: Msg) -> None:
        self._heard(frozenset(message.data.decode(errors="replace").split(",")))


async def _quietly(_: Exception) -> None:
    """What goes wrong shows as the connection's end."""
