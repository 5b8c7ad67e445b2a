"""Where clients keep their files: the home directory, or where a variable says."""

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec


class Home(msgspec.Struct, frozen=True, kw_only=True):
    """A person's home on this machine."""

    folder: Path
    environ: Mapping[str, str]
    project: Path | None = None
    """The project whose files are changed instead of the person's."""

    def moved(self, variable: str, usual: str) -> Path:
        """A folder that a variable may name, by default this one under the home."""
        named = self.environ.get(variable, "").strip()
        return self._whole(named) if named else self.folder / usual

    def named(self, variable: str) -> Path | None:
        """The file that a variable names; None if it is not set."""
        named = self.environ.get(variable, "").strip()
        return self._whole(named) if named else None

    def short(self, path: Path) -> str:
        """A path as people write it, with `~`."""
        return f"~/{path.relative_to(self.folder)}" if path.is_relative_to(self.folder) else str(path)

    def _whole(self, named: str) -> Path:
        return self.folder / named[2:] if named.startswith("~/") else Path(named).absolute()


def my_home(*, project: bool = False) -> Home:
    """The home of the current user."""
    return Home(folder=Path.home(), environ=dict(os.environ), project=Path.cwd() if project else None)
