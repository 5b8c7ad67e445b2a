"""The file mailbox of this agent, for use from asyncio: every call leaves the event loop, and only one is under way at a time."""

import asyncio
import threading
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from postoffice_files import ClaimLost, Clock, MailboxManager, NoSuchMessage, Settings
from postoffice_files.clock import instant
from postoffice_nanobot.config import MailboxConfig
from postoffice_nanobot.delegation import Delegation, Delegations

_T = TypeVar("_T")
_SHORTEST_CLAIM_SECONDS = 10.0
_POLLS_PER_CLAIM = 4
"""How often a claim is extended before it could run out, so that one slow poll loses nothing."""


class Box:
    """The mailbox, behind a lock: the manager keeps its claims in memory and is not made for several threads at once."""

    def __init__(self, config: MailboxConfig, clock: Clock | None = None) -> None:
        self.agent = config.agent_id
        self._card = config.card()
        self._clock = clock or Clock()
        self._claim_for = max(_SHORTEST_CLAIM_SECONDS, _POLLS_PER_CLAIM * config.poll_interval)
        self._manager = MailboxManager(config.mailboxes_root, Settings(claim_for=self._claim_for), self._clock)
        self._delegations = Delegations(self._manager.root / self.agent / "delegated", self._clock)
        self._lock = threading.Lock()

    def now(self) -> int:
        """Microseconds since the epoch."""
        return self._clock.now()

    def token(self) -> str:
        """A random word."""
        return self._clock.token()

    async def register(self) -> None:
        """Register this agent. The card of an earlier start is replaced; its mail is kept."""

        def act() -> None:
            self._manager.register(self.agent, self._card)
            self._delegations.sweep()

        await self._call(act)

    async def poll(self, limit: int, keep: Iterable[str]) -> tuple[list[dict[str, Any]], list[str]]:
        """New mail, and which mails in hand this agent has lost."""

        def act() -> tuple[list[dict[str, Any]], list[str]]:
            lost = [name for name in names if not self._extended(name)]
            self._manager.heartbeat(self.agent)
            return self._manager.poll(self.agent, limit=limit) if limit > 0 else [], lost

        names = tuple(keep)
        return await self._call(act)

    async def processed(self, filename: str) -> None:
        """Mark a mail as processed."""
        await self._call(self._manager.mark_processed, self.agent, filename)

    async def fail(self, filename: str, reason: str, retry_in: float) -> None:
        """Record a failure: the mail comes again, or is set aside."""
        await self._call(self._manager.fail, self.agent, filename, reason, retry_in=retry_in)

    async def release(self, filename: str) -> None:
        """Give it back untried."""
        await self._call(self._manager.release, self.agent, filename)

    async def waits(self, filename: str) -> bool:
        """Whether this mail is still unsettled."""
        return await self._call((self._manager.root / self.agent / "inbox" / filename).exists)

    async def status(self, status: str, tasks: list[str]) -> None:
        """Record this agent's status."""
        await self._call(self._manager.update_status, self.agent, status, tasks)

    def card(self, tasks: list[str]) -> dict[str, Any]:
        """The agent's card, with its present tasks."""
        return {**self._card, "current_tasks": tasks}

    async def agents(self) -> list[dict[str, Any]]:
        """The other agents that are online."""
        return [card for card in await self._call(self._manager.list_online_agents) if card.get("agent_id") != self.agent]

    async def knows(self, name: str) -> bool:
        """Whether the registry has an agent of that name."""
        return await self._call(self._manager.get_agent, name) is not None

    async def post(self, to: str, message: dict[str, Any], *, at: int, key: str, order: int = 0, forward_of: str | None = None) -> None:
        """Put a message into another agent's inbox, once for each time, key and order, however often this agent is killed."""
        stamped = {**message, "timestamp": instant(self.now())}
        await self._call(self._manager.deliver, self.agent, to, stamped, at=at, key=key, order=order, forward_of=forward_of)

    async def keep(self, delegation: Delegation) -> None:
        """Write a delegation down before it is sent."""
        await self._call(self._delegations.keep, delegation)

    async def delegation(self, *ids: object) -> Delegation | None:
        """The delegation with one of these ids."""
        return await self._call(self._delegations.find, *ids)

    async def delegations(self) -> list[Delegation]:
        """All delegations that are not answered yet."""
        return await self._call(lambda: list(self._delegations.all()))

    async def close(self, delegation: Delegation) -> None:
        """Delete a delegation that is answered."""
        await self._call(self._delegations.close, delegation.id)

    def _extended(self, filename: str) -> bool:
        try:
            self._manager.extend(self.agent, filename, self._claim_for)
        except (ClaimLost, NoSuchMessage):
            return False
        return True

    async def _call(self, act: Callable[..., _T], *arguments: Any, **named: Any) -> _T:
        def alone() -> _T:
            with self._lock:
                return act(*arguments, **named)

        return await asyncio.to_thread(alone)
