"""The tree of file mailboxes as the bridge uses it. All work on the disk is done in a thread of its own."""

import asyncio
import errno
import logging
import os
import secrets
from collections.abc import AsyncIterator, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, TypeVar

from postoffice.bridges.files import lying
from postoffice.bridges.files.lying import File, Waiting
from postoffice.bridges.files.news import News, Place, is_folder, is_name
from postoffice.core.errors import BadSetting, FilesInUse
from postoffice_files import FileMailError, MailboxManager, NotAMailbox, Settings, disk
from postoffice_files.errors import Busy
from postoffice_files.home import INBOX, Home, find
from postoffice_files.lock import locked
from postoffice_files.mailboxes import Deposit

T = TypeVar("T")
_log = logging.getLogger(__name__)
# The bridge never gives a file up after many attempts: what the office cannot take now, it takes later.
_PATIENT = Settings(claim_for=3.0, max_attempts=1 << 30, max_bytes=16 * 1024 * 1024)


Written = tuple[str, dict[str, Any], int, str, int]
"""A letter to write: its sender, the message, its time, its key, and its place among letters of the same time."""


class Tree:
    """One root, which only one bridge may serve."""

    def __init__(self, root: Path) -> None:
        self.root = root.expanduser().absolute()
        self.id = ""
        self._lock = self.root / "_bridge.lock"
        self._print: tuple[int, int] | None = None  # identifies the locked file, as a root may be removed and made again
        self._mail = MailboxManager(self.root, _PATIENT)
        # One thread: a poller remembers its claims, and two threads would not make the disk faster.
        self._hand = ThreadPoolExecutor(1, "files")
        self._held = ExitStack()
        self._news = News(self.root, self._do)

    async def open(self) -> None:
        """Take the root for this bridge alone."""
        await self._do(self._take)

    async def renew(self) -> bool:
        """Take the root again if it was replaced. Returns whether it was."""
        return await self._do(self._renew)

    async def close(self) -> None:
        """Let another bridge have it."""
        await self._do(self._held.close)
        self._hand.shutdown()

    async def cards(self) -> list[dict[str, Any]] | None:
        """Every card in the registry; None while it cannot be read or our root is gone."""
        return await self._do(self._cards)

    def _cards(self) -> list[dict[str, Any]] | None:
        if not self._is_ours():
            return None
        self._mail.lapse()
        return self._mail.list_agents()

    async def mirror(self, cards: list[dict[str, Any]]) -> list[str]:
        """Enter the agents at home in the office in the registry. Returns the names that could be entered."""
        return await self._do(lambda: self._mail.mirror(cards))

    async def folders(self) -> list[str]:
        """Every agent that has a folder here."""
        return await self._do(lambda: sorted(path.name for path in self.root.iterdir() if is_folder(path) and is_name(path.name)))

    async def deliver(self, to: str, letters: list[Written]) -> list[Deposit | FileMailError]:
        """Write letters into an inbox, one file a key. Returns the place of each."""

        def write() -> list[Deposit | FileMailError]:
            if not self._is_ours():  # it is not made again either: it may come back with everything in it
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self._lock))
            done: list[Deposit | FileMailError] = []
            for sender, message, at, key, order in letters:
                try:
                    done.append(self._mail.deposit(sender, to, message, at=at, key=key, order=order))
                except Busy:
                    raise  # this error passes with time
                except FileMailError as error:
                    done.append(error)
            return done

        return await self._do(write)

    async def waiting(self, agent: str) -> Waiting | None:
        """The files in an inbox; None if there is no inbox."""
        # A root that replaced ours holds nothing that we wrote.
        return await self._in(agent, lambda home: lying.waiting(home) if self._is_ours() else None, None)

    async def has_any(self, agent: str) -> bool:
        """Whether an inbox holds any file."""

        def look(home: Home) -> bool:
            room = home.room(INBOX)
            return room is not None and any(True for _ in room.names())

        return await self._in(agent, look, False)  # noqa: FBT003 - the answer if there is no folder

    async def archived(self, agent: str) -> frozenset[str]:
        """The names of the files that an agent has handled."""
        return await self._told(agent, lambda home: lying.archived(home) if self._is_ours() else frozenset(), frozenset())

    async def withdraw(self, agent: str, names: list[str]) -> None:
        """Remove files from an inbox again."""

        def remove(home: Home) -> None:
            if names and (room := home.room(INBOX)) is not None:
                for name in names:
                    with suppress(FileNotFoundError):
                        room.unlink(name)
                room.sync()

        await self._told(agent, remove, None)

    async def reasons(self, agent: str, names: list[str]) -> dict[str, str]:
        """Which of these files were set aside, and why."""
        return await self._told(agent, lambda home: lying.reasons(home, names), {})

    async def files(self, agent: str, names: Iterable[str]) -> list[File]:
        """Which of these files are in an agent's inbox or among the handled ones, and are not too old."""
        return await self._in(agent, lambda home: lying.found(agent, home, names), [])

    async def lying(self, agent: str, since: float) -> list[File]:
        """The files in an agent's inbox, and those it has handled since a time, that are not too old."""
        return await self._in(agent, lambda home: lying.lying(agent, home, since) if self._is_ours() else [], [])

    async def read(self, files: list[File]) -> list[tuple[File, dict[str, Any]]]:
        """The messages in these files, which stay there. Without those that hold none or are too old."""

        def look() -> list[tuple[File, dict[str, Any]]]:
            return [(file, letter) for file in files if (letter := self._read(file)) is not None]

        return await self._do(look)

    async def poll(self, agent: str, limit: int) -> list[dict[str, Any]]:
        """The new files for an agent at home in the office."""
        return await self._do(lambda: self._mail.poll(agent, limit=limit))

    async def processed(self, agent: str, names: list[str]) -> None:
        """Mark files as processed: the office has them now."""

        def mark() -> None:
            for name in names:
                self._each(lambda name=name: self._mail.mark_processed(agent, name))  # type: ignore[misc]

        await self._do(mark)

    async def release(self, agent: str, names: list[str]) -> None:
        """Give up the claim to these files."""

        def leave() -> None:
            for name in names:
                self._each(lambda name=name: self._mail.release(agent, name))  # type: ignore[misc]

        await self._do(leave)

    async def refuse(self, agent: str, name: str, reason: str, *, tell: bool) -> None:
        """Set a file aside for good."""
        await self._do(lambda: self._each(lambda: self._mail.refuse(agent, name, reason, tell=tell)))

    async def later(self, agent: str, name: str, reason: str, seconds: float) -> None:
        """Try a file again after a while."""
        await self._do(lambda: self._each(lambda: self._mail.fail(agent, name, reason, retry_in=seconds)))

    def changes(self) -> AsyncIterator[set[Place]]:
        """The system's news of the tree."""
        return self._news.changes()

    def _read(self, file: File) -> dict[str, Any] | None:
        if (home := find(self.root, file.agent)) is None:
            return None
        with home:
            return lying.read(home, file.agent, file.name, _PATIENT)

    def _take(self) -> None:
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            self._held.enter_context(locked(self._lock, 0))
        except Busy:
            raise FilesInUse(root=self.root) from None
        except FileMailError as error:
            raise BadSetting(name="files", why=str(error)) from None
        # Identifies this very tree: files handed over into another tree are not here.
        self.id = self._lock.read_text().strip()
        if not self.id:
            self.id = secrets.token_hex(4)
            self._lock.write_text(self.id)
        self._print = self._look_at_lock()

    def _renew(self) -> bool:
        if self._is_ours() or not self.root.is_dir():
            return False
        self._held.close()
        self._print = None  # the old root may come back before we take another, and is no longer ours then
        self._take()
        return True

    def _is_ours(self) -> bool:
        """Whether the root is still the one we took."""
        return self._print is not None and self._look_at_lock() == self._print

    def _look_at_lock(self) -> tuple[int, int] | None:
        status = disk.lstat(self._lock)
        return None if status is None else (status.st_dev, status.st_ino)

    def _each(self, act: Callable[[], object]) -> None:
        """Settle each file; one that somebody has moved away meanwhile is not ours any more."""
        try:
            act()
        except FileMailError as error:
            _log.debug("%s", error)

    async def _do(self, act: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._hand, act)

    async def _in(self, agent: str, look: Callable[[Home], T], nothing: T) -> T:
        """Look into an agent's folder while it is held open. Raises NotAMailbox if there is no such folder."""

        def act() -> T:
            if (home := find(self.root, agent)) is None:
                return nothing
            with home:
                return look(home)

        return await self._do(act)

    async def _told(self, agent: str, look: Callable[[Home], T], nothing: T) -> T:
        """The same, but anything that is not a folder counts as empty."""
        try:
            return await self._in(agent, look, nothing)
        except NotAMailbox:
            return nothing
