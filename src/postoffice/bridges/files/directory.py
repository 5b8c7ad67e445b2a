"""Who is at home where. Keeps cards and signs of life the same on both sides."""

import asyncio
import logging
from datetime import UTC, datetime
from typing import Any

from postoffice.bridges.files.tree import Tree
from postoffice.core.agent import Agent, Caller, Presence
from postoffice.core.clock import micros
from postoffice.core.errors import MailError, Unavailable
from postoffice.core.names import OWNER, SYSTEM, folded
from postoffice.office import PostOffice
from postoffice_files.clock import instant

_log = logging.getLogger(__name__)
_HOME = "office"
_CARD = ("description", "capabilities", "allow_from", "max_concurrent_tasks")
_SHOWN_AGAIN_SECONDS = 20.0  # how often the heartbeat of present agents is written again
_CARDLESS_SECONDS = 30.0
"""How long an agent stays at home after its card went missing: seed 002's writers lose cards, and the next heartbeat enters them again."""


class Directory:
    """Keeps `_registry.json` and the office's directory the same. An agent that wrote its own card there is at home there."""

    def __init__(self, office: PostOffice, tree: Tree, allowed: frozenset[str] | None) -> None:
        self._office = office
        self._tree = tree
        self._allowed = None if allowed is None else frozenset(map(folded, allowed))
        self._cards: dict[str, dict[str, Any]] = {}
        self._there: dict[str, float] = {}  # when each card was last seen in the registry
        self._shown: dict[str, dict[str, Any]] = {}
        self._entered: frozenset[str] = frozenset()  # those of the shown agents that could be entered
        self._shown_at = 0.0
        self._refused: set[str] = set()
        self._names: set[str] = set()
        self._begun: float | None = None
        self.at_home: dict[str, Caller] = {}
        self.readable = True
        self.complete = False
        """Whether every missing card has had time to come back. An agent whose card is still missing has moved out."""

    def find(self, name: str) -> Caller | None:
        """The agent with this name, if it is at home in the files."""
        return self.at_home.get(folded(name))

    def knows(self, name: str) -> bool:
        """Whether any home has an agent with this name."""
        return folded(name) in self._names

    async def sync(self, *, everyone: bool) -> None:
        """Compare the agents in the files with those in the office, and carry over what differs."""
        cards = await self._tree.cards()
        self.readable = cards is not None
        if cards is None:
            return  # unreadable for the moment; that does not mean that anybody moved out
        agents = {folded(agent.name): agent for agent in await self._everyone()} if everyone else {}
        now = asyncio.get_running_loop().time()
        self._begun = now if self._begun is None else self._begun
        self.complete = now - self._begun >= _CARDLESS_SECONDS
        keyed = {key for key, agent in agents.items() if agent.has_key}
        residents = {key: caller for key, caller in self.at_home.items() if now - self._there[key] < _CARDLESS_SECONDS and key not in keyed}
        for card in cards:
            key = folded(card["agent_id"])
            if card.get("home"):
                continue
            residents.pop(key, None)
            if (caller := await self._admit(card["agent_id"], agents.get(key))) is not None:
                residents[key], self._there[key] = caller, now
                await self._carry(caller, card)
        self.at_home = residents
        listed = {folded(card["agent_id"]) for card in cards}
        self._names = listed | (agents.keys() if everyone else self._names)
        if everyone:
            await self._show([agent for key, agent in agents.items() if key not in residents], listed)

    async def _admit(self, name: str, agent: Agent | None) -> Caller | None:
        key = folded(name)
        if self._allowed is not None and key not in self._allowed:
            why = "it is not named in the setting file_agents"
        elif agent is not None and agent.has_key:
            why = "the name has a key, and can only be used with it"
        elif (caller := self.at_home.get(key)) is not None:
            return caller
        else:
            try:
                return await self._office.lending.guest(name)
            except Unavailable:
                raise
            except MailError as error:
                why = str(error)
        if key not in self._refused:
            _log.warning("the file agent %s has no mailbox in the office: %s", name, why)
            self._refused.add(key)
        return None

    async def _carry(self, caller: Caller, card: dict[str, Any]) -> None:
        """Carry a file agent's card and signs of life to the office if they are new."""
        key, before = folded(caller.name), self._cards.get(folded(caller.name), {})
        fields = {field: card[field] for field in _CARD if field in card}
        if fields != {field: before[field] for field in _CARD if field in before}:
            try:
                await self._office.update_card(caller, fields)
            except Unavailable:
                raise
            except MailError as error:
                _log.warning("the card of the file agent %s is not taken over: %s", caller.name, error)
        if card.get("status") == Presence.OFFLINE:
            if before.get("status") != Presence.OFFLINE:
                await self._office.leave(caller)
        elif card.get("last_heartbeat") != before.get("last_heartbeat"):
            self._office.heartbeat(caller)
        self._cards[key] = card

    async def _show(self, agents: list[Agent], listed: set[str]) -> None:
        """Enter everybody else in the registry, for the file agents to see."""
        cards = {agent.name: _card(agent) for agent in agents}
        now = asyncio.get_running_loop().time()
        stale = now - self._shown_at > _SHOWN_AGAIN_SECONDS and any(card["status"] != Presence.OFFLINE for card in cards.values())
        if cards == self._shown and self._entered <= listed and not stale:
            return
        entered = await self._tree.mirror([_card(agent) | {"last_heartbeat": _beat(agent)} for agent in agents])
        self._shown, self._shown_at, self._entered = cards, now, frozenset(map(folded, entered))

    async def _everyone(self) -> list[Agent]:
        agents: list[Agent] = []
        cursor: str | None = None
        while True:
            page = await self._office.agents(cursor, self._office.rules.limits.page_most)
            agents += [agent for agent in page.items if folded(agent.name) not in (OWNER, SYSTEM)]
            if (cursor := page.cursor) is None:
                return agents


def _card(agent: Agent) -> dict[str, Any]:
    return {
        "agent_id": agent.name,
        "description": agent.card.description,
        "capabilities": list(agent.card.capabilities),
        "allow_from": list(agent.card.allow_from),
        "max_concurrent_tasks": agent.card.max_concurrent_tasks,
        "status": agent.presence.value,
        "current_tasks": list(agent.current_tasks),
        "registered_at": instant(micros(agent.created_at)),
        "home": _HOME,
    }


def _beat(agent: Agent) -> str:
    """The heartbeat to show: now for present agents, else when the agent was last seen."""
    seen = datetime.now(UTC) if agent.presence is not Presence.OFFLINE else agent.last_seen or agent.created_at
    return instant(micros(seen))
