"""Hints between the processes of one PostgreSQL, by LISTEN and NOTIFY."""

from typing import Any

import asyncpg

from postoffice.store.postgres import normal_url
from postoffice.wake.carried import CarriedWake


class PostgresWake(CarriedWake):
    """A connection of its own, that listens and notifies."""

    lost = (asyncpg.PostgresError, asyncpg.InterfaceError)
    most = 7900  # a notification carries 8000 bytes

    def __init__(self, url: str, channel: str = "postoffice") -> None:
        super().__init__(normal_url(url))
        self.channel = channel

    async def carry(self) -> None:
        connection = await asyncpg.connect(self.url, statement_cache_size=0, timeout=10, command_timeout=30)
        try:
            await connection.add_listener(self.channel, self._on_notify)
            self.connected()
            # Wakes this loop when the connection goes, so that it is not noticed only with the next hint.
            connection.add_termination_listener(lambda _: self._hinted.set())
            while not connection.is_closed():
                await self._hinted.wait()
                hint = self.gathered()
                if hint and not connection.is_closed():
                    await connection.execute("SELECT pg_notify($1, $2)", self.channel, hint)
        finally:
            connection.terminate()

    def _on_notify(self, _connection: Any, _pid: int, _channel: str, payload: object) -> None:
        self.hear(str(payload))
