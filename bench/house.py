"""Servers as processes of their own: ours as users run it, and the bare echo."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

_PATIENCE = 30.0


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


@contextmanager
def our_house(name: str, folder: Path, database: str | None = None) -> Iterator[House]:
    """Our own server, open, on SQLite unless told otherwise."""
    where = [] if database is None else ["--database", database]
    data = folder / name
    with running(name, "postoffice", "serve", "--data", str(data), "--log-level", "error", *where, "--port") as house:
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
