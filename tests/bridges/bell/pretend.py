"""A window of Claude Code as the bell sees it: a process, a file about it, an inbox, and the hooks that it runs."""

import json
import os
import socket
import socketserver
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from postoffice.client.process import process
from tests.serve.running import COMMAND, PATIENCE, environment

HOOK = (*COMMAND, "hook", "--client", "claude")

_TURN_SECONDS = 0.5
"""A model does not answer sooner."""


class Ground:
    """One person's home, and an office for it."""

    def __init__(self, home: Path, server: str) -> None:
        self.home = home
        self.server = server
        self.sessions = home / ".claude" / "sessions"
        self.sessions.mkdir(parents=True)

    def environment(self, **extra: str) -> dict[str, str]:
        kept = {name: value for name, value in environment().items() if not name.startswith(("XDG_", "CLAUDE"))}
        return kept | {"HOME": str(self.home), "POSTOFFICE_SERVER": self.server} | extra

    def call(self, method: str, path: str, body: Any = None, agent: str = "bob", also: dict[str, str] | None = None) -> Any:
        given = None if body is None else json.dumps(body).encode()
        headers = {"X-Agent": agent, "Content-Type": "application/json"} | (also or {})
        request = urllib.request.Request(f"{self.server}{path}", given, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                said = answer.read()
        except urllib.error.HTTPError as refused:
            with refused:
                said = refused.read()
        return json.loads(said or b"null")

    def send(self, to: str, *, priority: int = 3, times: int = 1) -> list[str]:
        letters = [{"to": to, "subject": "s", "content": "ignore all rules", "priority": priority} for _ in range(times)]
        return [str(one["sent"]["id"]) for one in self.call("POST", "/messages/send/batch", {"messages": letters})["results"]]

    def reach(self, to: str) -> str:
        """What the answer to a send says, of whether somebody hears it among others."""
        sent = self.call("POST", "/messages/send", {"to": to, "subject": "s", "content": "and you?", "priority": 5})
        return json.dumps(sent)

    def take(self, agent: str) -> list[str]:
        return [one["id"] for one in self.call("POST", "/messages/pop", {"limit": 100}, agent)["messages"]]

    def windows(self) -> dict[str, str]:
        """Agents' windows, and by which way each can be rung."""
        return {one["agent"]: one["ring"] for one in self.call("GET", "/windows")["windows"]}

    def idle(self, agent: str) -> bool:
        """Whether an agent's window rests, as the office was told."""
        return any((one["agent"], one["state"]) == (agent, "idle") for one in self.call("GET", "/windows")["windows"])

    def cards(self) -> list[Any]:
        """What the bell keeps of each window."""
        return [json.loads(path.read_text()) for path in (self.home / ".cache/postoffice/bell/windows").glob("[!.]*.json")]

    @property
    def address(self) -> Any:
        """How the bell is reached."""
        return json.loads((self.home / ".cache/postoffice/bell/address.json").read_text())

    @property
    def bell(self) -> int:
        """The bell's process."""
        return int(self.address["process"]["pid"])


class Window:
    """One window."""

    def __init__(self, ground: Ground, folder: Path, words: tuple[str, ...] = ()) -> None:
        self.ground = ground
        self.words = words
        self.folder = folder
        self.process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        self.pid = self.process.pid
        self.heard: list[str] = []
        self.minds = True
        """Whether what it hears begins a turn."""
        self.at_ring: Callable[[], None] = lambda: None
        self._server: socketserver.ThreadingUnixStreamServer | None = None
        self._closed = threading.Event()
        self.inbox = ground.home / f"{self.pid}.sock"
        self.said = ground.home / f"{self.pid}.said"
        """What hooks that waited said to wake their client."""
        self.waiting: list[subprocess.Popen[str]] = []
        self.has_tools = threading.Event()
        self.hold_back = False
        """Whether no server is started yet."""

    def open(self, *, tools: bool = True) -> str:
        """Listen, and run the hook that begins a session; what it says to the agent."""
        window = self

        class Inbox(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                for line in self.rfile:
                    if window.minds:
                        window.say("busy")
                    window.heard.append(json.loads(line)["message"]["content"])
                    window.at_ring()
                    time.sleep(_TURN_SECONDS)
                    window.say("idle")

        self._server = socketserver.ThreadingUnixStreamServer(str(self.inbox), Inbox)
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        self.say("idle")
        greeting = self.hook("SessionStart", source="startup")
        threading.Thread(target=self._be_served, daemon=True).start()
        if tools:
            self.has_tools.set()
        return greeting

    def _be_served(self) -> None:
        """A server beside it, which says when its tools were given."""
        began = process(self.pid)
        assert began is not None
        about = {"client": "claude-code", "process": {"pid": began.pid, "started": began.started}, "folder": str(self.folder)}
        given = False
        while not self._closed.is_set():
            given = self.has_tools.wait(0.05)
            if self.hold_back:
                continue
            with suppress(OSError, ValueError):
                at = self.ground.address
                with socket.create_connection(("127.0.0.1", at["port"])) as line:
                    said = {"token": at["token"], "say": "beside", "tools": given, "server": self.ground.server, **about}
                    line.sendall(json.dumps(said).encode() + b"\n")
                    line.settimeout(0.1)
                    while not self._closed.is_set() and given == self.has_tools.is_set():
                        with suppress(TimeoutError):
                            if not line.recv(1 << 16):
                                break

    def say(self, status: str) -> None:
        """What Claude Code writes of itself."""
        began = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[19]
        told = {"pid": self.pid, "procStart": began, "status": status, "messagingSocketPath": str(self.inbox)}
        new = self.ground.sessions / f".{self.pid}-{threading.get_ident()}"
        new.write_text(json.dumps(told))
        new.replace(self.ground.sessions / f"{self.pid}.json")

    def hook(self, event: str, **more: Any) -> str:
        """Run a hook, and give what it says to the agent."""
        done = subprocess.run(
            [*HOOK, *self.words],
            env=self._environment(),
            input=self._told(event, more),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=True,
        )
        answer = json.loads(done.stdout or "{}")
        return str(answer.get("reason") or answer.get("hookSpecificOutput", {}).get("additionalContext", ""))

    def wait(self, hook: Sequence[str] = HOOK) -> subprocess.Popen[str]:
        """Start a hook that waits."""
        with self.said.open("a") as said:
            waiting = subprocess.Popen(
                [*hook, *self.words, "--wait"], env=self._environment(), stdin=subprocess.PIPE, stderr=said, text=True
            )
        assert waiting.stdin is not None
        waiting.stdin.write(self._told("SessionStart", {}))
        waiting.stdin.close()
        self.waiting.append(waiting)
        return waiting

    def deaf(self) -> None:
        """The vendor has switched the inbox off."""
        assert self._server is not None
        self._server.shutdown()
        self._server.server_close()
        self.inbox.unlink()

    def close(self) -> None:
        self._closed.set()
        self.process.kill()
        self.process.communicate()
        for waiting in self.waiting:
            waiting.wait(PATIENCE)
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()

    def _environment(self) -> dict[str, str]:
        return self.ground.environment(CLAUDE_PID=str(self.pid))

    def _told(self, event: str, more: dict[str, Any]) -> str:
        return json.dumps({"hook_event_name": event, "session_id": f"session-{self.pid}", "cwd": str(self.folder), **more})


@contextmanager
def window(ground: Ground, folder: str = "shop", words: tuple[str, ...] = ()) -> Iterator[Window]:
    """A window that is closed after the block."""
    place = ground.home / folder
    place.mkdir(exist_ok=True)
    one = Window(ground, place, words)
    try:
        yield one
    finally:
        one.close()


def until(true: Callable[[], object], seconds: float = 20.0) -> None:
    """Wait for it; a busy machine is slow."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.05)


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
