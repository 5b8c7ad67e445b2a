"""The tree of file mailboxes as the bridge uses it: every touch of the disk in a thread of its own."""

import asyncio
import errno
import logging
import os
import secrets
import stat
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, aclosing, suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from watchfiles import Change, awatch

from postoffice.core.errors import BadSetting, FilesInUse
from postoffice_files import FileMailError, MailboxManager, NotAMailbox, Settings, disk, jsontext
from postoffice_files.clock import SECOND, parse_instant
from postoffice_files.errors import Busy, Unreadable
from postoffice_files.home import Home, find
from postoffice_files.letter import NoLetter, read_letter
from postoffice_files.lock import locked
from postoffice_files.names import check_name, is_filename, place

T = TypeVar("T")
_log = logging.getLogger(__name__)
# The bridge gives nothing up for having tried often: what the office cannot take now it takes later.
_PATIENT = Settings(claim_for=3.0, max_attempts=1 << 30, max_bytes=16 * 1024 * 1024)
_FOLDERS = {"inbox", "processed", "bad"}
_SETTLE_MS = 5  # how long the system's news is gathered before it is told
_SOON_MS = 200  # how long after folders have come to be watched they are looked into
_LONG_REASON = 400
_REASON_BYTES = 64 * 1024
_WEEK = 7 * 24 * 3600.0
REGISTRY = "_registry.json"


class File(NamedTuple):
    """A file that lies in an agent's inbox, or among what it has handled."""

    agent: str
    name: str
    print: str
    """What tells it from another that was put under the same name, and from itself while it was not whole."""


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
        return await self._do(lambda: self._mail.list_agents() if self._is_ours() else None)

    async def mirror(self, cards: list[dict[str, Any]]) -> list[str]:
        """Show the agents at home in the office. Gives the names of those that could be entered."""
        return await self._do(lambda: self._mail.mirror(cards))

    async def folders(self) -> list[str]:
        """Everybody who has a folder here."""
        return await self._do(lambda: sorted(path.name for path in self.root.iterdir() if _is_folder(path) and _is_name(path.name)))

    async def deliver(self, to: str, letters: list[tuple[str, dict[str, Any], int, str, int]]) -> list[str | FileMailError]:
        """Write letters (sender, message, time, key, order) into an inbox, each once for each key. Gives the files' names."""

        def write() -> list[str | FileMailError]:
            if not self._is_ours():  # nor is it made anew: it may be back, with all that lies there
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self._lock))
            done: list[str | FileMailError] = []
            for sender, message, at, key, order in letters:
                try:
                    done.append(self._mail.deliver(sender, to, message, at=at, key=key, order=order))
                except Busy:
                    raise  # that passes
                except FileMailError as error:
                    done.append(error)
            return done

        return await self._do(write)

    async def waiting(self, agent: str) -> set[str] | None:
        """The names of the files in an inbox; None if there is no inbox to look into."""
        return await self._do(lambda: self._names(agent, "inbox"))

    async def has_any(self, agent: str) -> bool:
        """Whether there is anything in an inbox."""

        def look() -> bool:
            home = find(self.root, agent)
            status = None if home is None else disk.lstat(home.inbox)
            if home is None or status is None:
                return False
            if (what := disk.kind(status)) != disk.FOLDER:
                raise NotAMailbox(path=home.inbox, what=what or "a file")
            return any(True for _ in home.inbox.iterdir())

        return await self._do(look)

    async def archived(self, agent: str) -> set[str]:
        """The names of the files an agent has handled."""
        return await self._do(lambda: (self._names(agent, "processed") if self._home(agent) else None) or set())

    async def withdraw(self, agent: str, names: list[str]) -> None:
        """Take files out of an inbox again."""

        def remove() -> None:
            if names and (home := self._home(agent)) is not None and _is_folder(home.inbox):
                for name in names:
                    (home.inbox / name).unlink(missing_ok=True)
                disk.sync_directory(home.inbox)

        await self._do(remove)

    async def reasons(self, agent: str, names: list[str]) -> dict[str, str]:
        """Of these files, those set aside, and why."""

        def look() -> dict[str, str]:
            home = self._home(agent)
            return {} if home is None else {name: _reason(home.bad / name) for name in names if disk.lstat(home.bad / name) is not None}

        return await self._do(look)

    async def files(self, agent: str, names: Iterable[str]) -> list[File]:
        """Of these, those that lie in an agent's inbox or among what it has handled, and are not old."""

        def look() -> list[File]:
            if (home := find(self.root, agent)) is None:
                return []
            lying = ((name, disk.lstat(home.inbox / name) or disk.lstat(home.processed / name)) for name in names)
            return [
                File(agent, name, disk.print_of(status)) for name, status in lying if status is not None and not _is_stale(name, status)
            ]

        return await self._do(look)

    async def lying(self, agent: str, since: float) -> list[File]:
        """Those that lie in an agent's inbox, or that it has handled since a time, and are not old."""

        def look() -> list[File]:
            home = find(self.root, agent)
            if home is None or not self._is_ours():
                return []
            # The inbox first: what is handled meanwhile is met twice, and never missed.
            return list(dict.fromkeys([*_lying(agent, home.inbox, 0.0), *_lying(agent, home.processed, since)]))

        return await self._do(look)

    async def read(self, files: list[File]) -> list[tuple[File, dict[str, Any]]]:
        """The messages in these, without taking them. What is no message is left out, and what is old."""

        def look() -> list[tuple[File, dict[str, Any]]]:
            return [(file, letter) for file in files if (letter := self._read(file.agent, file.name)) is not None]

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

    async def changes(self) -> AsyncIterator[set[tuple[str, str, str]]]:
        """What the system tells of: (agent, folder, file), with the registry as ("", "", its name)."""
        while True:
            folders = await self._do(self._watched)
            unseen = {("", "", REGISTRY)} | {place for path in folders if (place := self._place(path)) is not None}
            # Each by itself: told to watch all below the root, the system would follow every link, and the office wait for that.
            watching = awatch(
                *folders,
                watch_filter=None,
                debounce=_SETTLE_MS * 4,
                step=_SETTLE_MS,
                rust_timeout=_SOON_MS,
                yield_on_timeout=True,
                recursive=False,
                ignore_permission_denied=True,
            )
            async with aclosing(watching) as news:
                async for found in news:
                    # What was put there before it was watched nobody tells of, nor of a folder made meanwhile.
                    missed = bool(unseen) and await self._do(self._watched) != folders
                    told, unseen = {place for _, path in found if (place := self._place(path)) is not None} | unseen, set()
                    if told:
                        yield told
                    if missed or any(change == Change.added and self._is_to_be_watched(Path(path)) for change, path in found):
                        break

    def _watched(self) -> list[str]:
        """The root and every folder in which there may be news."""
        found = [self.root]
        for path in self.root.iterdir():
            with suppress(OSError):  # somebody may have closed it to us
                if _is_folder(path) and _is_name(path.name):
                    found += [path, *(path / folder for folder in _FOLDERS if _is_folder(path / folder))]
        return sorted(map(str, found))

    def _is_to_be_watched(self, path: Path) -> bool:
        """Whether something new is a folder in which there may be news."""
        match path.relative_to(self.root).parts:
            case (agent,):
                return _is_name(agent) and _is_folder(path)
            case (_, folder):
                return folder in _FOLDERS and _is_folder(path)
        return False

    def _place(self, path: str) -> tuple[str, str, str] | None:
        match Path(path).relative_to(self.root).parts:
            case (name,) if name == REGISTRY:
                return ("", "", name)
            case (agent, folder, name) if folder in _FOLDERS and not name.endswith(".tmp"):
                return (agent, folder, name)
            case (agent, folder) if folder in _FOLDERS:
                return (agent, folder, "")
        return None

    def _home(self, agent: str) -> Home | None:
        """Where an agent's files are; what stands there and is no folder holds none."""
        try:
            return find(self.root, agent)
        except NotAMailbox:
            return None

    def _names(self, agent: str, folder: str) -> set[str] | None:
        home = find(self.root, agent)
        if home is None or not _is_folder(home.path / folder) or not self._is_ours():
            return None  # in another root than the one we took, nothing lies that we wrote
        return {name for name in os.listdir(home.path / folder) if is_filename(name)}  # noqa: PTH208 - names are all that is wanted

    def _read(self, agent: str, name: str) -> dict[str, Any] | None:
        home = find(self.root, agent)
        for folder in () if home is None else (home.inbox, home.processed):
            try:
                if _is_folder(folder):
                    letter, _ = read_letter(folder / name, agent, _PATIENT)
                    return None if _is_old(place(name).micros, parse_instant(letter["timestamp"])) else letter | {"filename": name}
            except (FileNotFoundError, NoLetter):
                continue
        return None

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


def _is_folder(path: Path) -> bool:
    """Whether a real folder stands there: links are not followed."""
    status = disk.lstat(path)
    return status is not None and stat.S_ISDIR(status.st_mode)


def _lying(agent: str, folder: Path, since: float) -> Iterator[File]:
    """The message files that were put into a folder since a time. There may be very many, so each is asked for no more than that takes."""
    status = disk.lstat(folder)
    if status is None or not stat.S_ISDIR(status.st_mode) or _touched(status) < since:
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):
                status = entry.stat(follow_symlinks=False)
                if _touched(status) >= since and is_filename(entry.name) and not _is_stale(entry.name, status):
                    yield File(agent, entry.name, disk.print_of(status))


def _touched(status: os.stat_result) -> float:
    """When something was last put there, or into it."""
    return max(status.st_mtime, status.st_ctime)


def _is_name(name: str) -> bool:
    try:
        check_name(name)
    except FileMailError:
        return False
    return True


def _reason(path: Path) -> str:
    try:
        told = jsontext.decode(disk.read(path.with_name(f"{path.name}.reason.json"), _REASON_BYTES)[0])
    except (FileNotFoundError, Unreadable, jsontext.NotJson):
        told = None
    reason = told.get("reason") if isinstance(told, dict) else None
    return reason[:_LONG_REASON] if isinstance(reason, str) and reason else "its reader set it aside"


def _is_old(*told: int | None) -> bool:
    """Whether a message is older than the office may remember, by all that tells: a report bears the time of what it answers."""
    latest = max((micros for micros in told if micros is not None), default=None)
    return latest is not None and time.time() - latest / SECOND > _WEEK


def _is_stale(name: str, status: os.stat_result) -> bool:
    """Whether that is so of a file before it is read."""
    return _is_old(place(name).micros, status.st_mtime_ns // 1000)
