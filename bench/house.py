"""Servers as processes of their own: ours as users run it, and the bare echo."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil

_PATIENCE = 30.0
_SEED001 = ".venv-seed001/bin/python"


class House:
    """A running web server."""

    def __init__(self, name: str, port: int, process: subprocess.Popen[bytes]) -> None:
        self.name = name
        self.port = port
        self._process = psutil.Process(process.pid)

    def cpu(self) -> float:
        """CPU seconds of the process so far."""
        times = self._process.cpu_times()
        return float(times.user + times.system)

    @property
    def ports(self) -> tuple[int, ...]:
        """Where clients connect, in turn."""
        return (self.port,)

    def resident(self) -> int:
        """Bytes of memory the process holds."""
        return int(self._process.memory_info().rss)


class Street:
    """Several servers side by side, as behind a load balancer."""

    def __init__(self, name: str, houses: Sequence[House]) -> None:
        self.name = name
        self.houses = houses

    @property
    def ports(self) -> tuple[int, ...]:
        """Where clients connect, in turn."""
        return tuple(house.port for house in self.houses)

    def cpu(self) -> float:
        """CPU seconds of all of them so far."""
        return sum(house.cpu() for house in self.houses)


@contextmanager
def our_house(name: str, folder: Path, database: str | None = None, wake: str | None = None) -> Iterator[House]:
    """Our own server, open, on SQLite unless told otherwise."""
    where = [] if database is None else ["--database", database]
    where += [] if wake is None else ["--wake", wake]
    data = folder / name
    with running(name, "postoffice", "serve", "--data", str(data), "--log-level", "error", *where, "--port") as house:
        yield house


@contextmanager
def seed_house(name: str, folder: Path) -> Iterator[House]:
    """Seed 001's own design."""
    with running(name, "bench.seed001", str(folder / "seed001.db"), python=_SEED001) as house:
        yield house


@contextmanager
def echo_house() -> Iterator[House]:
    """The bare echo."""
    with running("FastAPI echo", "bench.echo") as house:
        yield house


@contextmanager
def running(name: str, *module: str, python: str = sys.executable) -> Iterator[House]:
    """A module that takes its port as the last argument."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    environment = {name: value for name, value in os.environ.items() if not name.startswith("POSTOFFICE_")}
    process = subprocess.Popen([python, "-m", *module, str(port)], env=environment)
    try:
        _await_health(port, process)
        yield House(name, port, process)
    finally:
        process.terminate()
        process.wait(_PATIENCE)


def _await_health(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + _PATIENCE
    while process.poll() is None and time.monotonic() < until:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    message = f"the server on port {port} did not start"
    raise RuntimeError(message)
