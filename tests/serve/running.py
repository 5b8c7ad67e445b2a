"""The command as a user runs it: a real process, a real port."""

import itertools
import os
import random
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.warm import start
from tests.warm.start import COMMAND

__all__ = ["ANEW", "COMMAND", "PATIENCE", "answers", "environment", "free_port", "run", "serving"]

PATIENCE = 60.0
"""Seconds: a busy machine takes a quarter of them to start a server."""
ANEW = (*COMMAND[:-1], "postoffice.__main__")
"""The command with all its loading, for tests of how it starts; `COMMAND` is started warm, where nothing else is asked of it."""
_SAID = 1 << 20
"""Bytes that a server may say before anybody listens; a full pipe stops it, and the usual one is full after some hundred requests."""
_SYSTEMS_OWN = 32_768
"""From here on the system gives out ports by itself, to whoever asks for any."""


def _ports_of_this_worker() -> Iterator[int]:
    worker, workers = os.environ.get("PYTEST_XDIST_WORKER", "gw0"), os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")
    ours = list(range(20_000 + int(worker.removeprefix("gw")), _SYSTEMS_OWN, int(workers)))
    random.SystemRandom().shuffle(ours)  # another run beside this one begins elsewhere
    return itertools.cycle(ours)


_PORTS = _ports_of_this_worker()


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """This environment without anything that would configure the program under test."""
    ours = ("POSTOFFICE_", "DATABASE_URL", "WS_PING_")
    plain = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return plain | {"POSTOFFICE_AUTOSTART": "0"} | dict(extra or {})  # no test opens an office in anybody's home


def run(*arguments: str, here: Path, extra: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command to its end."""
    return subprocess.run(
        [*COMMAND, *arguments], cwd=here, env=environment(extra), capture_output=True, text=True, timeout=PATIENCE, check=False
    )


def free_port() -> int:
    """A port that stays free until it is used: one that the system chose may be given to somebody else as soon as it is let go."""
    for port in _PORTS:
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError


@contextmanager
def serving(*command: str, port: int, here: Path, extra: Mapping[str, str] | None = None) -> Iterator[subprocess.Popen[str]]:
    """A server that answers before the block begins and is stopped after it."""
    process = start.popen(
        command, cwd=here, env=environment(extra), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, pipesize=_SAID
    )
    try:
        until = time.monotonic() + PATIENCE
        while not answers(port):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < until, "the server did not answer"
            time.sleep(0.05)
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)


def answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
