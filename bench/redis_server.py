"""Redis, syncing its append-only file before it answers."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from redis import Redis

from bench.daemon import Daemon, daemon, free_port
from bench.debian import program

_DURABLE = {"appendonly": "yes", "appendfsync": "always", "no-appendfsync-on-rewrite": "no"}


@contextmanager
def redis_server(folder: Path) -> Iterator[Daemon]:
    """A server of the run's own; its settings are read back."""
    port = free_port()
    place = folder / "redis"
    place.mkdir()
    # Snapshots would be taken in the middle of the measurement, and the file written anew.
    kept = {**_DURABLE, "save": "", "auto-aof-rewrite-percentage": "0", "dir": str(place), "bind": "127.0.0.1", "port": str(port)}
    command = [_program(), *(word for name, value in kept.items() for word in (f"--{name}", value))]
    with daemon(command, port) as running:
        with Redis(port=port) as asking:
            found = {name: asking.config_get(name)[name] for name in _DURABLE}
        if found != _DURABLE:
            message = f"Redis is not durable: {found}"
            raise RuntimeError(message)
        yield running


def redis_version() -> str:
    """As the program says it."""
    said = subprocess.run([_program(), "--version"], check=True, capture_output=True, text=True).stdout
    return next(word.removeprefix("v=") for word in said.split() if word.startswith("v="))


def _program() -> str:
    return program("redis-server", "redis-server")
