"""Names that callers give, looked up in the directory: whose mailbox is meant, and which name is near to a wrong one."""

import difflib

from postoffice.core.agent import Caller
from postoffice.core.errors import NoSuchAgent
from postoffice.core.names import folded
from postoffice.office.checks import Checks
from postoffice.store.store import Store

_NEIGHBOURS = 50
"""How many names on either side of a wrong one are compared with it: comparing takes long, and keeps everybody waiting."""


class Directory:
    """Every agent's name, for verbs that have to look one up before they do anything."""

    def __init__(self, store: Store, checks: Checks) -> None:
        self._store = store
        self._checks = checks

    async def mailbox(self, caller: Caller, of: str | None) -> str:
        """Whose mailbox a verb is about. A name that nobody has is refused."""
        name = self._checks.whose(caller, of)
        if of is not None and await self._store.agents.named(name) is None:
            raise await self.unknown(name)
        return name

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
