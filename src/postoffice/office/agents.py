"""Verbs about agents: who there is, and what each says of itself."""

from datetime import timedelta
from typing import Any

import msgspec

from postoffice.acts.people.agents import Register, UpdateCard
from postoffice.acts.people.forget import Forget
from postoffice.core.agent import Agent, Caller, Card, Forgotten, check_card, key_from, key_hash, key_prefix, new_key
from postoffice.core.errors import Invalid, NameTaken, OwnerOnly
from postoffice.core.names import check_free, check_name
from postoffice.core.views import Page
from postoffice.office.checks import Checks
from postoffice.office.directory import Directory
from postoffice.office.presences import Presences
from postoffice.office.reachability import Reachability
from postoffice.store.store import Store

_NOW = timedelta(0)
_FORGOTTEN_AT_ONCE = 200
_YEAR = timedelta(days=365)


class Agents:
    """Names and cards. Every call is a sign of its agent's life; `heartbeat` is nothing else, and `leave` says that no more will come."""

    def __init__(self, store: Store, checks: Checks, directory: Directory, presences: Presences, reachability: Reachability) -> None:
        self._store = store
        self._checks = checks
        self._directory = directory
        self._presences = presences
        self._reachability = reachability

    async def register(
        self, name: str, card: Card | None = None, *, by: Caller | None = None, address: str | None = None, seed: str | None = None
    ) -> tuple[str, str, str]:
        """Take a name. Gives the agent's id, its name, and its key, which is never shown again. Asked twice with the same seed, it answers the same."""
        key = key_from(seed, name) if seed else new_key()
        hash = key_hash(key)
        assert hash is not None
        checked = check_card(card or Card())
        owner = by is not None and by.owner
        if checked.person and not owner:
            raise OwnerOnly(what="mark a person")
        rated_address = None if owner else address  # the rate is meant for strangers: an owner sets up a whole team from one machine
        try:
            id, kept_name = await self._store.do(
                Register(check_free(name), checked, hash, key_prefix(key), owner=owner, address=rated_address)
            )
        except NameTaken:
            if seed is None or await self._store.agents.by_key(hash) is None:
                raise
            agent = await self.agent(name)
            id, kept_name = agent.id, agent.name
        return id, kept_name, key

    async def agent(self, name: str, caller: Caller | None = None) -> Agent:
        """One agent as the directory shows it."""
        agent = await self._store.agents.named(check_name(name))
        if agent is None:
            raise await self._directory.unknown(name)
        await self._reachability.look()
        return self._reachability.shown(agent, len(agent.current_tasks), caller)

    async def agents(self, cursor: str | None = None, limit: int | None = None, *, caller: Caller | None = None) -> Page[Agent]:
        """The directory."""
        page = await self._store.agents.page(self._checks.cursor(cursor), self._checks.page(limit))
        await self._reachability.look()
        return Page(tuple(self._reachability.shown(agent, len(agent.current_tasks), caller) for agent in page.items), page.cursor)

    async def forget(self, caller: Caller, name: str) -> Forgotten:
        """Forget a name that nobody ever used. What waits there is dead, and its senders are told. The owner's to do."""
        self._checks.owner_only(caller, "forget an agent")
        checked, dead = check_name(name), 0
        while True:
            waiting = await self._store.mail.not_taken(checked, _FORGOTTEN_AT_ONCE)
            done = await self._store.do(Forget(checked, waiting))
            if done is not None:
                return msgspec.structs.replace(done, dead=dead + done.dead)
            dead += len(waiting)

    async def names(self, part: str = "", limit: int | None = None) -> list[str]:
        """Names in which this part stands, first those that begin with it."""
        return await self._store.agents.names_with(self._checks.ref(part, "name") if part else "", self._checks.page(limit))

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
        return await self._store.do(UpdateCard(self._checks.whose(caller, of), {field: getattr(checked, field) for field in changes}))

    def heartbeat(self, caller: Caller) -> None:
        """Show that the agent is there."""
        self._presences.touch(caller.name)

    async def leave(self, caller: Caller) -> None:
        """Say that the agent is going: it is offline until its next call."""
        self._presences.leave(caller.name)
        await self._presences.flush(self._store)
