"""The project that a file belongs to; all git worktrees of a repository are one project."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_GIT = ".git"
_ELSEWHERE = re.compile(r"^\s*worktree\s*=\s*(.+?)\s*$", re.MULTILINE)


class Project(NamedTuple):
    """A project, and the folder of its files here."""

    name: str
    """The folder of the repository's first worktree, which is the same for all worktrees; without git, the folder itself."""
    root: Path

    def path(self, file: str, folder: Path) -> str:
        """A path or glob given relative to a folder, counted from the project's root if it is inside."""
        named = Path(os.path.normpath(folder / file))
        ending = "/" if file.endswith("/") else ""
        return (named.relative_to(self.root).as_posix() if named.is_relative_to(self.root) else named.as_posix()) + ending


def project_at(folder: Path) -> Project:
    """The project that a folder is part of."""
    here = Path(os.path.realpath(folder))
    return next(_repositories(here), Project(here.as_posix(), here))


def places_of(file: str, folder: str) -> set[tuple[str, str]]:
    """A file's project and path, for each repository around it, both as it was named and with links resolved."""
    named = Path(os.path.normpath(Path(folder) / file))
    places = set()
    for path in {named, Path(os.path.realpath(named.parent)) / named.name, Path(os.path.realpath(named))}:
        alone = Project(path.parent.as_posix(), path.parent)
        places |= {(project.name, path.relative_to(project.root).as_posix()) for project in [*_repositories(path.parent)] or [alone]}
    return places


def _repositories(folder: Path) -> Iterator[Project]:
    """The repositories around a folder, the innermost first."""
    for root in (folder, *folder.parents):
        if (mark := root / _GIT).exists():
            yield Project(_first_worktree(mark).as_posix(), root)


def _first_worktree(mark: Path) -> Path:
    """The folder of a repository's first worktree."""
    common = mark
    with suppress(OSError, ValueError):
        if mark.is_file():
            common = _resolved(mark.parent, mark.read_text().partition("gitdir:")[2].strip())
        with suppress(FileNotFoundError):
            common = _resolved(common, (common / "commondir").read_text().strip())
        if common.name != _GIT and (elsewhere := _ELSEWHERE.search((common / "config").read_text())):
            return _resolved(common, elsewhere[1])
    return common.parent if common.name == _GIT else common


def _resolved(base: Path, path: str) -> Path:
    return Path(os.path.realpath(base / path))
