"""Ten thousand who listen and two thousand who wait, on one server process: what each costs in memory, and how soon mail reaches them."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from bench.calls import at
from bench.crowd import SOCKETS, WAITS, Delays, Gather, Write
from bench.house import House, our_house
from bench.plan import Plan
from bench.scratch import progress, scratch, synced_writes
from postoffice.serve.descriptors import raise_limit

FLOOR = "a bare synced write"
_FEW = 100
"""Connections among which a delay is that of an idle server."""
_SPARE = 200
_PATIENCE = 60.0


class Load(msgspec.Struct, frozen=True):
    """The server with so many connections of a kind, in addition to those of the rows before."""

    kind: str
    connections: int
    megabytes: float
    """Resident in all."""
    kilobytes_each: float
    """What each connection added, of those that came since the row before."""
    per_second: int
    delays: Delays


class Told:
    """The process of the crowd, told what to do."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def gather(self, kind: str, count: int) -> int:
        """So many more of a kind."""
        return msgspec.json.decode(self._tell(Gather(kind, count)), type=int)

    def write(self, kind: str, rate: int, seconds: float) -> Delays:
        """Mail to them."""
        return msgspec.json.decode(self._tell(Write(kind, rate, seconds)), type=Delays)

    def _tell(self, order: Gather | Write) -> bytes:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(msgspec.json.encode(order) + b"\n")
        self._process.stdin.flush()
        if not (line := self._process.stdout.readline()):
            message = "the crowd of clients is gone"
            raise RuntimeError(message)
        return line


def measure_load(plan: Plan) -> list[Load]:
    """A few of a kind, then all of it: sockets first, then waits beside them."""
    most = raise_limit()
    if most is not None and plan.sockets + plan.waits + _SPARE > most:
        message = f"{plan.sockets + plan.waits:,} connections need as many open files; this system allows {most:,} (ulimit -Hn)"
        raise RuntimeError(message)
    stages = [(kind, count) for kind, all in ((SOCKETS, plan.sockets), (WAITS, plan.waits)) for count in (min(_FEW, all // 2), all)]
    with scratch() as folder:
        with our_house("load", folder):
            pass  # the first start makes the tables, and keeps in memory what that takes; every later one does without
        return [_floor(plan), *_measure(stages, folder, plan)]


def _floor(plan: Plan) -> Load:
    """What the disk alone takes at the same rate: no mail that is on disk before it is answered can be sooner."""
    progress("load: the disk alone")
    times = synced_writes(int(plan.load_rate * plan.load_seconds), 1 / plan.load_rate)
    return Load(FLOOR, 0, 0.0, 0.0, plan.load_rate, Delays(len(times), 0.0, 0.0, *(at(times, part) * 1e3 for part in (0.5, 0.99))))


def _measure(stages: list[tuple[str, int]], folder: Path, plan: Plan) -> list[Load]:
    with our_house("load", folder) as house, _crowd(house) as crowd:
        rows: list[Load] = []
        there = dict.fromkeys((SOCKETS, WAITS), 0)
        for kind, count in stages:
            progress(f"load: {count:,} {kind}")
            before, added = house.resident(), count - there[kind]
            there[kind] = crowd.gather(kind, added)
            delays = crowd.write(kind, plan.load_rate, plan.load_seconds)
            after = house.resident()
            rows.append(Load(kind, there[kind], after / 1e6, (after - before) / added / 1e3, plan.load_rate, delays))
    return rows


@contextmanager
def _crowd(house: House) -> Iterator[Told]:
    command = [sys.executable, "-m", "bench.crowd", str(house.port)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            yield Told(process)
        finally:
            # Hanging up on everybody at once is not what is measured: the server ends first or the crowd is cut off.
            process.kill()
            process.wait(_PATIENCE)
