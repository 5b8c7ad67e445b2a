"""The server in a process of its own, started each way it may be, with everything it said at the end."""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.engines import furnish
from tests.serve.running import COMMAND, PATIENCE, free_port, serving

WAYS = ("ours", "uvicorn")


class Process(NamedTuple):
    """A running server."""

    url: str
    popen: subprocess.Popen[str]
    data: Path

    @property
    def ws_url(self) -> str:
        return self.url.replace("http", "ws", 1) + "/ws"

    @property
    def owner_key(self) -> str:
        return (self.data / "owner.key").read_text().strip()

    def stop(self) -> str:
        """Tell it to stop, and give all that it said."""
        self.popen.terminate()
        return self.said()

    def said(self) -> str:
        out, err = self.popen.communicate(timeout=PATIENCE)
        return out + err


@contextmanager
def started(way: str, here: Path, *flags: str, extra: Mapping[str, str] | None = None) -> Iterator[Process]:
    """Our own command, or plain uvicorn on the application."""
    port = free_port()
    ours = (*COMMAND, "serve", "--port", str(port))
    plain = (sys.executable, "-W", "error", "-m", "uvicorn", "postoffice.serve.asgi:app", "--port", str(port))
    settings = {"POSTOFFICE_DATA": "kept", **(extra or {})}
    furnish(here / "kept")
    with serving(*(ours if way == "ours" else plain), *flags, port=port, here=here, extra=settings) as popen:
        yield Process(f"http://127.0.0.1:{port}", popen, here / "kept")
