"""Whether the office grows while it works: resident memory before and after many cycles, in a process of its own."""

import asyncio
import subprocess
import sys

import msgspec
import psutil

from bench.clients import run
from bench.ours import Ring
from bench.plan import Plan
from bench.scratch import progress, scratch
from postoffice.office import PostOffice
from postoffice.store.sqlite.engine import SQLite
from postoffice.store.store import Store
from postoffice.wake.local import LocalWake

_CLIENTS = 16
_STEPS = 5
_MEGABYTE = 1 << 20


class Growth(msgspec.Struct, frozen=True):
    """Megabytes resident after the warm-up, and after each further part of the cycles."""

    cycles: int
    megabytes: list[float]

    @property
    def grown(self) -> float:
        """How much more at the end than at the beginning."""
        return self.megabytes[-1] - self.megabytes[0]


def growth(plan: Plan) -> Growth:
    """Measure in a child, where nothing else has run before."""
    progress(f"watching memory over {plan.memory_cycles:,} cycles")
    command = [sys.executable, "-m", "bench.memory", msgspec.json.encode(plan).decode()]
    child = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return msgspec.json.decode(child.stdout, type=Growth)


async def _measure(plan: Plan) -> Growth:
    with scratch() as folder:
        async with PostOffice(Store(SQLite(folder / "mailbox.db")), LocalWake()) as office:
            ring = Ring(office, _CLIENTS)
            await ring.open()
            await _go_round(ring, plan.memory_warm_up)
            megabytes = [_resident()]
            for _ in range(_STEPS):
                await _go_round(ring, plan.memory_cycles // _STEPS)
                megabytes.append(_resident())
    return Growth(plan.memory_cycles, megabytes)


async def _go_round(ring: Ring, cycles: int) -> None:
    async def work(client: int) -> None:
        left = cycles // _CLIENTS
        while left:
            left -= await ring.cycle(client)

    await asyncio.gather(*(work(client) for client in range(_CLIENTS)))


def _resident() -> float:
    return float(psutil.Process().memory_info().rss / _MEGABYTE)


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(run(_measure(msgspec.json.decode(sys.argv[1], type=Plan)))))
