"""What a process asked of the kernel, read from strace's log: what it wrote, what it synced, and when it said ACK."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

_LINE = re.compile(r"(\d+) +(.*)")
_RESUMED = re.compile(r"<\.\.\. \w+ resumed>(.*)")
_UNFINISHED = " <unfinished ...>"
_CALL = re.compile(r'(\w+)\((\d+)<([^>]*)>(?:, "([^"]*)")?((?:, \d+)*)\) += (-?\d+)')
_SYNCS = ("fsync", "fdatasync")
_LONGEST = 1 << 20


@dataclass(frozen=True)
class Call:
    """One system call, with the lines of the log where it began and where it returned."""

    name: str
    fd: int
    path: str
    data: bytes
    numbers: tuple[int, ...]
    result: int
    began: int
    ended: int


def strace_command(log: Path) -> list[str]:
    """Words to put before a command. Without strace nothing is proven, so that fails; it is never skipped."""
    if shutil.which("strace") is None and os.geteuid() == 0 and shutil.which("apt-get") is not None:
        subprocess.run(["apt-get", "update", "-qq"], check=False, timeout=60, capture_output=True)
        subprocess.run(["apt-get", "install", "-y", "-qq", "strace"], check=False, timeout=60, capture_output=True)
    if shutil.which("strace") is None:
        pytest.fail("strace is needed to see what reaches the disk, and is neither installed nor installable here: install it")
    kinds = "trace=write,pwrite64,ftruncate,fsync,fdatasync"
    return ["strace", "-f", "-y", "-xx", "-s", str(_LONGEST), "-o", str(log), "-e", kinds]


def read_calls(log: Iterable[str]) -> list[Call]:
    """The calls of a log in the order they began."""
    calls: list[Call] = []
    open_calls: dict[str, tuple[int, str]] = {}
    for number, line in enumerate(log):
        told = _LINE.match(line)
        if told is None:
            continue
        pid, text = told.groups()
        if text.endswith(_UNFINISHED):
            open_calls[pid] = (number, text.removesuffix(_UNFINISHED))
            continue
        began = number
        if (resumed := _RESUMED.match(text)) is not None and pid in open_calls:
            began, head = open_calls.pop(pid)
            text = head + resumed[1]
        if (call := _CALL.match(text)) is not None:
            name, fd, path, data, numbers, result = call.groups()
            given = tuple(int(word) for word in numbers.split(", ") if word)
            calls.append(Call(name, int(fd), _plain(path).decode(), _plain(data or ""), given, int(result), began, number))
    return sorted(calls, key=lambda call: call.began)


def _plain(text: str) -> bytes:
    return text.encode().decode("unicode_escape").encode("latin-1")


def acks(calls: Sequence[Call]) -> list[tuple[int, str]]:
    """When each message was acknowledged."""
    return [(call.began, call.data.decode().split()[1]) for call in calls if call.fd == 1 and call.data.startswith(b"ACK ")]


def told_too_early(calls: Sequence[Call], log: str) -> list[str]:
    """Messages acknowledged although the log's last write before that was not yet synced, or nothing was written for them."""
    early: list[str] = []
    said = -1
    for at, id in acks(calls):
        writes = [call for call in calls if call.name in ("write", "pwrite64") and call.path == log and said < call.began < at]
        written = max((call.ended for call in writes), default=None)
        synced = written is not None and any(
            call.name in _SYNCS and call.path == log and call.result == 0 and written < call.began and call.ended < at for call in calls
        )
        if not synced:
            early.append(id)
        said = at
    return early


@dataclass
class Disk:
    """One file on a disk that keeps what was synced and forgets the rest."""

    kept: bytearray = field(default_factory=bytearray)
    waiting: list[Call] = field(default_factory=list)

    def see(self, call: Call) -> None:
        if call.name in _SYNCS:
            if call.result == 0:
                done, self.waiting = (
                    [one for one in self.waiting if one.ended < call.began],
                    [one for one in self.waiting if one.ended >= call.began],
                )
                for one in done:
                    self._keep(one)
        elif call.result >= 0:
            self.waiting.append(call)

    def _keep(self, call: Call) -> None:
        if call.name == "ftruncate":
            (size,) = call.numbers
            del self.kept[size:]
            self.kept.extend(bytes(size - len(self.kept)))
            return
        assert call.name == "pwrite64", "the store writes at places, never at the end"
        written, offset = call.data[: call.result], call.numbers[-1]
        self.kept.extend(bytes(max(0, offset + len(written) - len(self.kept))))
        self.kept[offset : offset + len(written)] = written


def left_by_power_loss(calls: Sequence[Call], before: dict[str, bytes], at: int) -> dict[str, bytes]:
    """What the files hold when the power goes out at a line of the log and all that was not synced is gone."""
    disks = {path: Disk(bytearray(content)) for path, content in before.items()}
    for call in sorted(calls, key=lambda call: call.ended):
        if call.path in disks and call.ended < at:
            disks[call.path].see(call)
    return {path: bytes(disk.kept) for path, disk in disks.items()}
