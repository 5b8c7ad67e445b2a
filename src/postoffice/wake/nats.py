"""Hints between processes by NATS: for many replicas, or where PostgreSQL is reached through a pooler that cannot LISTEN."""

import asyncio

import nats
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error

from postoffice.wake.carried import CarriedWake

_LOOK_SECONDS = 0.5  # seconds between two looks at whether the connection is still there


class NatsWake(CarriedWake):
    """One subject, on which every process publishes and to which every process listens."""

    lost = (Error,)
    most = 500_000  # a message of NATS carries a megabyte unless told otherwise

    def __init__(self, url: str, subject: str = "postoffice") -> None:
        super().__init__(url)
        self.subject = subject

    async def carry(self) -> None:
        # Reconnecting is not the client's business: its own would buffer hints that are stale by the time they go out.
        connection = await nats.connect(
            self.url, name="postoffice", no_echo=True, allow_reconnect=False, connect_timeout=5, error_cb=_quietly, ping_interval=10
        )
        try:
            await connection.subscribe(self.subject, cb=self._on_message)
            await connection.flush()
            self.connected()
            await self._publish(connection)
        finally:
            self.healthy = False  # closing takes its time
            await connection.close()

    async def _publish(self, connection: Client) -> None:
        while not connection.is_closed:
            try:
                async with asyncio.timeout(_LOOK_SECONDS):
                    await self._hinted.wait()
            except TimeoutError:
                continue
            await connection.publish(self.subject, self.gathered().encode())

    async def _on_message(self, message: Msg) -> None:
        self.hear(message.data.decode(errors="replace"))


async def _quietly(_: Exception) -> None:
    """What goes wrong shows as the connection's end."""
