"""The bridge: every agent at home in the files is an agent of the office, and the other way round."""

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Self

from postoffice.bridges.files.collector import Collector
from postoffice.bridges.files.directory import Directory
from postoffice.bridges.files.resident import Resident
from postoffice.bridges.files.tree import Tree, written_at
from postoffice.core.errors import MailError
from postoffice.core.names import folded
from postoffice.office import PostOffice

_log = logging.getLogger(__name__)
_SLOW_POLL = 5.0
"""How often everything is looked at that no news from the system told of."""
_PAUSE = 1.0
_WEEK = 7 * 24 * 3600.0
_MOST_COPIED = 100_000


class FileBridge:
    """`async with` opens it; its tasks go on by themselves and outlive whatever goes wrong for a while."""

    def __init__(self, office: PostOffice, root: Path, allowed: frozenset[str] | None) -> None:
        self._tree = Tree(root)
        self._directory = Directory(office, self._tree, allowed)
        self._collector = Collector(office, self._tree, lambda name: self._directory.at_home.get(folded(name)))
        self._office = office
        self._residents: dict[str, Resident] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._seen: set[tuple[str, str]] = set()  # files between file agents that have been copied
        self._turn = asyncio.Lock()

    async def __aenter__(self) -> Self:
        await self._tree.open()
        self._tasks["watch"] = asyncio.create_task(self._forever("watching the files", self._watch))
        self._tasks["poll"] = asyncio.create_task(self._forever("looking through the files", self._poll))
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        await self._tree.close()

    @property
    def facts(self) -> dict[str, object]:
        """What an operator wants to know of it."""
        return {
            "root": str(self._tree.root),
            "agents": sorted(resident.caller.name for resident in self._residents.values()),
            "waiting": sum(resident.waiting for resident in self._residents.values()),
            "refused": self._collector.refused,
        }

    async def _forever(self, what: str, act: Callable[[], Awaitable[None]]) -> None:
        while True:
            try:
                return await act()
            except (MailError, OSError) as error:
                _log.warning("%s: %s; it goes on in a moment", what, error)
            except Exception:  # noqa: BLE001 - one bug must not end the mail of everybody
                _log.exception("%s failed; it goes on in a moment", what)
            await asyncio.sleep(_PAUSE)

    async def _watch(self) -> None:
        async for changes in self._tree.changes():
            agents: defaultdict[str, set[str]] = defaultdict(set)
            for agent, folder, name in changes:
                if folder:
                    agents[agent].update({name} if name and folder != "bad" else ())
            async with self._turn:
                if len(agents) < len(changes) and any(not agent for agent, _, _ in changes):
                    await self._sync()
                for agent, names in agents.items():
                    await self._look(agent, names)

    async def _poll(self) -> None:
        first = True
        while True:
            async with self._turn:
                await self._sync()
                for agent in await self._tree.folders():
                    names = await self._tree.waiting(agent)
                    if first:
                        names |= await self._tree.archived(agent)
                    await self._look(agent, names)
            first = False
            await asyncio.sleep(_SLOW_POLL)

    async def _sync(self) -> None:
        await self._directory.sync()
        at_home = self._directory.at_home
        for key in [key for key in self._residents if key not in at_home]:
            resident = self._residents.pop(key)
            task = self._tasks.pop(key)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await resident.leave()
        for key, caller in at_home.items():
            if key not in self._residents:
                self._residents[key] = resident = Resident(self._office, self._tree, caller)
                self._tasks[key] = asyncio.create_task(self._forever(f"handing over {caller.name}'s mail", resident.run))

    async def _look(self, agent: str, names: set[str]) -> None:
        resident = self._residents.get(folded(agent))
        if resident is None:
            await self._collector.collect(agent)
            return
        await resident.look()
        week_ago = time.time() - _WEEK  # what is older was copied long ago; the office may have forgotten its id since
        new = [
            name
            for name in sorted(names)
            if not resident.has_handed(name) and (agent, name) not in self._seen and written_at(name) > week_ago
        ]
        if new:
            await self._collector.copy(agent, new)
            if len(self._seen) > _MOST_COPIED:
                self._seen.clear()
            self._seen.update((agent, name) for name in new)
