"""What people do with their mail, in a program that speaks for one."""

from datetime import datetime
from typing import Any

from postoffice.client.path import part


class PeopleCalls:
    """The calls of a person: the owner, or an agent whom the owner has marked as one."""

    async def call(self, method: str, path: str, body: object = None, **query: object) -> Any:
        """Any call of the REST door; the mailbox knows how."""
        raise NotImplementedError

    async def seen(self, message_id: str) -> dict[str, Any]:
        """Open a letter: it is no longer unread, and its sender hears that it was seen."""
        return await self._finish(message_id, "seen")

    async def keep_unread(self, message_id: str) -> dict[str, Any]:
        """Have it as if it had not been opened."""
        return await self._finish(message_id, "unseen")

    async def done(self, message_id: str) -> dict[str, Any]:
        """Be done with it, answered or not."""
        return await self._finish(message_id, "done")

    async def snooze(self, message_id: str, seconds: float | None = None, *, until: datetime | None = None) -> dict[str, Any]:
        """Put it off, an hour unless told otherwise; it comes back by itself."""
        given = {"seconds": seconds, "until": None if until is None else until.isoformat()}
        return await self._finish(message_id, "snooze", {name: value for name, value in given.items() if value is not None})

    async def _finish(self, message_id: str, verb: str, body: object = None) -> dict[str, Any]:
        standing: dict[str, Any] = await self.call("POST", f"/messages/{part(message_id)}/{verb}", body)
        return standing
