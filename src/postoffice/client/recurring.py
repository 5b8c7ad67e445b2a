"""How a program sends recurring letters."""

from collections.abc import Sequence
from typing import Any

from postoffice.client.path import part


class RecurringCalls:
    """Letters that the office sends by the calendar."""

    async def call(self, method: str, path: str, body: object = None, **query: object) -> Any:
        """Make a REST call; the mailbox does it."""
        raise NotImplementedError

    async def recur(
        self, every: str, to: str | Sequence[str], content: str | None = None, *, zone: str = "UTC", missed: str = "once", **fields: Any
    ) -> dict[str, Any]:
        """Send a letter at every such time (`"0 9 * * 1-5"`) in that zone, until it is stopped."""
        body = {"every": every, "zone": zone, "missed": missed, "to": to if isinstance(to, str) else list(to), "content": content, **fields}
        begun: dict[str, Any] = await self.call("POST", "/recurring", {name: value for name, value in body.items() if value is not None})
        return begun

    async def recurring(self) -> list[dict[str, Any]]:
        """The recurring letters of this agent, the next one first."""
        letters: list[dict[str, Any]] = (await self.call("GET", "/recurring"))["recurring"]
        return letters

    async def stop_recurring(self, id: str) -> dict[str, Any]:
        """Stop a recurring letter."""
        stopped: dict[str, Any] = await self.call("DELETE", f"/recurring/{part(id)}")
        return stopped
