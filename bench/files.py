"""The file mailbox in turn with the bare file work it cannot do without: write, sync, rename, sync the folder."""

import os
import time
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any, Protocol

import msgspec

from bench.calls import at
from bench.plan import BODY, Plan
from bench.scratch import progress, scratch
from postoffice_files import MailboxManager

SEND = "send"
CYCLE = "send, poll, mark processed"
BARE = "bare files"
OURS = "ours"
_BLOCK = 10
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)


class FilePace(msgspec.Struct, frozen=True):
    """One measurement."""

    per_second: float
    p50_millis: float
    p99_millis: float
    cpu_micros: float


class FileWork(msgspec.Struct, frozen=True):
    """One piece of work, done one way: the medians, and the samples they come from."""

    what: str
    way: str
    median: FilePace
    samples: list[FilePace]


class Way(Protocol):
    """A way to have mail in files, in a folder of its own."""

    name: str

    def open(self, root: Path) -> dict[str, Callable[[], object]]:
        """What can be done, by name."""


class Bare:
    """Nothing but the calls that make a message durable, and those that move it away when it is done."""

    name = BARE

    def open(self, root: Path) -> dict[str, Callable[[], object]]:
        """Two folders, held open."""
        inbox, processed = root / "inbox", root / "processed"
        for folder in (inbox, processed):
            folder.mkdir()
        folders = [os.open(folder, _FOLDER) for folder in (inbox, processed)]
        body, numbers = BODY.encode(), count()

        def send() -> str:
            name = f"{next(numbers):012}.msg.json"
            temporary = inbox / f".{name}.tmp"
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            os.write(descriptor, body)
            os.fsync(descriptor)
            os.close(descriptor)
            temporary.rename(inbox / name)
            os.fsync(folders[0])
            return name

        def cycle() -> None:
            send()
            (name,) = os.listdir(inbox)  # noqa: PTH208 - the plainest there is
            (inbox / name).read_bytes()
            (inbox / name).rename(processed / name)
            for folder in reversed(folders):
                os.fsync(folder)

        return {SEND: send, CYCLE: cycle}


class Ours:
    """The library as its users call it."""

    name = OURS

    def open(self, root: Path) -> dict[str, Callable[[], object]]:
        """Two agents, the one writing to the other."""
        mail = MailboxManager(root)
        for name in ("sender", "reader"):
            mail.register(name)
        message: dict[str, Any] = {"content": BODY}

        def send() -> None:
            mail.send("sender", "reader", message)

        def cycle() -> None:
            send()
            (taken,) = mail.poll("reader")
            mail.mark_processed("reader", taken["filename"])

        return {SEND: send, CYCLE: cycle}


def measure_files(plan: Plan) -> list[FileWork]:
    """Each piece of work each way, a little of each in turn, so that a noisy moment hits both."""
    ways: Sequence[Way] = (Bare(), Ours())
    rows = []
    for what in (SEND, CYCLE):
        samples: dict[str, list[FilePace]] = {way.name: [] for way in ways}
        for number in range(plan.rounds):
            progress(f"files: {what}, round {number + 1} of {plan.rounds}")
            with scratch() as folder:
                works = [(way.name, _Worker(way.open(_made(folder / str(place)))[what])) for place, way in enumerate(ways)]
                until = time.perf_counter() + plan.warm_up + plan.window * len(works)
                while time.perf_counter() < until:
                    works.reverse()
                    for _, worker in works:
                        worker.work()
                for way, worker in works:
                    samples[way].append(worker.pace())
        rows += [FileWork(what, way, _median(taken), taken) for way, taken in samples.items()]
    return rows


class _Worker:
    """Does its work in small blocks, of which the first only warms up."""

    def __init__(self, work: Callable[[], object]) -> None:
        self._work = work
        self._times: list[float] = []
        self._cpu = 0.0
        self._warm = False

    def work(self) -> None:
        cpu, times = time.process_time(), []
        for _ in range(_BLOCK):
            began = time.perf_counter()
            self._work()
            times.append(time.perf_counter() - began)
        if self._warm:
            self._cpu += time.process_time() - cpu
            self._times += times
        self._warm = True

    def pace(self) -> FilePace:
        count = max(len(self._times), 1)
        took = sum(self._times) or 1.0
        return FilePace(len(self._times) / took, at(self._times, 0.5) * 1e3, at(self._times, 0.99) * 1e3, self._cpu / count * 1e6)


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _median(samples: list[FilePace]) -> FilePace:
    return FilePace(
        median(sample.per_second for sample in samples),
        median(sample.p50_millis for sample in samples),
        median(sample.p99_millis for sample in samples),
        median(sample.cpu_micros for sample in samples),
    )
