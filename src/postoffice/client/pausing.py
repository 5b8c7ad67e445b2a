"""How a program pauses its mail."""

from datetime import datetime
from typing import Any

from postoffice.client.path import part


class PausingCalls:
    """Pausing and resuming, by the agent itself or the owner."""

    async def call(self, method: str, path: str, body: object = None, **query: object) -> Any:
        """Make a REST call; the mailbox does it."""
        raise NotImplementedError

    async def pause(
        self, seconds: float | None = None, *, until: datetime | None = None, reason: str | None = None, of: str = "me"
    ) -> dict[str, Any]:
        """Pause the mail for a duration, until a time, or until it is resumed. Mail in hand goes on; senders are told until when."""
        given = {"seconds": seconds, "until": None if until is None else until.isoformat(), "reason": reason}
        body = {name: value for name, value in given.items() if value is not None}
        paused: dict[str, Any] = await self.call("POST", f"/agents/{part(of)}/pause", body)
        return paused

    async def resume(self, *, of: str = "me") -> dict[str, Any]:
        """Resume at once."""
        agent: dict[str, Any] = await self.call("POST", f"/agents/{part(of)}/resume")
        return agent
