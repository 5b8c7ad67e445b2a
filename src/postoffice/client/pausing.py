"""How a program holds its mail for a while."""

from datetime import datetime
from typing import Any

from postoffice.client.path import part


class PausingCalls:
    """Pausing and resuming, by the agent itself or the owner."""

    async def call(self, method: str, path: str, body: object = None, **query: object) -> Any:
        """Any call of the REST door; the mailbox knows how."""
        raise NotImplementedError

    async def pause(
        self, seconds: float | None = None, *, until: datetime | None = None, reason: str | None = None, of: str = "me"
    ) -> dict[str, Any]:
        """Hold the mail for so long, until then, or until it is resumed. What is in hand goes on; senders are told until when."""
        given = {"seconds": seconds, "until": None if until is None else until.isoformat(), "reason": reason}
        body = {name: value for name, value in given.items() if value is not None}
        paused: dict[str, Any] = await self.call("POST", f"/agents/{part(of)}/pause", body)
        return paused

    async def resume(self, *, of: str = "me") -> dict[str, Any]:
        """Go on at once."""
        agent: dict[str, Any] = await self.call("POST", f"/agents/{part(of)}/resume")
        return agent
