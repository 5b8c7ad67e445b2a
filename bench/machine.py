"""Where and with what the numbers were made."""

import os
import platform
import resource
import sqlite3
from importlib.metadata import version
from pathlib import Path

import msgspec
import psutil

from bench.scratch import BUILD
from bench.server import Server

_PACKAGES = (
    "postoffice",
    "asyncpg",
    "uvloop",
    "litequeue",
    "persist-queue",
    "huey",
    "pgqueuer",
    "procrastinate",
    "psycopg",
    "redis",
    "nats-py",
    "httpx2",
    "websockets",
)


class Machine(msgspec.Struct, frozen=True):
    """One machine at one time."""

    processor: str
    cores: int
    system: str
    filesystem: str
    python: str
    sqlite: str
    packages: dict[str, str]
    servers: dict[str, str] = {}
    """Of others: what was started, in which version."""

    def same_as(self, other: "Machine") -> bool:
        """Whether numbers from both belong side by side."""
        return msgspec.structs.replace(self, servers={}) == msgspec.structs.replace(other, servers={})

    def knowing(self, other: "Machine") -> "Machine":
        """The same, with the servers that were started another time."""
        return msgspec.structs.replace(self, servers=other.servers | self.servers)

    def lines(self) -> list[str]:
        """The machine, and the versions."""
        versions = {"Python": self.python, "SQLite": self.sqlite} | self.servers | self.packages
        return [
            f"{self.cores} cores, {self.processor}; {self.system}; {self.filesystem}",
            ", ".join(f"{name} {version}" for name, version in versions.items()),
        ]


class Company:
    """Who else was at work on this machine while we measured."""

    def __init__(self, server: Server | None) -> None:
        self._server = server
        self._before = self._read()

    def share(self) -> float:
        """Tell which part of all its CPU time went to others: not to us, our children or the server we started."""
        (total, others), (total_before, others_before) = self._read(), self._before
        return max(0.0, others - others_before) / max(total - total_before, 1.0)

    def _read(self) -> tuple[float, float]:
        total, others = _times()
        return total, others - (0.0 if self._server is None else self._server.cpu())


def this_machine(servers: dict[str, str]) -> Machine:
    """Look around."""
    return Machine(
        processor=_processor(),
        cores=os.cpu_count() or 1,
        system=f"{platform.system()} {platform.release()}",
        filesystem=_filesystem(),
        python=platform.python_version(),
        sqlite=sqlite3.sqlite_version,
        packages={name: version(name) for name in _PACKAGES},
        servers=servers,
    )


def _times() -> tuple[float, float]:
    """Seconds of all cores so far, and those that they worked for others than us and our children."""
    times = psutil.cpu_times()
    # Guests are counted in user time already.
    total = sum(times) - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0)
    idle = times.idle + getattr(times, "iowait", 0.0)
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return total, total - idle - sum(usage.ru_utime + usage.ru_stime for usage in usages)


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine())


def _filesystem() -> str:
    here = BUILD.absolute()
    mounts = [part for part in psutil.disk_partitions(all=True) if here.is_relative_to(part.mountpoint)]
    return str(max(mounts, key=lambda part: len(part.mountpoint)).fstype) if mounts else "unknown"
