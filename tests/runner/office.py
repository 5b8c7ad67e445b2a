"""A real server that can be killed and started again, and callers who ask it things."""

import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import httpx

from tests.engines import furnish
from tests.serve.running import COMMAND, PATIENCE, answers, environment, free_port
from tests.warm import start

T = TypeVar("T")


def until(check: Callable[[], T], patience: float = 45.0, told: Callable[[], str] = str) -> T:
    """What the check gives, once it gives something."""
    give_up = time.monotonic() + patience
    while not (found := check()):
        assert time.monotonic() < give_up, f"it never came to pass\n{told()}"
        time.sleep(0.03)
    return found


class Office:
    """One data directory and port, through any number of deaths."""

    def __init__(self, here: Path, *flags: str, **settings: str) -> None:
        self.here = here
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._settings = settings
        furnish(here / "data")
        self._command = [*COMMAND, "serve", "--data", str(here / "data"), "--port", str(self.port), "--log-level", "error", *flags]
        self._process: subprocess.Popen[bytes] | None = None
        self._http = httpx.Client(base_url=self.url, timeout=PATIENCE, verify=False, trust_env=False)

    def start(self) -> None:
        with (self.here / "server.log").open("ab") as log:
            self._process = start.popen(self._command, cwd=self.here, env=environment(self._settings), stdout=log, stderr=log)
        until(lambda: answers(self.port), told=(self.here / "server.log").read_text)

    def kill(self) -> None:
        """As kill -9 does it."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(PATIENCE)

    def stop(self) -> None:
        """As a service manager does it."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(PATIENCE)

    def close(self) -> None:
        self.kill()
        self._http.close()

    def call(self, agent: str, path: str, body: Any = None, *, method: str | None = None, key: str | None = None) -> Any:
        headers = {"X-Agent": agent} if key is None else {"X-API-Key": key} if key else {}
        verb = method or ("GET" if body is None else "POST")
        answer = self._http.request(verb, path, json=body, headers=headers)
        assert answer.is_success, answer.text
        return answer.json()

    def register(self, name: str) -> str:
        """An agent's key."""
        return str(self.call(name, "/agents/register", {"name": name}, key="")["api_key"])

    def send(self, sender: str, to: str, content: str = "hello", **fields: Any) -> dict[str, Any]:
        body = {"to": to, "content": content, "subject": "work"} | fields
        return dict(self.call(sender, "/messages/send", {name: value for name, value in body.items() if value is not None}))

    def waiting(self, agent: str) -> list[dict[str, Any]]:
        """What waits for an agent, the office's own notices aside. Takes nothing."""
        return [found for found in self.call(agent, "/messages/waiting")["messages"] if found["type"] != "notice"]

    def notices(self, agent: str) -> list[str]:
        return [found["content"] for found in self.call(agent, "/messages/waiting")["messages"] if found["type"] == "notice"]

    def standing(self, sender: str, message_id: str) -> dict[str, Any]:
        (only,) = self.call(sender, f"/messages/{message_id}/status")["standings"]
        return dict(only)

    def history(self, agent: str, session_id: str) -> list[str]:
        """What was said in a session, oldest first."""
        lines = self.call(agent, f"/sessions/{session_id}/history?limit=50&peek=true")["messages"]
        return [line["content"] for line in reversed(lines)]
