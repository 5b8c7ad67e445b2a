"""The files bridge: it makes every agent at home in the files an agent of the office, and the other way round."""

import asyncio
import logging
import math
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from postoffice.bridges.files.collector import Collector
from postoffice.bridges.files.directory import Directory
from postoffice.bridges.files.lying import File
from postoffice.bridges.files.resident import Resident
from postoffice.bridges.files.tree import Tree
from postoffice.core.agent import Caller
from postoffice.core.errors import MailError
from postoffice.core.names import folded
from postoffice.office import PostOffice
from postoffice_files import FileMailError

_log = logging.getLogger(__name__)
_FULL_LOOK_SECONDS = 5.0
"""How often to look at everything, in case the system's news missed something."""
_UNSEEN_SECONDS = 60.0
"""Mail handled up to this long before the last look may have been missed: a new folder has no news until it is watched."""
_REST_FACTOR = 10
"""After a look through the handled mail, wait this many times as long as it took: there may be much of it, and little is new."""
_RETRY_SECONDS = 1.0
_PARTING_SECONDS = 3.0  # how long closing waits for the office to record the last handovers
_COPIES_AT_ONCE = 100
_COPIES_REMEMBERED = 100_000
_WATCHING = "watching the files"


class FileBridge:
    """`async with` opens it. Its tasks run by themselves and go on after any trouble that passes."""

    name = "files"

    def __init__(self, office: PostOffice, root: Path, allowed: frozenset[str] | None) -> None:
        self._tree = Tree(root)
        self._directory = Directory(office, self._tree, allowed)
        self._collector = Collector(office, self._tree, self._directory, self._sync)
        self._office = office
        self._residents: dict[str, Resident] = {}
        self._loops: dict[str, asyncio.Task[None]] = {}
        self._handing: dict[str, asyncio.Task[None]] = {}
        self._seen: set[File] = set()  # files between file agents that have been copied
        self._missing: dict[str, Resident] | None = None  # those whose mail was here before we started, and whose card may still come back
        self._leaving: dict[str, Resident] = {}  # those who moved out, until their mail waits in the office again
        self._odd: dict[str, str] = {}  # agents that cannot be served, and why
        self._unseen = 0.0  # since when files may have been handled without news
        self._rest = 0.0  # until when not to look through them again
        self._turn = asyncio.Lock()
        self.status = "opening"

    async def __aenter__(self) -> Self:
        await self._tree.open()
        self._start(_WATCHING, self._watch)
        self._start("looking through the files", self._poll)
        return self

    async def __aexit__(self, *_: object) -> None:
        await _end(*self._loops.values())
        # If the office did not record a handover, the file would be written again, even after its reader was done with it.
        stopping = [asyncio.create_task(resident.stop(self._handing[key])) for key, resident in self._residents.items()]
        if stopping:
            await asyncio.wait(stopping, timeout=_PARTING_SECONDS)
        await _end(*stopping, *self._handing.values())
        await self._tree.close()

    @property
    def facts(self) -> dict[str, str]:
        """What an operator wants to know of it."""
        return {
            "folder": str(self._tree.root),
            "agents": ", ".join(sorted(resident.caller.name for resident in self._residents.values())) or "none",
            "waiting": str(sum(resident.waiting for resident in self._residents.values())),
            "refused": str(self._collector.refused),
        }

    def _start(self, what: str, act: Callable[[], Awaitable[None]]) -> None:
        self._loops[what] = asyncio.create_task(self._forever(what, act))

    async def _forever(self, what: str, act: Callable[[], Awaitable[None]]) -> None:
        while True:
            try:
                return await act()
            except (MailError, FileMailError, OSError) as error:
                trouble = f"{what}: {error}"
                if trouble != self.status:  # a folder may be away for long
                    _log.warning("%s; trying again in a moment", trouble)
                self.status = trouble
            except Exception as error:  # noqa: BLE001 - one bug must not stop everybody's mail
                _log.exception("%s failed; trying again in a moment", what)
                self.status = f"{what}: {error}"
            await asyncio.sleep(_RETRY_SECONDS)

    async def _watch(self) -> None:
        self._unseen = 0.0
        async for changes in self._tree.changes():
            agents: defaultdict[str, set[str]] = defaultdict(set)
            for agent, folder, name in changes:
                if folder:
                    agents[agent].update({name} if name and folder != "bad" else ())
            async with self._turn:
                if any(not agent for agent, _, _ in changes):
                    await self._sync()
                await self._copy([file for agent, names in agents.items() for file in await self._look(agent, names)])

    async def _poll(self) -> None:
        self._unseen = 0.0
        while True:
            async with self._turn:
                await self._renew()
                await self._sync(everyone=True)
            early = await self._copy_all(_in_order(await self._look_around()))
            self._seen.update(await self._copy_all(early))  # a task that is unknown even now will never be known
            self.status = "open"
            await asyncio.sleep(_FULL_LOOK_SECONDS)

    async def _look_around(self) -> list[File]:
        """Look into all folders. Returns the files that another file agent may have written without news of them."""
        begun, since = asyncio.get_running_loop().time(), math.inf
        if through := begun >= self._rest:
            since, self._unseen = self._unseen, time.time() - _UNSEEN_SECONDS
        new: list[File] = []
        for agent in await self._tree.folders():
            async with self._turn:  # let others in between: there may be a hundred agents, and a year of handled mail
                new += await self._look(agent, since=since)
        if through:
            ended = asyncio.get_running_loop().time()
            self._rest = ended + _REST_FACTOR * (ended - begun)
        return new

    async def _renew(self) -> None:
        """Begin again if the root was removed and made again."""
        if not await self._tree.renew():
            return
        _log.warning("the folder %s was made again; unhandled mail is handed over again", self._tree.root)
        for key in list(self._residents):
            await self._residents.pop(key).stop(self._handing.pop(key))
        self._loops[_WATCHING].cancel()
        self._start(_WATCHING, self._watch)

    async def _sync(self, *, everyone: bool = False) -> None:
        await self._directory.sync(everyone=everyone)
        at_home = self._directory.at_home
        if self._missing is None:
            borrowers = [Caller(name, verified=False) for name in await self._office.lending.borrowers()]
            self._missing = {folded(caller.name): Resident(self._office, self._tree, caller) for caller in borrowers}
        for key in [key for key in self._residents if key not in at_home]:
            self._leaving[key] = resident = self._residents.pop(key)
            await resident.stop(self._handing.pop(key))
        for key, caller in at_home.items():
            if key not in self._residents:
                self._missing.pop(key, None)
                self._leaving.pop(key, None)
                self._residents[key] = resident = Resident(self._office, self._tree, caller)
                self._handing[key] = asyncio.create_task(self._forever(f"handing over {caller.name}'s mail", resident.run))
        if self._directory.complete:
            self._leaving |= self._missing
            self._missing.clear()
        for key, resident in list(self._leaving.items()):
            with self._spared(f"the mail of {resident.caller.name}, which has moved out, cannot be taken back"):
                await resident.leave()
                del self._leaving[key]

    @contextmanager
    def _spared(self, trouble: str) -> Iterator[None]:
        """Trouble with one folder must not keep the others from being served."""
        try:
            yield
        except MailError:
            raise  # trouble with the office concerns everybody
        except Exception as error:  # noqa: BLE001 - nor may a bug that one folder meets
            if self._odd.get(trouble) != str(error):
                bug = not isinstance(error, FileMailError | OSError)
                _log.warning("%s: %s", trouble, error, exc_info=bug)
                self._odd[trouble] = str(error)
        else:
            self._odd.pop(trouble, None)

    async def _look(self, agent: str, names: Iterable[str] = (), *, since: float | None = None) -> list[File]:
        """Look after one agent's folders. Returns the files in them that another file agent may have written."""
        key = folded(agent)
        if self._missing is None or key in self._missing or key in self._leaving:
            return []  # its inbox holds what we handed over, so there is nothing to collect
        with self._spared(f"the files of {agent} cannot be served"):
            if (resident := self._residents.get(key)) is None:
                await self._collector.collect(agent)
                return []
            await resident.look()
            files = await (self._tree.files(agent, names) if since is None else self._tree.lying(agent, since))
            return [file for file in files if not resident.has_handed(file.name) and file not in self._seen]
        return []

    async def _copy_all(self, files: list[File]) -> list[File]:
        early: list[File] = []
        for begin in range(0, len(files), _COPIES_AT_ONCE):
            async with self._turn:  # let others in between: there may be a week's files
                early += await self._copy(files[begin : begin + _COPIES_AT_ONCE])
        return early

    async def _copy(self, files: list[File]) -> list[File]:
        """Copy these into the office. Returns the reports on tasks that are not known (yet)."""
        if not files:
            return []
        early = await self._collector.copy(_in_order(files))
        if len(self._seen) > _COPIES_REMEMBERED:
            self._seen.clear()
        self._seen.update(file for file in files if file not in early)
        return _in_order(early)


async def _end(*tasks: asyncio.Task[None]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _in_order(files: Iterable[File]) -> list[File]:
    """In the order of their names, which begin with the time: a task comes before its reports, unless a report bears the same time."""
    return sorted(files, key=lambda file: file.name)
