"""A process of this machine. Its start time tells it from a later one with the same number."""

import os
import subprocess
import sys
import uuid
from contextlib import suppress
from functools import cache
from pathlib import Path

import msgspec

_PROC = Path("/proc")
_SHELLS = ("sh", "bash", "dash", "zsh", "fish", "ksh", "tcsh", "cmd.exe", "powershell.exe", "pwsh", "pwsh.exe")
_LAUNCHERS = ("env", "timeout", "nice", "uv", "uvx", "uv.exe", "uvx.exe", "pipx", "postoffice", "postoffice.exe")
_BETWEEN = frozenset((*_SHELLS, *_LAUNCHERS))
"""Programs that only start another: the search for the client skips them."""
_PARENT, _STARTED = 1, 19
"""The positions of these fields in a process's `stat`, counted after its name."""
_PS_SECONDS = 5
_MOST_ANCESTORS = 12


class Process(msgspec.Struct, frozen=True):
    """A process's number and start time; both together identify it."""

    pid: int
    started: str

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return process(self.pid) == self


def process(pid: int) -> Process | None:
    """The process that has this number now; None if there is none or it is another user's."""
    status = _told(pid)
    return None if status is None or not status.mine else Process(pid, status.started)


def name_of(pid: int) -> str:
    """What a process calls itself."""
    status = _told(pid)
    return "" if status is None else status.name


def folder_of(pid: int) -> str | None:
    """A process's working folder, if the system says."""
    with suppress(OSError):
        return str((_PROC / str(pid) / "cwd").readlink())
    return None


def client_process(pid: int | None = None) -> Process | None:
    """The program that started this process, or the given one, through any shells and launchers."""
    at = os.getppid() if pid is None else pid
    for _ in range(_MOST_ANCESTORS):
        status = _told(at)
        if status is None:
            return None
        if status.name.lower() not in _BETWEEN:
            return Process(at, status.started) if status.mine else None
        at = status.parent
    return None


def is_below(pid: int, ancestor: int) -> bool:
    """Whether a process is another one, or was started by it directly or indirectly."""
    at = pid
    for _ in range(_MOST_ANCESTORS):
        if at == ancestor:
            return True
        status = _told(at)
        if status is None:
            return False
        at = status.parent
    return False


@cache
def machine() -> str:
    """A name for this machine that stays the same across restarts."""
    for path in ("/etc/machine-id", "/var/lib/dbus/machine-id"):
        with suppress(OSError):
            if text := Path(path).read_text().strip():
                return uuid.uuid5(uuid.NAMESPACE_OID, text).hex
    return uuid.UUID(int=uuid.getnode()).hex


class _Told(msgspec.Struct, frozen=True):
    """The system's data on a process."""

    name: str
    parent: int
    started: str
    mine: bool


def _told(pid: int) -> _Told | None:
    if _PROC.joinpath("self", "stat").exists():
        return _by_proc(pid)
    if sys.platform == "win32":
        return _by_windows(pid)
    return _by_ps(pid)


def _by_proc(pid: int) -> _Told | None:
    folder = _PROC / str(pid)
    try:
        head, _, rest = (folder / "stat").read_text(errors="replace").rpartition(")")
        fields = rest.split()
        mine = folder.stat().st_uid == os.getuid()
    except OSError:
        return None
    if fields[0] in "ZX":  # it has ended, but its parent has not collected it yet
        return None
    return _Told(head.partition("(")[2], int(fields[_PARENT]), f"{_boot()}-{fields[_STARTED]}", mine)


@cache
def _boot() -> str:
    with suppress(OSError):
        return (_PROC / "sys/kernel/random/boot_id").read_text().strip()[:8]
    return "boot"


def _by_ps(pid: int) -> _Told | None:
    """By `ps`, for systems without /proc such as macOS."""
    fields = _asked("ps", "-o", "ppid=,uid=,lstart=,comm=", "-p", str(pid)).split(maxsplit=7)  # lstart is five words
    if len(fields) < 8:  # noqa: PLR2004 - parent, user, five words of time, command
        return None
    return _Told(Path(fields[7].strip()).name, int(fields[0]), "-".join(fields[2:7]), int(fields[1]) == os.getuid())


def _by_windows(pid: int) -> _Told | None:
    ask = f'Get-CimInstance Win32_Process -Filter "ProcessId={pid}" | % {{ "$($_.ParentProcessId)|$($_.CreationDate.Ticks)|$($_.Name)" }}'
    fields = _asked("powershell", "-NoProfile", "-Command", ask).strip().split("|")
    return _Told(fields[2], int(fields[0]), fields[1], mine=True) if len(fields) == 3 else None  # noqa: PLR2004


def _asked(*words: str) -> str:
    """The output of a system program, in its untranslated form."""
    try:
        plain = dict(os.environ) | {"LC_ALL": "C"}
        return subprocess.run(words, capture_output=True, text=True, timeout=_PS_SECONDS, check=False, env=plain).stdout  # noqa: S603 - words of our own
    except (OSError, subprocess.TimeoutExpired):
        return ""
