"""Verbs about roles: who is in them, and what waits there for whoever comes first."""

from collections.abc import Collection
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from postoffice.acts.people.roles import ChangeRole, DropRole, MakeRole, Wanted
from postoffice.core.agent import Caller, Card, check_card
from postoffice.core.errors import NoSuchRole, OwnerOnly
from postoffice.core.names import check_free, folded
from postoffice.core.policy import ANYONE, Auth
from postoffice.core.role import Role, RoleHand, address_of
from postoffice.office.checks import Checks
from postoffice.office.reachability import Reachability
from postoffice.store.store import Store

_ENDED_AT_ONCE = 200


class Roles:
    """A role is made by an agent or the owner, and staffed by name, or by what agents' cards say they can do."""

    def __init__(self, store: Store, checks: Checks, reachability: Reachability, auth: Auth) -> None:
        self._store = store
        self._checks = checks
        self._reachability = reachability
        self._auth = auth

    async def all(self) -> tuple[Role, ...]:
        """Every role, with who is in it and what waits there."""
        await self._reachability.look()
        return tuple([await self._shown(one) for one in await self._store.roles.all()])

    async def role(self, name: str) -> Role:
        """One role."""
        address = address_of(name)
        await self._reachability.look()
        return await self._shown(await self._found(address))

    async def make(
        self,
        caller: Caller,
        name: str,
        staff: Collection[str] = (),
        *,
        capability: str | None = None,
        description: str = "",
        allow_from: Collection[str] | None = None,
        max_in_hand: int | None = None,
        in_order: bool = False,
    ) -> Role:
        """Make a role. On an open office everybody may write to it unless its maker says otherwise; where keys are asked for, nobody may until then."""
        if allow_from is None:
            allow_from = (ANYONE,) if self._auth is Auth.OPEN else ()
        address = address_of(name)
        card = {
            "description": description,
            "allow_from": tuple(allow_from),
            "max_in_hand": max_in_hand,
            "in_order": in_order,
        }
        wanted = Wanted(card=self._card(card), capability=self._capability(caller, capability), add=tuple(map(check_free, staff)))
        await self._store.do(MakeRole(caller.name, address, wanted, owner=caller.owner))
        return await self.role(address)

    async def change(
        self,
        caller: Caller,
        name: str,
        changes: dict[str, Any] | None = None,
        *,
        capability: str | UnsetType | None = UNSET,
        add: Collection[str] = (),
        remove: Collection[str] = (),
    ) -> Role:
        """Change a role, or who is in it. What those who are taken out have in hand waits again."""
        address = address_of(name)
        found = await self._found(address)
        leaving = set(map(folded, remove))
        hands = await self._store.roles.hands(found.name) if leaving else ()
        wanted = Wanted(
            card=self._card(changes or {}),
            capability=UNSET if capability is UNSET else self._capability(caller, capability),
            add=tuple(map(check_free, add)),
            remove=tuple(folded(check_free(one)) for one in remove),
        )
        returned = [one.message_id for one in hands if folded(one.agent) in leaving]
        await self._store.do(ChangeRole(caller.name, address, wanted, returned, owner=caller.owner))
        return await self.role(address)

    async def delete(self, caller: Caller, name: str) -> int:
        """Delete a role. What waits there is dead, and its senders are told; how much that was."""
        address, dead = address_of(name), 0
        while True:
            waiting = await self._store.mail.not_taken(address, _ENDED_AT_ONCE)
            done = await self._store.do(DropRole(caller.name, address, waiting, owner=caller.owner))
            if done is not None:
                return dead + done
            dead += len(waiting)

    async def hands(self, name: str) -> tuple[RoleHand, ...]:
        """Who has which of its letters in hand."""
        return await self._store.roles.hands((await self._found(address_of(name))).name)

    async def _found(self, address: str) -> Role:
        role = await self._store.roles.named(address)
        if role is None:
            raise NoSuchRole(name=address)
        return role

    async def _shown(self, role: Role) -> Role:
        return msgspec.structs.replace(role, reach=await self._reachability.of_role(role.name, role.staff))

    def _card(self, fields: dict[str, Any]) -> dict[str, object]:
        card = check_card(msgspec.convert(fields, Card))
        return {field: getattr(card, field) for field in fields}

    def _capability(self, caller: Caller, capability: str | None) -> str | None:
        if not capability:
            return None
        if self._auth is Auth.KEYS and not caller.owner:  # mail would come to whoever says of itself that it can do something
            raise OwnerOnly(what="put agents into a role by what they can do")
        return self._checks.ref(capability, "capability")
