"""An office that a browser looks at: a real process, on a port that stays its own when it is opened again."""

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.engines import furnish
from tests.page.town import Town
from tests.serve.running import COMMAND, PATIENCE, environment, free_port, serving
from tests.warm import start

_SENDER = """
import json, sys, urllib.request
url, who, body = sys.argv[1:]
ask = urllib.request.Request(url + "/messages/send", body.encode(), {"X-Agent": who, "Content-Type": "application/json"})
urllib.request.urlopen(ask).read()
"""


class House:
    """A served office, and its owner's command line."""

    def __init__(self, folder: Path, *flags: str) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.town = Town(self.url)
        self._flags = flags
        self._running = ExitStack()
        self.log = ""

    def open(self) -> None:
        furnish(self.folder / "kept")
        words = (*COMMAND, "serve", "--port", str(self.port), "--data", "kept", *self._flags)
        self._process = self._running.enter_context(serving(*words, port=self.port, here=self.folder))

    def close(self) -> None:
        """Stop it as whoever runs it would; it takes no longer because somebody looks."""
        if self._process.poll() is None:
            self._process.terminate()
            _, said = self._process.communicate(timeout=PATIENCE)
            self.log += said
        self._running.close()

    def age(self, mailbox: str, *, hours: float) -> None:
        """What waits there has done so for longer."""
        with sqlite3.connect(self.folder / "kept" / "mailbox.db") as kept:
            micros = int(hours * 3_600_000_000)
            kept.execute("UPDATE deliveries SET created_at = created_at - ? WHERE mailbox = ? AND state = 'pending'", (micros, mailbox))

    @property
    def owner_key(self) -> str:
        return (self.folder / "kept" / "owner.key").read_text().strip()

    def run(self, *words: str, said: str = "", **variables: str) -> str:
        """What the command prints."""
        extra = {
            "POSTOFFICE_SERVER": self.url,
            "POSTOFFICE_DATA": str(self.folder / "kept"),
            "POSTOFFICE_CREDENTIALS": str(self.folder / "keys"),
            **variables,
        }
        done = start.run([*COMMAND, *words], cwd=self.folder, env=environment(extra), said=said, text=True, timeout=30)
        assert done.returncode == 0, done.stderr
        return str(done.stdout)

    def send_from_elsewhere(self, who: str, body: str) -> None:
        """A send by another process, which is over when this returns."""
        subprocess.run([sys.executable, "-c", _SENDER, self.url, who, body], check=True, timeout=30)


@contextmanager
def opened(folder: Path, *flags: str) -> Iterator[House]:
    house = House(folder, *flags)
    house.open()
    try:
        yield house
    finally:
        house.town.close()
        house.close()
