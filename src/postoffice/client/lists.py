"""How a program keeps lists, joins them and reads them. Letters to one are sent as any other: `send("#backend", …)`."""

from collections.abc import Sequence
from typing import Any

from postoffice.client.path import part


class ListCalls:
    """Names whose mail goes to their members."""

    async def call(self, method: str, path: str, body: object = None, **query: object) -> Any:
        """Any call of the REST door; the mailbox knows how."""
        raise NotImplementedError

    async def lists(self, *, mine: bool = False) -> list[dict[str, Any]]:
        """The lists there are, or those this agent is on or is invited to."""
        found: list[dict[str, Any]] = []
        cursor = None
        while True:
            page = await self.call("GET", "/lists", None, mine=mine or None, cursor=cursor)
            found += page["lists"]
            cursor = page["cursor"]
            if cursor is None:
                return found

    async def make_list(self, name: str, members: Sequence[str] = (), **rules: Any) -> dict[str, Any]:
        """Make a list: `description`, `who_may_post`, `who_may_join`, `history`, `posters` are its rules. Also what became of its members."""
        made: dict[str, Any] = await self.call("POST", "/lists", {"name": name, "members": list(members)} | rules)
        return made

    async def change_list(self, name: str, **rules: Any) -> dict[str, Any]:
        """Change its rules, as whoever keeps it."""
        return await self._one("PATCH", name, body=rules)

    async def delete_list(self, name: str) -> dict[str, Any]:
        """End it, as whoever keeps it."""
        return await self._one("DELETE", name)

    async def show_list(self, name: str) -> dict[str, Any]:
        """One list, and where this agent stands with it."""
        return await self._one("GET", name)

    async def list_members(self, name: str, cursor: str | None = None) -> dict[str, Any]:
        """Who is on it, page by page."""
        return await self._one("GET", name, "/members", cursor=cursor)

    async def add_to_list(self, name: str, *agents: str) -> list[dict[str, Any]]:
        """Put agents on it, or invite them where they take no mail from this one."""
        changed: list[dict[str, Any]] = (await self._one("POST", name, "/members", {"agents": list(agents)}))["members"]
        return changed

    async def take_off_list(self, name: str, agent: str) -> None:
        """Take an agent off it, or an invitation back."""
        await self._one("DELETE", name, f"/members/{part(agent)}")

    async def join_list(self, name: str) -> dict[str, Any]:
        """Be on it from now on."""
        return await self._one("POST", name, "/join")

    async def leave_list(self, name: str) -> dict[str, Any]:
        """Be on it no more."""
        return await self._one("POST", name, "/leave")

    async def list_history(self, name: str, limit: int = 10, before: str | None = None, *, peek: bool = False) -> list[dict[str, Any]]:
        """What was written to it, the newest first. Reading it settles this agent's own mail in it, unless it only peeks."""
        answer = await self._one("GET", name, "/history", limit=limit, before=before, peek=peek or None)
        lines: list[dict[str, Any]] = answer["messages"]
        return lines

    async def _one(self, method: str, name: str, rest: str = "", body: object = None, **query: object) -> dict[str, Any]:
        answer: dict[str, Any] = await self.call(method, f"/lists/{part(name)}{rest}", body, **query)
        return answer
