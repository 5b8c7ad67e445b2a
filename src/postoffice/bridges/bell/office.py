"""One office, as the bell calls it for all windows that share a key."""

import asyncio
from collections.abc import Iterable
from typing import Any

from postoffice.bridges.bell.window import Window, letters_of
from postoffice.client import credentials, starter
from postoffice.client.path import part
from postoffice.client.process import machine
from postoffice.client.wire import Wire

_LETTERS_READ = 100


class Office:
    """Opens, renews and closes windows, and looks at their mail. The bell never takes mail."""

    def __init__(self, server: str, key: str | None) -> None:
        self.server = server
        self.key = key
        self._plain = Wire(server, key=key)
        self._wires: dict[str, Wire] = {}

    async def open(self, window: Window) -> dict[str, Any]:
        """Open a window at the office, which gives it its name."""
        card = window.card
        await starter.ensure_open(self.server)
        opened: dict[str, Any] = await self._plain.post(
            "/windows",
            {
                "client": card.client,
                "session": card.session,
                "process": card.process.pid,
                "started": card.process.started,
                "folder": card.folder,
                "machine": machine(),
                "agent": card.wished,
                "shared": card.shared,
                "ring": await window.look(),
            },
        )
        return opened

    async def renew(self, windows: Iterable[Window]) -> dict[str, Any]:
        """Renew the windows. Returns what the office knows of them, and which it has no longer."""
        items = [{"id": one.id, "state": "busy" if one.at_work() else "idle", "ring": await one.look()} for one in windows]
        answer: dict[str, Any] = await self._plain.put("/windows", {"windows": items})
        return answer

    async def close(self, window: Window) -> None:
        """Close a window that has ended."""
        await self._plain.call("DELETE", f"/windows/{part(str(window.id))}")

    async def rung(self, window: Window, ids: Iterable[str]) -> None:
        """Report that the window was rung for these."""
        await self._plain.post(f"/windows/{part(str(window.id))}/rung", {"messages": list(ids)})

    async def turn(self, window: Window) -> None:
        """Report that a turn has begun in the window, and for which letters of roles it was rung."""
        ids, window.rung_for = window.rung_for, set()
        await self._plain.post(f"/windows/{part(str(window.id))}/turn", {"messages": list(ids)} if ids else {})

    async def untaken(self, window: Window, ids: Iterable[str]) -> None:
        """Report that the window was rung for these in vain."""
        await self._plain.post(f"/windows/{part(str(window.id))}/untaken", {"messages": list(ids)})

    async def look(self, window: Window) -> None:
        """Have the window know what its agent could take now, also of its roles' mail. Nobody is rung for paused mail, so that is not in it."""
        wire, known = self.wire(str(window.agent)), window.card.ringing.rung.keys()
        page, box = await asyncio.gather(wire.get("/messages/waiting", limit=_LETTERS_READ, roles=True), wire.get("/mailbox"))
        letters = {letter.id: letter for letter in letters_of(page["messages"])}
        for role in page.get("roles", ()):
            letters = {letter.id: letter for letter in letters_of(role["messages"], role["role"])} | letters
        window.roles = frozenset(role["role"] for role in page.get("roles", ()))
        window.letters = [] if box.get("paused") else list(letters.values())
        window.card.ringing = window.card.ringing.heed(window.letters, known)

    async def reserved_until(self, window: Window, files: Iterable[tuple[str, str]]) -> str | None:
        """How long others have reserved any of these files; None if nobody has."""
        body = {"files": [{"project": project, "path": path} for project, path in files], "window": window.id}
        clashes = (await self.wire(str(window.agent)).post("/reservations/check", body))["reservations"]
        return max((str(one["until"]) for one in clashes), default=None)

    def wire(self, agent: str) -> Wire:
        """A wire that calls as this agent."""
        if agent not in self._wires:
            self._wires[agent] = Wire(self.server, key=self.key, agent=agent)
        return self._wires[agent]


class Offices:
    """The offices of all windows, one for each key."""

    def __init__(self) -> None:
        self._by_key: dict[tuple[str, str | None], Office] = {}
        self._by_name: dict[tuple[str, str | None], Office] = {}

    def of(self, window: Window) -> Office:
        """A window's own. Its key is looked for once, and again after a refusal."""
        server, name = window.card.server, window.card.wished or window.card.agent
        if (server, name) not in self._by_name:
            key = credentials.for_window(server, name)
            self._by_name[server, name] = self._by_key.setdefault((server, key), Office(server, key))
        return self._by_name[server, name]

    def look_again(self) -> None:
        """Some office refused, or did not answer: there may be other keys by now."""
        self._by_name.clear()
