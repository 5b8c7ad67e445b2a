"""Somebody else's server, on a port of its own until it is no longer needed."""

import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import psutil

_PATIENCE = 30.0


class Daemon:
    """A running program."""

    def __init__(self, port: int, process: subprocess.Popen[bytes]) -> None:
        self.port = port
        self._process = psutil.Process(process.pid)

    def cpu(self) -> float:
        """CPU seconds of the process so far."""
        times = self._process.cpu_times()
        return float(times.user + times.system)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def daemon(command: Sequence[str], port: int) -> Iterator[Daemon]:
    """Start a program, and wait until its port is open."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _await_port(port, process)
        yield Daemon(port, process)
    finally:
        process.terminate()
        process.wait(_PATIENCE)


def _await_port(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + _PATIENCE
    while process.poll() is None and time.monotonic() < until:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1):
                return
        except OSError:
            time.sleep(0.05)
    message = f"what should listen on port {port} did not start"
    raise RuntimeError(message)
