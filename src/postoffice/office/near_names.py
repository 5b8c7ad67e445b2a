"""Names of agents near to a wrong one, so that a refusal can name the right one."""

import difflib

from postoffice.core.errors import (
    NoSuchAgent,
)
from postoffice.core.names import folded
from postoffice.store.store import Store

_NEIGHBOURS = 50
"""Names on either side of a wrong one among which the right one is looked for: comparing takes long, and keeps everybody waiting."""


class NearNames:
    """Looks for them in the directory."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def nearest(self, name: str) -> str | None:
        """The name of another agent that is most like this one, if any is."""
        names = {folded(other): other for other in await self._store.agents.near(name, _NEIGHBOURS) if folded(other) != folded(name)}
        close = difflib.get_close_matches(folded(name), list(names), 1)
        return names[close[0]] if close else None

    async def unknown(self, name: str) -> NoSuchAgent:
        """A refusal that names the fix."""
        close = await self.nearest(name)
        guess = f"did you mean {close!r}? Otherwise " if close else ""
        return NoSuchAgent(name=name, hint=f"{guess}see who is in the directory")
