"""What a store can be asked about windows."""

from postoffice.acts.people.windows import as_window
from postoffice.acts.rows import Row, WindowRow
from postoffice.core.clock import is_id
from postoffice.core.window import Window
from postoffice.store.engine import Engine


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


def _window(row: Row) -> Window:
    *window, name = row
    return as_window(WindowRow.of(tuple(window)), name)
