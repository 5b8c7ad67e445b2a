"""The rota: who is in which role, kept in memory and read again when a hint says that it changed."""

import asyncio

from postoffice.core.agent import Caller
from postoffice.core.errors import NoSuchRole, NotInRole
from postoffice.core.names import check_role, folded
from postoffice.core.role import ROLES
from postoffice.store.store import Store
from postoffice.wake.protocol import EVERYBODY


class Rota:
    """Where an office has no roles, nobody pays for them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._staff: dict[str, tuple[str, ...]] = {}
        self._makers: dict[str, str] = {}
        self._roles: dict[str, tuple[str, ...]] = {}
        self._changes = 1
        self._seen = 0
        self._reading = asyncio.Lock()

    def hear(self, hints: frozenset[str]) -> None:
        """A hint may be about roles."""
        if ROLES in hints or EVERYBODY in hints:
            self._changes += 1

    async def look(self) -> None:
        """Have it as it is now, as far as any hint has told."""
        while self._seen != self._changes:
            async with self._reading:
                changes = self._changes
                if self._seen != changes:
                    roles = await self._store.roles.all()
                    self._staff = {folded(one.name): one.staff for one in roles}
                    self._makers = {folded(one.name): folded(one.made_by) for one in roles}
                    self._roles = {}
                    for role, staff in self._staff.items():
                        for agent in map(folded, staff):
                            self._roles[agent] = (*self._roles.get(agent, ()), role)
                    self._seen = changes

    @property
    def empty(self) -> bool:
        """Whether the office has no roles."""
        return not self._staff

    def of(self, agent: str) -> tuple[str, ...]:
        """The roles that an agent is in."""
        return self._roles.get(folded(agent), ())

    async def place(self, caller: Caller, of: str | None) -> str | None:
        """The role that a caller takes from, where it says one; only who is in it may."""
        if of is None or folded(of) == folded(caller.name):
            return None
        role = folded(check_role(of))
        await self.look()
        if role not in self._staff:
            raise NoSuchRole(name=of)
        if role not in self.of(caller.name):
            raise NotInRole(agent=caller.name, name=of)
        return role

    async def may_see(self, caller: Caller, role: str) -> str:
        """A role whose mailbox a caller looks into: who is in it, who made it, and the owner may."""
        name = folded(check_role(role))
        await self.look()
        if name not in self._staff:
            raise NoSuchRole(name=role)
        if not caller.owner and name not in self.of(caller.name) and folded(caller.name) != self._makers[name]:
            raise NotInRole(agent=caller.name, name=role)
        return name

    def staff(self, role: str) -> tuple[str, ...]:
        """Who is in a role."""
        return self._staff.get(folded(role), ())

    async def ways(self, caller: Caller) -> tuple[str, ...] | None:
        """The roles that a caller may answer for; None where the office has none at all."""
        await self.look()
        return None if self.empty else self.of(caller.name)
