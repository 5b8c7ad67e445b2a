"""Windows in a program: tell an office where clients are open on this machine, and what came of ringing them."""

from collections.abc import Sequence
from typing import Any, Self

from postoffice.client.path import part
from postoffice.client.wire import Wire


class Windows:
    """Calls about windows. A machine's key, an agent's own or the owner's proves whose they may be; an open office asks for none."""

    def __init__(self, server: str, *, key: str | None = None, agent: str | None = None) -> None:
        self._wire = Wire(server, key=key, agent=agent)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._wire.__aexit__()

    async def open(self, *, client: str, process: int, started: str, folder: str, machine: str, **more: Any) -> dict[str, Any]:
        """Open a window, or say anew what it is: `session`, `agent`, `shared`, `ring`. Gives its `id` and the `agent` that it is."""
        place = {"process": process, "started": started, "folder": folder, "machine": machine}
        opened: dict[str, Any] = await self._wire.post("/windows", {"client": client, **place, **more})
        return opened

    async def renew(self, *windows: dict[str, Any]) -> dict[str, Any]:
        """Show that windows are still open, each by its `id` and perhaps a new `state` or `ring`. Gives `windows`, and the ids that are `gone`."""
        renewed: dict[str, Any] = await self._wire.put("/windows", {"windows": windows})
        return renewed

    async def rung(self, id: str, messages: Sequence[str]) -> int:
        """A window was rung for these letters. Gives for how many that still wait."""
        return int((await self._wire.post(f"/windows/{part(id)}/rung", {"messages": messages}))["rung"])

    async def turn(self, id: str) -> dict[str, Any]:
        """A turn has begun in a window."""
        renewed: dict[str, Any] = await self._wire.post(f"/windows/{part(id)}/turn")
        return renewed

    async def untaken(self, id: str, messages: Sequence[str]) -> int:
        """A window was rung often enough and has not taken these. Gives of how many the senders are told."""
        return int((await self._wire.post(f"/windows/{part(id)}/untaken", {"messages": messages}))["told"])

    async def close(self, id: str) -> dict[str, Any]:
        """A window is closed. Gives how much it had in hand that is `returned`."""
        ended: dict[str, Any] = await self._wire.call("DELETE", f"/windows/{part(id)}")
        return ended

    async def open_now(self, agent: str | None = None) -> list[dict[str, Any]]:
        """Windows that are open, as the caller may see them."""
        windows: list[dict[str, Any]] = (await self._wire.get("/windows", agent=agent))["windows"]
        return windows
