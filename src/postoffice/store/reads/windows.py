"""What a store can be asked about windows."""

from datetime import timedelta
from typing import NamedTuple

from postoffice.acts.people.windows import as_window
from postoffice.acts.rows import Row, WindowRow
from postoffice.core.clock import is_id, moment
from postoffice.core.names import folded
from postoffice.core.views import Machine
from postoffice.core.window import Window
from postoffice.store.engine import Engine


class RingsOf(NamedTuple):
    """How what waits for an agent was rung for."""

    waiting: int
    last_at: int | None
    unheard_for: timedelta | None
    """How long since the last ring that no turn has followed."""


class WindowReads:
    """Which windows are open."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def open_now(self) -> tuple[Window, ...]:
        """Every window that is open, by its agent."""
        return tuple(_window(row) for row in await self._engine.fetch("open_windows"))

    async def named(self, id: str) -> Window | None:
        """One window, if it has not ended."""
        rows = await self._engine.fetch("window", id=id) if is_id(id) else ()
        return _window(rows[0]) if rows else None

    async def rings_of(self, agent: str, sender: str | None = None) -> RingsOf:
        """How what waits for an agent was rung for; of one sender's letters, or of all."""
        name = None if sender is None else folded(sender)
        ((waiting, last_at, unheard_at, now),) = await self._engine.fetch("rings_of", agent=folded(agent), sender=name)
        ago = None if unheard_at is None else timedelta(microseconds=now - unheard_at)
        return RingsOf(waiting=waiting, last_at=last_at, unheard_for=ago)

    async def machine(self, hash: str) -> str | None:
        """The prefix of the machine whose key it is."""
        rows = await self._engine.fetch("machine_of_key", hash=hash)
        return str(rows[0][0]) if rows else None

    async def agent_of_machine(self, prefix: str, name: str) -> str | None:
        """An agent's name as it is written, if it is a window's of that machine."""
        rows = await self._engine.fetch("machine_of_agent", agent=folded(name))
        return next((str(agent) for agent, machine in rows if machine == prefix), None)

    async def machines(self) -> tuple[Machine, ...]:
        """Machines' keys that open something."""
        rows = await self._engine.fetch("machines")
        return tuple(Machine(prefix=prefix, shown=shown, created_at=moment(made)) for prefix, shown, made in rows)

    async def machine_hashes(self, prefix: str) -> tuple[str, ...]:
        """The hashes of a machine's keys."""
        return tuple(hash for (hash,) in await self._engine.fetch("machine_hashes", prefix=prefix))


def _window(row: Row) -> Window:
    *window, name = row
    return as_window(WindowRow.of(tuple(window)), name)
