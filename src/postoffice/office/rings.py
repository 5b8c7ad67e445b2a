"""Verbs of whoever wants an agent's open window rung now."""

import asyncio
from datetime import timedelta
from typing import Final

from postoffice.acts.people.ringing import AskRing
from postoffice.core.agent import Agent, Caller
from postoffice.core.errors import Forbidden
from postoffice.core.ringing import ByHand
from postoffice.core.window import Ring, WindowState
from postoffice.office.agents import Agents
from postoffice.office.board import Board
from postoffice.store.store import Store

_UNDER_WAY: Final = timedelta(seconds=20)
"""A ring that no turn has followed may still be on its way for so long."""
_HEARD_SECONDS: Final = 5.0
_LOOK_SECONDS: Final = 0.1
_DEAF: Final = (Ring.NONE, Ring.TURN_END)


class Rings:
    """The owner rings anybody, and a sender those with whom its mail waits. How it is done is the bell's business."""

    def __init__(self, store: Store, agents: Agents, board: Board) -> None:
        self._store = store
        self._agents = agents
        self._board = board

    async def ring(self, caller: Caller, name: str) -> ByHand:
        """Have an agent's window rung now for what waits, or say why nothing can wake it."""
        agent = await self._agents.agent(name, caller)
        mine = await self._store.windows.rings_of(agent.name, None if caller.owner else caller.name)
        if not caller.owner and not mine.waiting:
            raise Forbidden(name=caller.name, why=f"no mail of its own waits for {agent.name}: only its sender and the owner ring")
        rings = await self._store.windows.rings_of(agent.name)
        if (why := self._why_not(agent, rings.waiting, rings.unheard_for)) is not None:
            return ByHand(agent=agent.name, rung=False, text=why)
        await self._store.do(AskRing(agent.name, caller.name))
        return await self._heard(agent.name, rings.waiting, rings.last_at)

    def _why_not(self, agent: Agent, waiting: int, unheard_for: timedelta | None) -> str | None:
        windows = [one for one in self._board.of(agent.name) if one.ring not in _DEAF]
        assert agent.reach is not None
        if agent.paused is not None:
            return agent.reach.text
        if not waiting:
            return "nothing waits for it"
        if not windows:
            return f"it has no window that can be rung; {agent.reach.text}"
        if all(one.state is WindowState.BUSY for one in windows):
            return "it is at work, and is told at the end of its turn"
        if unheard_for is not None and unheard_for < _UNDER_WAY:
            return "a ring is under way: there is one at a time"
        return None

    async def _heard(self, name: str, waiting: int, last_at: int | None) -> ByHand:
        """Whether its bell rings, soon."""
        try:
            async with asyncio.timeout(_HEARD_SECONDS):
                while True:
                    await asyncio.sleep(_LOOK_SECONDS)
                    rings = await self._store.windows.rings_of(name)
                    if rings.last_at not in (None, last_at) or rings.waiting < waiting:
                        return ByHand(agent=name, rung=True, text="rung")
        except TimeoutError:
            why = f"its bell was asked, and has not rung it within {_HEARD_SECONDS:.0f} seconds: it may be its quiet hour"
            return ByHand(agent=name, rung=False, text=why)
