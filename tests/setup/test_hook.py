"""Hooks are written so that they run anywhere, tell the bell of a window, and never fail a turn."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from postoffice.setup.hook import is_ours
from tests.setup.person import Person


def hook(person: Person, **event: Any) -> str:
    done = person.run("hook", "--client", "claude", said=json.dumps(event) if event else "")
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("said", ["", "no json", "[1]", "{", '{"hook_event_name": 4}', '{"hook_event_name": "Other"}'])
def test_whatever_the_client_says_no_turn_fails(person: Person, said: str) -> None:
    done = person.run("hook", "--client", "claude", said=said)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_an_office_that_is_away_says_nothing_and_costs_no_time(tmp_path: Path) -> None:
    person, began = Person(tmp_path / "home", "http://127.0.0.1:9"), time.monotonic()
    with ending(person):
        assert hook(person, hook_event_name="UserPromptSubmit", session_id="s", cwd=str(person.work), prompt="go on") == ""
    assert time.monotonic() - began < 20


@pytest.mark.parametrize("answer", ["{}", "[]", "null", '{"id": 1}', "<html>"])
def test_a_stranger_at_the_address_of_the_office_is_no_failure(tmp_path: Path, answer: str) -> None:
    with stranger(answer) as url:
        person = Person(tmp_path / "home", url)
        with ending(person):
            assert hook(person, hook_event_name="Stop", session_id="s", cwd=str(person.work)) == ""
        assert f"No office answers at {url}" in person.setup("cursor", "--yes")


@contextmanager
def stranger(answer: str) -> Iterator[str]:
    """The address of a server that is something else, and says the same to whatever it is asked."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer.encode())

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()


def test_the_hook_joins_the_others(person: Person) -> None:
    settings = person.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    mine = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "beep"}]}]}, "model": "x"}
    settings.write_text(json.dumps(mine, indent=2))
    person.setup("claude", "--hook", "--yes")
    document = json.loads(settings.read_text())
    assert document["hooks"]["Stop"][0] == mine["hooks"]["Stop"][0]  # type: ignore[index]
    for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"):
        ours = document["hooks"][event][-1]["hooks"]
        assert all(f"{sys.executable} -m postoffice hook --client claude" in one["command"] for one in ours)
        assert [one["asyncRewake"] for one in ours if "--wait" in one["command"]] == ([True] if event in ("SessionStart", "Stop") else [])
    assert "Nothing to change" in person.setup("claude", "--hook", "--yes")
    person.run("setup", "claude", "--hook", "--agent", "other", "--yes")
    assert len(json.loads(settings.read_text())["hooks"]["Stop"]) == 2
    person.setup("claude", "--undo", "--yes")
    assert settings.read_text() == json.dumps(mine, indent=2)


def test_a_group_that_somebody_added_to_is_theirs() -> None:
    ours = {"type": "command", "command": "/opt/x/python -m postoffice hook --client claude --server http://127.0.0.1:8787"}
    assert is_ours({"hooks": [{"type": "command", "command": "postoffice hook --as a"}]})  # as it was written before
    assert is_ours({"hooks": [ours, ours]})
    assert not is_ours({"hooks": [ours, {"type": "command", "command": "beep"}]})
    assert not is_ours("x")


def test_the_command_that_was_installed_names_the_window(person: Person) -> None:
    person.setup("claude", "--hook", "--yes")
    document = json.loads((person.home / ".claude" / "settings.json").read_text())
    command = document["hooks"]["SessionStart"][0]["hooks"][0]["command"]
    told = json.dumps({"hook_event_name": "SessionStart", "session_id": "s", "cwd": str(person.work), "source": "startup"})
    with ending(person):
        # Another program's PATH has nothing of ours on it.
        plain = person.environment() | {"PATH": "/usr/bin:/bin"}
        done = subprocess.run(command, shell=True, env=plain, input=told, capture_output=True, text=True, timeout=60, check=True)
    assert "Your name in the mail is coder" in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]


def test_windows_that_bypass_prompts_are_let_in_only_if_somebody_says_so(person: Person) -> None:
    settings = person.home / ".claude" / "settings.json"
    person.setup("claude", "--hook", "--yes")
    assert "crossSessionInbound" not in settings.read_text()
    person.setup("claude", "--hook", "--let-in", "--yes")
    assert json.loads(settings.read_text())["crossSessionInbound"] == "accept"
    person.setup("claude", "--undo", "--yes")
    assert not settings.exists()


@pytest.mark.parametrize("client", ["claude", "codex", "gemini", "opencode", "kilo", "copilot", "qwen"])
def test_all_of_it_is_taken_back_to_the_byte(person: Person, client: str) -> None:
    files = {
        ".claude.json": '{"mcpServers": {}}',
        ".claude/settings.json": '{\n\t// mine\n\t"hooks": {"Stop": []},\n\t"model": "x",\n}\n',
        ".codex/config.toml": '# mine\nmodel = "x"\n',
        ".codex/hooks.json": '{ "hooks": {} }',
        ".gemini/settings.json": '{\n    "hooks": {"BeforeAgent": [{"hooks": [{"type": "command", "command": "beep"}]}]}\n}',
        ".config/kilo/kilo.jsonc": '{\n  // mine\n  "mcp": {"other": {"type": "local", "command": ["x"]}},\n}\n',
        ".copilot/mcp-config.json": '{"mcpServers": {"other": {"type": "local", "command": "x", "args": [], "tools": ["*"]}}}\n',
        ".qwen/settings.json": '{\n  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "beep"}]}]}, // mine\n  "model": {"name": "m"}\n}',
        ".config/opencode/opencode.jsonc": '{\n  // mine\n  "model": "x", /* and */\n}\n',
    }
    for name, text in files.items():
        (person.home / name).parent.mkdir(parents=True, exist_ok=True)
        (person.home / name).write_text(text)
    before = person.everything()
    person.setup(client, "--hook", "--skill", "--yes")
    assert person.everything() != before
    person.setup(client, "--undo", "--yes")
    assert person.everything() == before


@contextmanager
def ending(person: Person) -> Iterator[None]:
    """No bell is left behind."""
    try:
        yield
    finally:
        address = person.home / ".cache" / "postoffice" / "bell" / "address.json"
        if address.exists():
            os.kill(json.loads(address.read_text())["process"]["pid"], signal.SIGTERM)
