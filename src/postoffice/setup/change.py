"""A change to one file: shown before it is made, made all at once, with a backup beside it."""

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
_LONG = re.compile(r"""(["'])(?=[^"']*\d)(?=[^"']*[A-Za-z])[\w+=.~-]{24,}\1""", re.ASCII)
MASK = "********"
_PRIVATE, _OTHERS = 0o600, 0o077


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One file as it is and as it should be; None where there is none."""

    path: Path
    before: str | None
    after: str | None
    backed_up: bool = False
    """Whether an older backup holds what was there before us, or none is needed."""
    private: bool = False
    """Whether a key stands in it, which is nobody else's to read."""
    own_folder: bool = False
    """Whether the folder is ours as well."""
    left: tuple[str, ...] = ()
    """What stays although it may be ours, because nothing tells."""

    @property
    def backup(self) -> Path:
        """Where the file as it was is kept."""
        return backup_of(self.path)

    def diff(self, shown: str) -> list[str]:
        """The change, line by line, without anybody's secrets."""
        old, new = (mask(text or "").splitlines() for text in (self.before, self.after))
        was, becomes = (shown if text is not None else os.devnull for text in (self.before, self.after))
        lines = list(difflib.unified_diff(old, new, was, becomes, lineterm=""))
        if lines or self.before == self.after:
            return lines
        return [f"--- {shown}", f"+++ {shown}", "@@ a secret that is not shown @@"]

    def make(self) -> None:
        """Make it, unless the file has changed since it was read."""
        real = self.path.resolve()  # whoever keeps a link there keeps it
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
    """Where a file as it was before us is kept: beside the file itself, wherever a link to it stands."""
    real = path.resolve()
    return real.with_name(f"{real.name}.before-postoffice")


def read_text(path: Path) -> str | None:
    """A file, to the last character; None if there is none."""
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(what=str(path), why=f"it cannot be read ({error}); nothing was written") from None


def mask(text: str) -> str:
    """The text without secrets: a configuration is full of other people's, too."""
    return _LONG.sub(rf"\g<1>{MASK}\g<1>", _NAMED_SECRET.sub(_masked, text))


def _masked(secret: re.Match[str]) -> str:
    shown = secret[0]
    return shown if "${" in shown else f"{secret[1]}{'Bearer ' if 'Bearer ' in shown else ''}{MASK}{secret[3]}"


def write_text(path: Path, text: str, mode: int) -> None:
    """Whoever reads meanwhile sees the old file or the new one, never half of one."""
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
    """Run by root, a person's file stays the person's."""
    owner = path.stat()
    if (owner.st_uid, owner.st_gid) != (os.geteuid(), os.getegid()) and os.geteuid() == 0:
        os.fchown(descriptor, owner.st_uid, owner.st_gid)
