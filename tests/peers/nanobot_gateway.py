"""A real nanobot gateway with our channel, as a user configures it, and the chat in which its person talks to it."""

import json
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from postoffice_files import MailboxManager
from tests.peers.outside import ROOT
from tests.serve.running import free_port

OLD, NEW = ".venv-nanobot02", ".venv-nanobot03"
PATIENCE = 90.0
T = TypeVar("T")


def until(check: Callable[[], T], patience: float = PATIENCE, why: Callable[[], object] = lambda: "") -> T:
    """What the check gives, once it gives something."""
    end = time.monotonic() + patience
    while not (found := check()):
        assert time.monotonic() < end, why()
        time.sleep(0.1)
    return found


class RealNanobot:
    """One process and its home."""

    def __init__(self, environment: str, home: Path, agent: str, mailboxes: Path, model: str, **settings: Any) -> None:
        self.agent = agent
        self.mailboxes = mailboxes
        self._program = ROOT / environment / "bin" / "nanobot"
        self._home = home
        self._port, self._health = free_port(), free_port()
        self._process: subprocess.Popen[bytes] | None = None
        mailbox = {"enabled": True, "agentId": agent, "pollInterval": 0.2, "mailboxesRoot": str(mailboxes)} | settings
        talk = {"enabled": True, "port": self._port, "websocketRequiresToken": False, "streaming": False}
        config = {
            "agents": {
                "defaults": {
                    "model": "fake-model",
                    "provider": "custom",
                    "workspace": str(home / "workspace"),
                    "dream": {"enabled": False},
                }
            },
            "channels": {"mailbox": mailbox, "websocket": talk},
            "providers": {"custom": {"apiKey": "none", "apiBase": model}},
            "gateway": {"port": self._health, "heartbeat": {"enabled": False}},
        }
        home.mkdir(parents=True)
        (home / "config.json").write_text(json.dumps(config))

    def start(self) -> None:
        assert self._program.exists(), f"{self._program} is not there: `make peers` installs it"
        command = [str(self._program), "gateway", "--foreground", "--config", str(self._home / "config.json")]
        environment = {"PATH": os.environ["PATH"], "HOME": str(self._home), "NO_PROXY": "127.0.0.1"}
        with (self._home / "gateway.log").open("ab") as log:
            self._process = subprocess.Popen(command, cwd=self._home, env=environment, stdout=log, stderr=log, start_new_session=True)
        until(self._live, why=self.log)

    def stop(self) -> None:
        """End it as a user does."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it and all it started, at once."""
        self._end(signal.SIGKILL)

    @contextmanager
    def chat(self) -> Iterator["Chat"]:
        """A chat of its person with it."""
        with connect(f"ws://127.0.0.1:{self._port}/?client_id=person") as connection:
            yield Chat(connection)

    def card(self) -> dict[str, Any]:
        """How others see it."""
        return MailboxManager(self.mailboxes).get_agent(self.agent) or {}

    def log(self) -> str:
        return (self._home / "gateway.log").read_text()

    def _live(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, self.log()
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._health}/health", timeout=5):
                return self.card().get("status", "offline") != "offline" and "127.0.0.1" in self.log()
        except (urllib.error.URLError, OSError):
            return False

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            try:
                os.killpg(self._process.pid, how)
                self._process.wait(PATIENCE)
            finally:
                if self._process.poll() is None:
                    os.killpg(self._process.pid, signal.SIGKILL)
                    self._process.wait()
                self._process = None


class Chat:
    """What is said on both sides."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._heard: list[str] = []

    def say(self, text: str) -> None:
        self._connection.send(text)

    def heard(self) -> list[str]:
        """All that the person was shown so far."""
        while True:
            try:
                event = json.loads(self._connection.recv(timeout=0.05))
            except (TimeoutError, ConnectionClosed):
                return self._heard
            if event.get("event") == "message" and "kind" not in event:
                self._heard.append(event["text"])

    def hears(self, words: str) -> list[str]:
        """Wait until the person was shown this."""
        until(lambda: any(words in text for text in self.heard()), why=self.heard)
        return self._heard
