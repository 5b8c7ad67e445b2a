"""How a program makes and staffs roles."""

from collections.abc import Sequence
from typing import Any

from postoffice.client.path import part


class RoleCalls:
    """Mailboxes that several agents take from. Their mail comes by `receive`, after the agent's own."""

    async def call(self, method: str, path: str, body: object = None, **query: object) -> Any:
        """Any call of the REST door; the mailbox knows how."""
        raise NotImplementedError

    async def make_role(self, name: str, staff: Sequence[str] = (), **wanted: Any) -> dict[str, Any]:
        """Make a role; `description`, `capability`, `allow_from`, `max_in_hand` and `in_order` say more of it."""
        return await self._role("POST", "/roles", {"name": name, "staff": list(staff)} | wanted)

    async def change_role(self, name: str, **wanted: Any) -> dict[str, Any]:
        """Change what was said of it."""
        return await self._role("PATCH", f"/roles/{part(name)}", wanted)

    async def staff(self, name: str, agents: Sequence[str]) -> dict[str, Any]:
        """Put agents into a role."""
        return await self._role("POST", f"/roles/{part(name)}/staff", {"agents": list(agents)})

    async def unstaff(self, name: str, agents: Sequence[str]) -> dict[str, Any]:
        """Take agents out of a role. What they have in hand there waits again."""
        return await self._role("POST", f"/roles/{part(name)}/unstaff", {"agents": list(agents)})

    async def roles(self) -> list[dict[str, Any]]:
        """Every role, who is in it and what waits there."""
        found: list[dict[str, Any]] = (await self.call("GET", "/roles"))["roles"]
        return found

    async def role(self, name: str) -> dict[str, Any]:
        """One role, and who has what of it `in_hand`."""
        return await self._role("GET", f"/roles/{part(name)}")

    async def delete_role(self, name: str) -> dict[str, Any]:
        """Delete a role; how much that waited there is `dead`."""
        return await self._role("DELETE", f"/roles/{part(name)}")

    async def _role(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        answer: dict[str, Any] = await self.call(method, path, body)
        return answer
