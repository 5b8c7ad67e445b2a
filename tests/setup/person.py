"""Somebody with a home directory who runs the command."""

import contextlib
import io
import json
import os
import subprocess
import tomllib
from collections.abc import Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any
from unittest import mock

from postoffice.cli.main import main
from tests.serve.running import COMMAND, PATIENCE, environment
from tests.warm import start

AGENT = "coder"
FILES = {
    "claude": ".claude.json",
    "codex": ".codex/config.toml",
    "gemini": ".gemini/settings.json",
    "opencode": ".config/opencode/opencode.json",
    "kilo": ".config/kilo/kilo.jsonc",
    "copilot": ".copilot/mcp-config.json",
    "qwen": ".qwen/settings.json",
    "cursor": ".cursor/mcp.json",
    "openclaw": ".openclaw/openclaw.json",
    "nanobot": ".nanobot/config.json",
}
_ELSEWHERE = ("CLAUDE", "CODEX", "GEMINI", "OPENCODE", "OPENCLAW", "KILO", "QWEN", "COPILOT", "XDG_", "PYTHONSTARTUP", "MAILBOX_")


class Person:
    """One home, and the office its clients are pointed at."""

    def __init__(self, home: Path, server: str) -> None:
        self.home = home
        self.server = server
        self.work = home / "work"
        self.work.mkdir(parents=True, exist_ok=True)

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        """This machine's, but for what would lead to somebody else's files."""
        kept = {name: value for name, value in environment().items() if not name.startswith(_ELSEWHERE)}
        ours = {"HOME": str(self.home), "POSTOFFICE_SERVER": self.server, "POSTOFFICE_CREDENTIALS": str(self.home / "keys")}
        return kept | ours | dict(extra or {})

    def run(self, *arguments: str, extra: Mapping[str, str] | None = None, said: str = "") -> subprocess.CompletedProcess[str]:
        return start.run([*COMMAND, *arguments], cwd=self.work, env=self.environment(extra), said=said, text=True, timeout=PATIENCE)

    def setup(self, *arguments: str, extra: Mapping[str, str] | None = None) -> str:
        """Set up in this process, which is quicker, and what was said of it."""
        said, words = io.StringIO(), ["setup", *arguments, "--agent", AGENT]
        with mock.patch.dict(os.environ, self.environment(extra), clear=True), contextlib.chdir(self.work), redirect_stdout(said):
            assert main(words) == 0
        return said.getvalue()

    def path(self, client: str) -> Path:
        return self.home / FILES[client]

    def write(self, client: str, text: str) -> Path:
        path = self.path(client)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return path

    def read(self, client: str) -> Any:
        text = self.path(client).read_text()
        return tomllib.loads(text) if client == "codex" else json.loads(text)

    def everything(self) -> dict[str, bytes]:
        """Every file at home."""
        return {str(path.relative_to(self.home)): path.read_bytes() for path in self.home.rglob("*") if path.is_file()}


def backup(path: Path) -> Path:
    return path.with_name(f"{path.name}.before-postoffice")
