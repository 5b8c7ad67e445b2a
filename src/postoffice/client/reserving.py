"""How a program reserves files and releases them."""

from collections.abc import Sequence
from typing import Any

from postoffice.client.path import part


class ReservingCalls:
    """Reserving files for a while, alone or shared."""

    async def call(self, method: str, path: str, body: object = None, **query: object) -> Any:
        """Make a REST call; the mailbox does it."""
        raise NotImplementedError

    async def reserve(
        self, project: str, paths: Sequence[str], seconds: float | None = None, why: str = "", *, exclusive: bool = True, tell: bool = False
    ) -> dict[str, Any]:
        """Reserve files, for an hour by default. A clash raises `AlreadyReserved`; with `tell` a letter comes once the files are free."""
        body = {"project": project, "paths": list(paths), "why": why, "exclusive": exclusive, "tell": tell}
        held: dict[str, Any] = await self.call("POST", "/reservations", body | ({} if seconds is None else {"seconds": seconds}))
        return held

    async def release(self, project: str | None = None, paths: Sequence[str] = ()) -> list[dict[str, Any]]:
        """Release some paths of a project, all of a project, or everything."""
        body: dict[str, Any] = {"project": project, "paths": list(paths)}
        return self._listed(await self.call("POST", "/reservations/release", body))

    async def end_reservation(self, id: str) -> dict[str, Any]:
        """End a reservation: this agent's own, or as the owner anybody's."""
        ended: dict[str, Any] = await self.call("DELETE", f"/reservations/{part(id)}")
        return ended

    async def reservations(self, project: str | None = None) -> list[dict[str, Any]]:
        """All present reservations, or those of one project."""
        return self._listed(await self.call("GET", "/reservations", None, project=project))

    async def in_the_way(self, project: str, paths: Sequence[str]) -> list[dict[str, Any]]:
        """Other agents' reservations that forbid an edit of these files."""
        files = [{"project": project, "path": path} for path in paths]
        return self._listed(await self.call("POST", "/reservations/check", {"files": files}))

    @staticmethod
    def _listed(answer: Any) -> list[dict[str, Any]]:
        clashes: list[dict[str, Any]] = answer["reservations"]
        return clashes
