"""Verbs about callers: who is calling, for whom, and from which window."""

import msgspec

from postoffice.acts.people.agents import Appear
from postoffice.core.agent import Caller
from postoffice.core.clock import is_id
from postoffice.core.errors import MachineOnly, NotYou, Unavailable
from postoffice.core.names import OWNER, check_free, folded
from postoffice.office.board import Board
from postoffice.office.health import soon
from postoffice.office.identity import Identities
from postoffice.office.presences import Presences
from postoffice.store.store import Store


class Callers:
    """Every door asks here before it calls another verb."""

    def __init__(self, store: Store, identities: Identities, presences: Presences, board: Board) -> None:
        self._store = store
        self._identities = identities
        self._presences = presences
        self._board = board

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

    def owner(self) -> Caller:
        """The owner, for a door that knows it has the owner before it."""
        return Caller(OWNER, verified=True, owner=True)

    async def watcher(self, *, key: str | None, name: str | None) -> Caller:
        """Who asks for numbers. While the store cannot say whose a key is, its last answer counts."""
        try:
            return await soon(self.identify(key=key, name=name))
        except Unavailable:
            if (caller := self._identities.last_known(key)) is None:
                raise
            return caller

    async def speak_as(self, caller: Caller, name: str | None) -> Caller:
        """The owner may lend its voice to people and agents that have no key of their own; others speak for themselves."""
        if name is None or folded(name) == folded(caller.name):
            return caller
        if not caller.owner:
            raise NotYou(claimed=name, name=caller.name)
        return Caller(await self._store.do(Appear(check_free(name))), verified=True, owner=True)

    async def at_window(self, caller: Caller, said: str | None) -> Caller:
        """The caller with the window it calls from: the one it says, or else the only one that its agent has open."""
        if said is None:
            await self._board.look()
            theirs = self._board.of(caller.name)
            said = theirs[0].id if len(theirs) == 1 else None
        return msgspec.structs.replace(caller, window=said) if said is not None and is_id(said) else caller
