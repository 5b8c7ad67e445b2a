"""Verbs about agents: who is calling, who is there, and their keys."""

from datetime import timedelta
from typing import Any

import msgspec

from postoffice.acts.people.agents import AddKey, Register, RevokeKeys, UpdateCard
from postoffice.acts.people.forget import Forget
from postoffice.core.agent import Agent, Caller, Card, Forgotten, Key, check_card, key_from, key_hash, key_prefix, new_key
from postoffice.core.errors import Invalid, MachineOnly, NameTaken, OwnerOnly
from postoffice.core.limits import bounded
from postoffice.core.names import OWNER, check_free, check_name
from postoffice.core.views import Page
from postoffice.office.counter import Counter

_NOW = timedelta(0)
_FORGOTTEN_AT_ONCE = 200
_YEAR = timedelta(days=365)


class PeopleVerbs(Counter):
    """Agents and keys."""

    async def identify(
        self, *, key: str | None = None, name: str | None = None, looking: bool = False, machine: bool = False, silently: bool = False
    ) -> Caller:
        """Who is calling, by key or, on an open server, by name. Any call is a sign of life; one that only looks makes no new agent.

        `machine`: it may be a machine, which is no agent. `silently`: a person's call with the agent's key says nothing of the agent.
        """
        caller = await self._identities.identify(key, name, looking=looking)
        if caller.machine is not None:
            if not machine:
                raise MachineOnly(prefix=caller.machine)
            return caller
        if caller.new:
            self._presences.look_in(caller.name)
        elif not silently:
            self._presences.touch(caller.name)
        return caller

    def has_called(self, name: str) -> bool:
        """Whether somebody called by a name that nobody has yet, as clients do that open their tools and have nothing to say."""
        return self._presences.looked_in(name)

    def owner(self) -> Caller:
        """The owner, for a door that knows it has the owner before it."""
        return Caller(OWNER, verified=True, owner=True)

    async def register(
        self, name: str, card: Card | None = None, *, by: Caller | None = None, address: str | None = None, seed: str | None = None
    ) -> tuple[str, str, str]:
        """Take a name. Gives the agent's id, its name, and its key, which is never shown again: but by the same seed asked twice is asked once."""
        key = key_from(seed, name) if seed else new_key()
        hash = key_hash(key)
        assert hash is not None
        checked = check_card(card or Card())
        owner = by is not None and by.owner
        if checked.person and not owner:
            raise OwnerOnly(what="mark a person")
        counted = None if owner else address  # the rate is for strangers, and whoever runs the office sets up a team from one machine
        try:
            id, kept_name = await self.store.do(Register(check_free(name), checked, hash, key_prefix(key), owner=owner, address=counted))
        except NameTaken:
            if seed is None or await self.store.agents.by_key(hash) is None:
                raise
            agent = await self.agent(name)
            id, kept_name = agent.id, agent.name
        return id, kept_name, key

    async def agent(self, name: str, caller: Caller | None = None) -> Agent:
        """One agent as the directory shows it."""
        agent = await self.store.agents.named(check_name(name))
        if agent is None:
            raise await self._near_names.unknown(name)
        await self._board.look()
        return self._with_presence(agent, len(agent.current_tasks), caller)

    async def agents(self, cursor: str | None = None, limit: int | None = None, *, caller: Caller | None = None) -> Page[Agent]:
        """The directory."""
        page = await self.store.agents.page(self._checks.cursor(cursor), self._checks.page(limit))
        await self._board.look()
        return Page(tuple(self._with_presence(agent, len(agent.current_tasks), caller) for agent in page.items), page.cursor)

    async def forget(self, caller: Caller, name: str) -> Forgotten:
        """Forget a name that nobody ever used. What waits there is dead, and its senders are told. The owner's to do."""
        if not caller.owner:
            raise OwnerOnly(what="forget an agent")
        checked, dead = check_name(name), 0
        while True:
            waiting = await self.store.mail.not_taken(checked, _FORGOTTEN_AT_ONCE)
            done = await self.store.do(Forget(checked, waiting))
            if done is not None:
                return msgspec.structs.replace(done, dead=dead + done.dead)
            dead += len(waiting)

    async def names(self, part: str = "", limit: int | None = None) -> list[str]:
        """Names in which this part stands, first those that begin with it."""
        return await self.store.agents.names_with(self._checks.ref(part, "name") if part else "", self._checks.page(limit))

    async def update_card(self, caller: Caller, changes: dict[str, Any], *, of: str | None = None) -> Card:
        """Change what an agent says of itself; what is not given stays."""
        fields = {field.name: field for field in msgspec.structs.fields(Card)}
        if unknown := changes.keys() - fields:
            raise Invalid(what="card", why=f"it has no {min(unknown)!r}")
        try:
            checked = check_card(msgspec.convert(changes, Card))
        except msgspec.ValidationError as error:
            raise Invalid(what="card", why=str(error)) from None
        if "person" in changes and not caller.owner:
            raise OwnerOnly(what="mark a person")
        return await self.store.do(UpdateCard(self._checks.whose(caller, of), {field: getattr(checked, field) for field in changes}))

    def heartbeat(self, caller: Caller) -> None:
        """Show that the agent is there."""
        self._presences.touch(caller.name)

    async def leave(self, caller: Caller) -> None:
        """Say that the agent is going: it is offline until its next call."""
        self._presences.leave(caller.name)
        await self._presences.flush(self.store)

    # Keys

    async def rotate_key(self, caller: Caller, *, of: str | None = None, overlap: timedelta | None = None) -> tuple[str, Key]:
        """A new key; the older ones end when the overlap is over."""
        name = self._key_holder(caller, of)
        span = bounded("overlap", overlap, self._limits.key_overlap, _NOW, _YEAR)
        return await self._issue(caller, name, span)

    async def add_key(self, caller: Caller, *, of: str | None = None) -> tuple[str, Key]:
        """One key more; the others stay. Giving a keyless name its first key is the owner's to do."""
        return await self._issue(caller, self._key_holder(caller, of), None)

    def _key_holder(self, caller: Caller, of: str | None) -> str:
        """Whoever merely says a name cannot lock it."""
        name = self._checks.whose(caller, of)
        if not caller.owner and not caller.verified:
            raise OwnerOnly(what=f"give {name} its first key")
        return name

    async def _issue(self, caller: Caller, name: str, overlap: timedelta | None) -> tuple[str, Key]:
        raw = new_key()
        hash = key_hash(raw)
        assert hash is not None
        return raw, await self.store.do(AddKey(name, hash, key_prefix(raw), overlap, caller.key))

    async def revoke_keys(self, caller: Caller, prefix: str | None = None, *, of: str | None = None) -> tuple[Key, ...]:
        """Take back the keys that begin so, or all."""
        return await self.store.do(RevokeKeys(self._checks.whose(caller, of), prefix, caller.key))

    async def keys(self, caller: Caller, *, of: str | None = None) -> tuple[Key, ...]:
        """An agent's keys, each by its beginning only."""
        return await self.store.agents.keys(await self._of(caller, of))
