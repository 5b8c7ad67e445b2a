"""What a store can be asked about recurring letters."""

from postoffice.acts.mail.recurring import RecurringRow, as_recurring
from postoffice.core.names import folded
from postoffice.core.recurring import Recurring
from postoffice.store.engine import Engine


class RecurringReads:
    """Letters that are sent again and again."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def all(self, name: str | None) -> tuple[Recurring, ...]:
        """An agent's, or everybody's; what comes first stands first."""
        rows = await self._engine.fetch("recurring", agent=None if name is None else folded(name))
        return tuple(as_recurring(RecurringRow.of(row[:-1]), row[-1]) for row in rows)

    async def due(self, limit: int) -> list[RecurringRow]:
        """Those whose time has come."""
        return [RecurringRow.of(row) for row in await self._engine.fetch("due_recurring", limit=limit)]
