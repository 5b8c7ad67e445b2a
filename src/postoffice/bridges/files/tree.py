"""The tree of file mailboxes as the bridge uses it: every touch of the disk in a thread of its own."""

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
# The bridge gives nothing up for having tried often: what the office cannot take now it takes later.
_PATIENT = Settings(claim_for=3.0, max_attempts=1 << 30, max_bytes=16 * 1024 * 1024)


Written = tuple[str, dict[str, Any], int, str, int]
"""A letter to be written: its sender, the message, its time, its key, and its place among those of that time."""


class Tree:
    """One root. Only one bridge may serve it."""

    def __init__(self, root: Path) -> None:
        self.root = root.expanduser().absolute()
        self.id = ""
        self._lock = self.root / "_bridge.lock"
        self._print: tuple[int, int] | None = None  # which file is locked, for a root may be removed and made again
        self._mail = MailboxManager(self.root, _PATIENT)
        # One thread: a poller remembers its claims, and the disk is no faster for being asked by two.
        self._hand = ThreadPoolExecutor(1, "files")
        self._held = ExitStack()
        self._news = News(self.root, self._do)

    async def open(self) -> None:
        """Take the root for this bridge alone."""
        await self._do(self._take)

    async def renew(self) -> bool:
        """Take the root again if another stands in its place; whether that is so."""
        return await self._do(self._renew)

    async def close(self) -> None:
        """Let another bridge have it."""
        await self._do(self._held.close)
        self._hand.shutdown()

    async def cards(self) -> list[dict[str, Any]] | None:
        """Every card in the registry; None while it cannot be read, and while the root that we took is not there."""
        return await self._do(self._cards)

    def _cards(self) -> list[dict[str, Any]] | None:
        if not self._is_ours():
            return None
        self._mail.lapse()
        return self._mail.list_agents()

    async def mirror(self, cards: list[dict[str, Any]]) -> list[str]:
        """Show the agents at home in the office. Gives the names of those that could be entered."""
        return await self._do(lambda: self._mail.mirror(cards))

    async def folders(self) -> list[str]:
        """Everybody who has a folder here."""
        return await self._do(lambda: sorted(path.name for path in self.root.iterdir() if is_folder(path) and is_name(path.name)))

    async def deliver(self, to: str, letters: list[Written]) -> list[Deposit | FileMailError]:
        """Write letters into an inbox, each once for each key. Gives where each lies."""

        def write() -> list[Deposit | FileMailError]:
            if not self._is_ours():  # nor is it made anew: it may be back, with all that lies there
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self._lock))
            done: list[Deposit | FileMailError] = []
            for sender, message, at, key, order in letters:
                try:
                    done.append(self._mail.deposit(sender, to, message, at=at, key=key, order=order))
                except Busy:
                    raise  # that passes
                except FileMailError as error:
                    done.append(error)
            return done

        return await self._do(write)

    async def waiting(self, agent: str) -> Waiting | None:
        """What lies in an inbox; None if there is no inbox to look into."""
        # In another root than the one we took, nothing lies that we wrote.
        return await self._in(agent, lambda home: lying.waiting(home) if self._is_ours() else None, None)

    async def has_any(self, agent: str) -> bool:
        """Whether there is anything in an inbox."""

        def look(home: Home) -> bool:
            room = home.room(INBOX)
            return room is not None and any(True for _ in room.names())

        return await self._in(agent, look, False)  # noqa: FBT003 - what is so where there is no folder

    async def archived(self, agent: str) -> frozenset[str]:
        """The names of the files an agent has handled."""
        return await self._told(agent, lambda home: lying.archived(home) if self._is_ours() else frozenset(), frozenset())

    async def withdraw(self, agent: str, names: list[str]) -> None:
        """Take files out of an inbox again."""

        def remove(home: Home) -> None:
            if names and (room := home.room(INBOX)) is not None:
                for name in names:
                    with suppress(FileNotFoundError):
                        room.unlink(name)
                room.sync()

        await self._told(agent, remove, None)

    async def reasons(self, agent: str, names: list[str]) -> dict[str, str]:
        """Of these files, those set aside, and why."""
        return await self._told(agent, lambda home: lying.reasons(home, names), {})

    async def files(self, agent: str, names: Iterable[str]) -> list[File]:
        """Of these, those that lie in an agent's inbox or among what it has handled, and are not old."""
        return await self._in(agent, lambda home: lying.found(agent, home, names), [])

    async def lying(self, agent: str, since: float) -> list[File]:
        """Those that lie in an agent's inbox, or that it has handled since a time, and are not old."""
        return await self._in(agent, lambda home: lying.lying(agent, home, since) if self._is_ours() else [], [])

    async def read(self, files: list[File]) -> list[tuple[File, dict[str, Any]]]:
        """The messages in these, without taking them. What is no message is left out, and what is old."""

        def look() -> list[tuple[File, dict[str, Any]]]:
            return [(file, letter) for file in files if (letter := self._read(file)) is not None]

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

    async def release(self, agent: str, names: list[str]) -> None:
        """Leave these to somebody else."""

        def leave() -> None:
            for name in names:
                self._each(lambda name=name: self._mail.release(agent, name))  # type: ignore[misc]

        await self._do(leave)

    async def refuse(self, agent: str, name: str, reason: str, *, tell: bool) -> None:
        """Set a file aside."""
        await self._do(lambda: self._each(lambda: self._mail.refuse(agent, name, reason, tell=tell)))

    async def later(self, agent: str, name: str, reason: str, seconds: float) -> None:
        """Try a file again after a while."""
        await self._do(lambda: self._each(lambda: self._mail.fail(agent, name, reason, retry_in=seconds)))

    def changes(self) -> AsyncIterator[set[Place]]:
        """What the system tells of."""
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
        # A name for this very tree: what was handed over into another one does not lie here.
        self.id = self._lock.read_text().strip()
        if not self.id:
            self.id = secrets.token_hex(4)
            self._lock.write_text(self.id)
        self._print = self._look_at_lock()

    def _renew(self) -> bool:
        if self._is_ours() or not self.root.is_dir():
            return False
        self._held.close()
        self._print = None  # the same root may be back before another can be taken, and is no longer ours
        self._take()
        return True

    def _is_ours(self) -> bool:
        """Whether the root that we took is the one that stands there."""
        return self._print is not None and self._look_at_lock() == self._print

    def _look_at_lock(self) -> tuple[int, int] | None:
        status = disk.lstat(self._lock)
        return None if status is None else (status.st_dev, status.st_ino)

    def _each(self, act: Callable[[], object]) -> None:
        """What somebody else has moved away meanwhile is no longer ours to settle."""
        try:
            act()
        except FileMailError as error:
            _log.debug("%s", error)

    async def _do(self, act: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._hand, act)

    async def _in(self, agent: str, look: Callable[[Home], T], nothing: T) -> T:
        """What is so in an agent's folder, held open for it. Raises NotAMailbox for what is none."""

        def act() -> T:
            if (home := find(self.root, agent)) is None:
                return nothing
            with home:
                return look(home)

        return await self._do(act)

    async def _told(self, agent: str, look: Callable[[Home], T], nothing: T) -> T:
        """The same, where what stands there and is no folder holds nothing."""
        try:
            return await self._in(agent, look, nothing)
        except NotAMailbox:
            return nothing
