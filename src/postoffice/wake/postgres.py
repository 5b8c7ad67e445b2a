"""Hints between the processes of one PostgreSQL, by LISTEN and NOTIFY."""

import asyncio
from contextlib import suppress
from typing import Any

import asyncpg

from postoffice.store.postgres import normal_url
from postoffice.wake.carried import CarriedWake


class PostgresWake(CarriedWake):
    """A connection of its own, that listens and notifies."""

    lost = (asyncpg.PostgresError, asyncpg.InterfaceError)
    most = 7900  # a notification carries 8000 bytes
    quiet = 10.0
    """Seconds without a hint to carry after which the server is asked whether it is still there."""
    patience = 10.0
    """Seconds that it has for an answer."""

    def __init__(self, url: str, channel: str = "postoffice") -> None:
        super().__init__(normal_url(url))
        self.channel = channel
        self._own = 0

    async def carry(self) -> None:
        connection = await asyncpg.connect(self.url, statement_cache_size=0, timeout=10, command_timeout=self.patience)
        try:
            self._own = connection.get_server_pid()
            await connection.add_listener(self.channel, self._on_notify)
            self.connected()
            # Wakes this loop when the connection goes, so that it is not noticed only with the next hint.
            connection.add_termination_listener(lambda _: self._hinted.set())
            while not connection.is_closed():
                # A connection that died without a word brings nothing any more, and whoever only listens would never know.
                with suppress(TimeoutError):
                    async with asyncio.timeout(self.quiet):
                        await self._hinted.wait()
                if hint := self.gathered():
                    # One trip: with parameters, and nothing prepared behind a pooler, it would be three.
                    await connection.execute(" ".join(("NOTIFY", _quoted(self.channel, '"'), ",", _quoted(hint, "'"))))
                else:
                    await connection.execute("SELECT 1")
        finally:
            connection.terminate()

    def _on_notify(self, _connection: Any, pid: int, _channel: str, payload: object) -> None:
        if pid != self._own:  # what this process hints it has heard already
            self.hear(str(payload))


def _quoted(text: str, mark: str) -> str:
    return mark + text.replace(mark, mark * 2) + mark
