"""Windows for programs: report which clients are open on this machine, and what became of rings."""

from collections.abc import Sequence
from typing import Any, Self

from postoffice.client.path import part
from postoffice.client.wire import Wire


class Windows:
    """Calls about windows. They need a machine's key, the agent's or the owner's; an open office needs none."""

    def __init__(self, server: str, *, key: str | None = None, agent: str | None = None) -> None:
        self._wire = Wire(server, key=key, agent=agent)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._wire.__aexit__()

    async def open(self, *, client: str, process: int, started: str, folder: str, machine: str, **more: Any) -> dict[str, Any]:
        """Open a window, or change its `session`, `agent`, `shared` or `ring`. Returns its `id` and its `agent`."""
        place = {"process": process, "started": started, "folder": folder, "machine": machine}
        opened: dict[str, Any] = await self._wire.post("/windows", {"client": client, **place, **more})
        return opened

    async def renew(self, *windows: dict[str, Any]) -> dict[str, Any]:
        """Renew windows, each by its `id` and perhaps with a new `state` or `ring`. Returns `windows`, and the ids that are `gone`."""
        renewed: dict[str, Any] = await self._wire.put("/windows", {"windows": windows})
        return renewed

    async def rung(self, id: str, messages: Sequence[str]) -> int:
        """Report a ring for these letters. Returns how many of them still wait."""
        return int((await self._wire.post(f"/windows/{part(id)}/rung", {"messages": messages}))["rung"])

    async def turn(self, id: str) -> dict[str, Any]:
        """Report that a turn has begun in a window."""
        renewed: dict[str, Any] = await self._wire.post(f"/windows/{part(id)}/turn")
        return renewed

    async def untaken(self, id: str, messages: Sequence[str]) -> int:
        """Report that rings for these letters were in vain. Returns for how many the senders are told."""
        return int((await self._wire.post(f"/windows/{part(id)}/untaken", {"messages": messages}))["told"])

    async def close(self, id: str) -> dict[str, Any]:
        """Close a window. Returns how many letters it had in hand, which are `returned`."""
        ended: dict[str, Any] = await self._wire.call("DELETE", f"/windows/{part(id)}")
        return ended

    async def open_now(self, agent: str | None = None) -> list[dict[str, Any]]:
        """The open windows, as far as the caller may see them."""
        windows: list[dict[str, Any]] = (await self._wire.get("/windows", agent=agent))["windows"]
        return windows
