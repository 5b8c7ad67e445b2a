"""Hints between the processes of one PostgreSQL, by LISTEN and NOTIFY."""

import asyncio
import math
from contextlib import suppress
from typing import Any

import asyncpg

from postoffice.core.agent import KEYS_OF
from postoffice.store.postgres.engine import normal_url
from postoffice.wake.carried import CarriedWake


class PostgresWake(CarriedWake):
    """A connection of its own, that listens and notifies."""

    lost = (asyncpg.PostgresError, asyncpg.InterfaceError)
    most = 7900  # a notification carries 8000 bytes
    quiet = 10.0
    """Seconds without a hint to carry after which it says that it is still here, and hears whether the server is."""
    patience = 10.0
    """Seconds that the server has for an answer."""
    answer = 0.25
    """Seconds that others have for an answer to whoever comes: after them it is alone, and carries no hints that nobody would hear."""
    memory = 30.0
    """Seconds after which somebody who says nothing any more is taken to be gone."""

    def __init__(self, url: str, channel: str = "postoffice") -> None:
        super().__init__(normal_url(url))
        self.channel = channel
        self._own = 0
        self._others_until = math.inf

    @property
    def alone(self) -> bool:
        """Whether no other process is known to listen."""
        return asyncio.get_running_loop().time() > self._others_until

    def hint(self, agents: frozenset[str]) -> None:
        # Hints to forget a key go out even if no other process is known: one may have come just now and remembered the key.
        if self.alone and not any(agent.startswith(KEYS_OF) for agent in agents):
            self._heard(agents)
        else:
            super().hint(agents)

    async def carry(self) -> None:
        connection = await asyncpg.connect(self.url, statement_cache_size=0, timeout=10, command_timeout=self.patience)
        try:
            self._own = connection.get_server_pid()
            await connection.add_listener(self.channel, self._on_notify)
            self._expect_others(self.answer)
            await self._say(connection, "")
            self.connected()
            # Wakes this loop when the connection goes, so that it is not noticed only with the next hint.
            connection.add_termination_listener(lambda _: self._hinted.set())
            while not connection.is_closed():
                # A connection that died silently brings nothing, and a process that only listens would never notice.
                with suppress(TimeoutError):
                    async with asyncio.timeout(self.quiet):
                        await self._hinted.wait()
                await self._say(connection, self.gathered())
        finally:
            connection.terminate()

    async def _say(self, connection: Any, hint: str) -> None:
        """Tell the others; an empty hint says no more than that somebody is here."""
        # One trip to the server. With parameters it would be three, as a pooler allows no prepared statements.
        await connection.execute(" ".join(("NOTIFY", _quoted(self.channel, '"'), ",", _quoted(hint, "'"))))

    def _on_notify(self, _connection: Any, pid: int, _channel: str, payload: object) -> None:
        if pid == self._own:  # what this process hints it has heard already
            return
        if self.alone:
            self._hinted.set()  # whoever comes hears that it is not
        self._expect_others(self.memory)
        if payload:
            self.hear(str(payload))

    def _expect_others(self, seconds: float) -> None:
        self._others_until = asyncio.get_running_loop().time() + seconds


def _quoted(text: str, mark: str) -> str:
    return mark + text.replace(mark, mark * 2) + mark
