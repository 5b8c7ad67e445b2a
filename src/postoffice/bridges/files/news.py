"""The system's news of a tree of file mailboxes: where something may be new."""

import stat
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, suppress
from pathlib import Path

from watchfiles import Change, awatch

from postoffice_files import FileMailError, disk
from postoffice_files.home import BAD, INBOX, PROCESSED
from postoffice_files.names import check_name

REGISTRY = "_registry.json"
Place = tuple[str, str, str]
"""(agent, folder, file), with the registry as ("", "", its name)."""
_FOLDERS = {INBOX, PROCESSED, BAD}
_SETTLE_MILLISECONDS = 5  # the system's news is gathered this long
_NEW_FOLDER_LOOK_MILLISECONDS = 200  # new folders are looked into this long after we began to watch them


class News:
    """News of one root. It is only a hint: the look itself opens folders without following links."""

    def __init__(self, root: Path, do: Callable[[Callable[[], list[str]]], Awaitable[list[str]]]) -> None:
        self._root = root
        self._do = do

    async def changes(self) -> AsyncIterator[set[Place]]:
        """The changes, as they are reported."""
        while True:
            folders = await self._do(self._watched)
            unseen = {("", "", REGISTRY)} | {at for path in folders if (at := self._place(path)) is not None}
            # Each folder by itself: if the system watched the whole tree, it would follow every link, and the office would wait for that.
            watching = awatch(
                *folders,
                watch_filter=None,
                debounce=_SETTLE_MILLISECONDS * 4,
                step=_SETTLE_MILLISECONDS,
                rust_timeout=_NEW_FOLDER_LOOK_MILLISECONDS,
                yield_on_timeout=True,
                recursive=False,
                ignore_permission_denied=True,
            )
            async with aclosing(watching) as news:
                async for batch in news:
                    # There is no news of what came before we began to watch, nor of a folder made meanwhile.
                    missed = bool(unseen) and await self._do(self._watched) != folders
                    places, unseen = {at for _, path in batch if (at := self._place(path)) is not None} | unseen, set()
                    if places:
                        yield places
                    if missed or any(change == Change.added and self._is_to_be_watched(Path(path)) for change, path in batch):
                        break

    def _watched(self) -> list[str]:
        """The root and every folder worth watching."""
        folders = [self._root]
        for path in self._root.iterdir():
            with suppress(OSError):  # we may not be allowed to read it
                if is_folder(path) and is_name(path.name):
                    folders += [path, *(path / folder for folder in _FOLDERS if is_folder(path / folder))]
        return sorted(map(str, folders))

    def _is_to_be_watched(self, path: Path) -> bool:
        """Whether something new is a folder worth watching."""
        match path.relative_to(self._root).parts:
            case (agent,):
                return is_name(agent) and is_folder(path)
            case (_, folder):
                return folder in _FOLDERS and is_folder(path)
        return False

    def _place(self, path: str) -> Place | None:
        match Path(path).relative_to(self._root).parts:
            case (name,) if name == REGISTRY:
                return ("", "", name)
            case (agent, folder, name) if folder in _FOLDERS and not name.endswith(".tmp"):
                return (agent, folder, name)
            case (agent, folder) if folder in _FOLDERS:
                return (agent, folder, "")
        return None


def is_folder(path: Path) -> bool:
    """Whether this is a real folder: links are not followed."""
    status = disk.lstat(path)
    return status is not None and stat.S_ISDIR(status.st_mode)


def is_name(name: str) -> bool:
    """Whether this can be an agent's name."""
    try:
        check_name(name)
    except FileMailError:
        return False
    return True
