"""NATS, with a JetStream that syncs what is published before it answers."""

import json
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.daemon import Daemon, daemon, free_port

_CONFIG = """
listen: 127.0.0.1:{port}
http: 127.0.0.1:{watched}
jetstream {{ store_dir: "{store}", sync_interval: always }}
"""


@contextmanager
def nats_server(folder: Path) -> Iterator[Daemon]:
    """A server of this environment's own; its setting is read back."""
    port, watched = free_port(), free_port()
    config = folder / "nats.conf"
    config.write_text(_CONFIG.format(port=port, watched=watched, store=folder / "jetstream"))
    with daemon([_program(), "-c", str(config)], port) as running:
        with urllib.request.urlopen(f"http://127.0.0.1:{watched}/varz", timeout=5) as answer:
            told = json.load(answer)["jetstream"]["config"]
        if told.get("sync_always") is not True:
            message = f"JetStream does not sync always: {told}"
            raise RuntimeError(message)
        yield running


def nats_version() -> str:
    """As the program says it."""
    said = subprocess.run([_program(), "--version"], check=True, capture_output=True, text=True).stdout
    return said.split()[-1].removeprefix("v")


def _program() -> str:
    beside = Path(sys.executable).with_name("nats-server")
    return str(beside) if beside.exists() else shutil.which("nats-server") or "nats-server"
