"""An office, a home, and a bell that is ended with the test."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.bridges.bell.pretend import Ground
from tests.serve.running import COMMAND, free_port, serving


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[Ground]:
    port = free_port()
    ground = Ground(tmp_path / "home", f"http://127.0.0.1:{port}")
    with serving(
        *COMMAND, "serve", "--data", str(tmp_path / "data"), "--port", str(port), "--log-level", "error", port=port, here=tmp_path
    ):
        yield ground
        with suppress(OSError, ValueError):
            os.kill(ground.bell, signal.SIGTERM)
