"""The tree of file mailboxes as the bridge uses it: every touch of the disk in a thread of its own."""

import asyncio
import json
import logging
import secrets
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar

from watchfiles import awatch

from postoffice.core.errors import FilesInUse
from postoffice_files import FileMailError, MailboxManager, Settings
from postoffice_files.errors import Busy
from postoffice_files.home import find
from postoffice_files.letter import NoLetter, read_letter
from postoffice_files.lock import locked
from postoffice_files.names import SUFFIX, is_filename

T = TypeVar("T")
_log = logging.getLogger(__name__)
# The bridge gives nothing up for having tried often: what the office cannot take now it takes later.
_PATIENT = Settings(claim_for=10.0, max_attempts=1 << 30, max_bytes=16 * 1024 * 1024)
_FOLDERS = {"inbox", "processed", "bad"}
_SETTLE_MS = 5  # how long the system's news is gathered before it is told
REGISTRY = "_registry.json"


class Tree:
    """One root. Only one bridge may serve it."""

    def __init__(self, root: Path) -> None:
        self.root = root.expanduser().absolute()
        self.id = ""
        self._mail = MailboxManager(self.root, _PATIENT)
        # One thread: a poller remembers its claims, and the disk is no faster for being asked by two.
        self._hand = ThreadPoolExecutor(1, "files")
        self._held = ExitStack()

    async def open(self) -> None:
        """Take the root for this bridge alone."""
        await self._do(self._take)

    async def close(self) -> None:
        """Let another bridge have it."""
        await self._do(self._held.close)
        self._hand.shutdown()

    async def cards(self) -> list[dict[str, Any]] | None:
        """Every card in the registry; None while it cannot be read."""
        return await self._do(self._mail.list_agents)

    async def mirror(self, cards: list[dict[str, Any]]) -> None:
        """Show the agents at home in the office."""
        await self._do(lambda: self._mail.mirror(cards))

    async def folders(self) -> list[str]:
        """Everybody who has a folder here."""
        return await self._do(lambda: sorted(path.name for path in self.root.iterdir() if path.is_dir() and not path.is_symlink()))

    async def deliver(self, to: str, letters: list[tuple[str, dict[str, Any], int, str, int]]) -> list[str | FileMailError]:
        """Write letters (sender, message, time, key, order) into an inbox, each once for each key. Gives the files' names."""

        def write() -> list[str | FileMailError]:
            done: list[str | FileMailError] = []
            for sender, message, at, key, order in letters:
                try:
                    done.append(self._mail.deliver(sender, to, message, at=at, key=key, order=order))
                except FileMailError as error:
                    done.append(error)
            return done

        return await self._do(write)

    async def waiting(self, agent: str) -> set[str]:
        """The names of the files in an inbox."""
        return await self._do(lambda: self._names(agent, "inbox"))

    async def archived(self, agent: str) -> set[str]:
        """The names of the files an agent has handled."""
        return await self._do(lambda: self._names(agent, "processed"))

    async def reasons(self, agent: str, names: list[str]) -> dict[str, str]:
        """Of these files, those set aside, and why."""

        def look() -> dict[str, str]:
            home = find(self.root, agent)
            return {} if home is None else {name: _reason(home.bad / name) for name in names if (home.bad / name).exists()}

        return await self._do(look)

    async def read(self, agent: str, names: list[str]) -> list[dict[str, Any]]:
        """Messages that are or were in an inbox, without taking them. What is no message is left out."""

        def look() -> list[dict[str, Any]]:
            home = find(self.root, agent)
            found = []
            for name in names if home is not None else ():
                for folder in (home.inbox, home.processed):  # type: ignore[union-attr]  # there are no names without one
                    try:
                        found.append(read_letter(folder / name, agent, _PATIENT)[0] | {"filename": name})
                        break
                    except (FileNotFoundError, NoLetter):
                        continue
            return found

        return await self._do(look)

    async def poll(self, agent: str, limit: int) -> list[dict[str, Any]]:
        """What is new for an agent at home in the office."""
        return await self._do(lambda: self._mail.poll(agent, limit=limit))

    async def processed(self, agent: str, names: list[str]) -> None:
        """The office has these now."""

        def mark() -> None:
            for name in names:
                self._each(lambda name=name: self._mail.mark_processed(agent, name))  # type: ignore[misc]

        await self._do(mark)

    async def refuse(self, agent: str, name: str, reason: str, *, tell: bool) -> None:
        """Set a file aside."""
        await self._do(lambda: self._each(lambda: self._mail.refuse(agent, name, reason, tell=tell)))

    async def later(self, agent: str, name: str, reason: str, seconds: float) -> None:
        """Try a file again after a while."""
        await self._do(lambda: self._each(lambda: self._mail.fail(agent, name, reason, retry_in=seconds)))

    async def changes(self) -> AsyncIterator[set[tuple[str, str, str]]]:
        """What the system tells of: (agent, folder, file), with the registry as ("", "", its name)."""
        watching = awatch(
            self.root, watch_filter=None, debounce=_SETTLE_MS * 4, step=_SETTLE_MS, recursive=True, ignore_permission_denied=True
        )
        async for found in watching:
            told = {place for _, path in found if (place := self._place(path)) is not None}
            if told:
                yield told

    def _place(self, path: str) -> tuple[str, str, str] | None:
        match Path(path).relative_to(self.root).parts:
            case (name,) if name == REGISTRY:
                return ("", "", name)
            case (agent, folder, name) if folder in _FOLDERS and not name.endswith(".tmp"):
                return (agent, folder, name)
            case (agent, folder) if folder in _FOLDERS:
                return (agent, folder, "")
        return None

    def _names(self, agent: str, folder: str) -> set[str]:
        home = find(self.root, agent)
        try:
            return set() if home is None else {path.name for path in (home.path / folder).iterdir() if is_filename(path.name)}
        except FileNotFoundError:
            return set()

    def _take(self) -> None:
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = self.root / "_bridge.lock"
        try:
            self._held.enter_context(locked(lock, 0))
        except Busy:
            raise FilesInUse(root=self.root) from None
        self.id = lock.read_text().strip()
        if not self.id:
            self.id = secrets.token_hex(4)
            lock.write_text(self.id)

    def _each(self, act: Callable[[], object]) -> None:
        """What somebody else has moved away meanwhile is no longer ours to settle."""
        try:
            act()
        except FileMailError as error:
            _log.debug("%s", error)

    async def _do(self, act: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._hand, act)


def _reason(path: Path) -> str:
    try:
        told = json.loads(path.with_name(f"{path.name}.reason.json").read_text())["reason"]
    except (OSError, ValueError, KeyError, TypeError):
        told = None
    return told if isinstance(told, str) and told else "its reader set it aside"


def written_at(name: str) -> float:
    """When a file was written, as far as its name tells, in seconds since the epoch."""
    stamp = name.removesuffix(SUFFIX).partition("_")[0]
    try:
        return float(stamp)
    except ValueError:
        return 0.0
