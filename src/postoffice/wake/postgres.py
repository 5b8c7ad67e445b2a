"""Hints between the processes of one PostgreSQL, by LISTEN and NOTIFY."""

import asyncio
import random
from contextlib import suppress
from typing import Any

import asyncpg

from postoffice.store.postgres import normal_url
from postoffice.wake.protocol import EVERYBODY, Heard

_MOST = 7900  # a notification carries 8000 bytes
_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 5.0


class PostgresWake:
    """One connection listens and notifies. What is hinted while a notification is under way goes out with the next."""

    def __init__(self, url: str, channel: str = "postoffice") -> None:
        self.url = normal_url(url)
        self.channel = channel
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
            with suppress(OSError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError):
                await self._carry()
            await asyncio.sleep(self._pause * random.uniform(0.5, 1.0))  # noqa: S311
            self._pause = min(self._pause * 2, _LONGEST_PAUSE)

    async def _carry(self) -> None:
        connection = await asyncpg.connect(self.url, statement_cache_size=0, timeout=10, command_timeout=30)
        try:
            await connection.add_listener(self.channel, self._on_notify)
            self.healthy = True
            self._pause = _FIRST_PAUSE
            # Wakes this loop when the connection goes, so that it is not noticed only with the next hint.
            connection.add_termination_listener(lambda _: self._hinted.set())
            while not connection.is_closed():
                await self._hinted.wait()
                self._hinted.clear()
                agents, self._waiting = self._waiting, set()
                if agents and not connection.is_closed():
                    payload = ",".join(sorted(agents))
                    await connection.execute("SELECT pg_notify($1, $2)", self.channel, payload if len(payload) < _MOST else EVERYBODY)
        finally:
            self.healthy = False
            connection.terminate()

    def _on_notify(self, _connection: Any, _pid: int, _channel: str, payload: object) -> None:
        self._heard(frozenset(str(payload).split(",")))
