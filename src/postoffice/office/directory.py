"""Names that callers give, looked up in the directory: whose mailbox is meant, and which name is near to a wrong one."""

import difflib

from postoffice.core.agent import Caller
from postoffice.core.errors import NoSuchAgent
from postoffice.core.names import folded, is_role
from postoffice.office.checks import Checks
from postoffice.office.rota import Rota
from postoffice.store.store import Store

_NEIGHBOURS = 50
"""How many names on either side of a wrong one are compared with it: comparing takes long, and keeps everybody waiting."""


class Directory:
    """Every agent's name, for verbs that have to look one up before they do anything."""

    def __init__(self, store: Store, checks: Checks, rota: Rota) -> None:
        self._store = store
        self._rota = rota
        self._checks = checks

    async def mailbox(self, caller: Caller, of: str | None) -> str:
        """Whose mailbox a verb is about. A name that nobody has is refused."""
        return await self._rota.may_see(caller, of) if of is not None and is_role(of) else await self.agent(caller, of)

    async def agent(self, caller: Caller, of: str | None) -> str:
        """The same, where only an agent can be meant."""
        name = self._checks.whose(caller, of)
        if of is not None and await self._store.agents.named(name) is None:
            raise await self.unknown(name)
        return name

    async def whose(self, caller: Caller, of: str | None) -> str:
        """The same, where a name that nobody has is refused by the verb."""
        return await self._rota.may_see(caller, of) if of is not None and is_role(of) else self._checks.whose(caller, of)

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
