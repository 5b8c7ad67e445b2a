"""A change to one file: shown first, made all at once, with a backup beside the file."""

import difflib
import os
import re
import tempfile
from pathlib import Path

import msgspec

from postoffice.core.errors import Conflict, Invalid

_NAMED_SECRET = re.compile(
    r"""((?:token|key|secret|password|authorization|credential)s?["']?\s*[:=]\s*(["']))(?:Bearer )?(?:(?!\2).)+(\2)""", re.IGNORECASE
)
_LONG_TOKEN = re.compile(r"""(["'])(?=[^"']*\d)(?=[^"']*[A-Za-z])[\w+=.~-]{24,}\1""", re.ASCII)
MASK = "********"
_PRIVATE, _OTHERS = 0o600, 0o077


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One file as it is and as it should be; None means no file."""

    path: Path
    before: str | None
    after: str | None
    backed_up: bool = False
    """Whether no new backup is needed, for example because an older one has the file from before us."""
    private: bool = False
    """Whether it contains a key, so that nobody else may read it."""
    own_folder: bool = False
    """Whether its folder is ours too."""
    left: tuple[str, ...] = ()
    """What stays in the file because we cannot know whether it is ours."""

    @property
    def backup(self) -> Path:
        """The path of the backup."""
        return backup_of(self.path)

    def diff(self, shown: str) -> list[str]:
        """The change, line by line, without secrets."""
        old, new = (mask(text or "").splitlines() for text in (self.before, self.after))
        was, becomes = (shown if text is not None else os.devnull for text in (self.before, self.after))
        lines = list(difflib.unified_diff(old, new, was, becomes, lineterm=""))
        if lines or self.before == self.after:
            return lines
        return [f"--- {shown}", f"+++ {shown}", "@@ a secret that is not shown @@"]

    def make(self) -> None:
        """Make the change, unless the file has changed since it was read."""
        real = self.path.resolve()  # if the path is a link, it stays one
        try:
            self._make(real)
        except OSError as error:
            raise Invalid(what=str(self.path), why=f"it cannot be written ({error.strerror})") from None

    def _make(self, real: Path) -> None:
        if read_text(self.path) != self.before:
            raise Conflict(why=f"{self.path} was changed in the meantime; run the command again")
        mode = real.stat().st_mode & 0o7777 if self.before is not None else _PRIVATE
        if self.private:
            mode &= ~_OTHERS
        if self.after is None:
            real.unlink()
            if self.own_folder and not any(real.parent.iterdir()):
                real.parent.rmdir()
            return
        real.parent.mkdir(parents=True, exist_ok=True)
        if self.before is not None and not self.backed_up:
            write_text(self.backup, self.before, mode)
        write_text(real, self.after, mode)
        if self.before is None or read_text(self.backup) == self.after:
            self.backup.unlink(missing_ok=True)  # an older file's, or needed no more


def backup_of(path: Path) -> Path:
    """The path of a file's backup: beside the real file, not beside a link to it."""
    real = path.resolve()
    return real.with_name(f"{real.name}.before-postoffice")


def read_text(path: Path) -> str | None:
    """A file's exact text; None if there is no file."""
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(what=str(path), why=f"it cannot be read ({error}); nothing was written") from None


def mask(text: str) -> str:
    """The text with all secrets masked, as a configuration also contains those of other programs."""
    return _LONG_TOKEN.sub(rf"\g<1>{MASK}\g<1>", _NAMED_SECRET.sub(_masked, text))


def _masked(secret: re.Match[str]) -> str:
    shown = secret[0]
    return shown if "${" in shown else f"{secret[1]}{'Bearer ' if 'Bearer ' in shown else ''}{MASK}{secret[3]}"


def write_text(path: Path, text: str, mode: int) -> None:
    """Write a file whole: a reader sees either the old text or the new one."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(file.fileno(), mode)
            if path.exists():
                _keep_owner(path, file.fileno())
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _keep_owner(path: Path, descriptor: int) -> None:
    """Keep the file's owner, even if root runs this."""
    owner = path.stat()
    if (owner.st_uid, owner.st_gid) != (os.geteuid(), os.getegid()) and os.geteuid() == 0:
        os.fchown(descriptor, owner.st_uid, owner.st_gid)
