"""Every command explains itself, and starts without the weight of what it does not use."""

import re
import shutil
import subprocess
import sys

import pytest

from postoffice import __version__
from tests.cli.home import Home
from tests.serve.running import PATIENCE

COMMANDS = [
    "serve",
    "close",
    "windows",
    "quiet",
    "cancel",
    "bell",
    "register",
    "login",
    "invite",
    "join",
    "open",
    "whoami",
    "use",
    "send",
    "upload",
    "save",
    "webhook",
    "notify",
    "ring",
    "reply",
    "ask",
    "questions",
    "for-you",
    "go-on",
    "answer",
    "done",
    "inbox",
    "read",
    "watch",
    "recv",
    "ack",
    "nack",
    "agents",
    "forget",
    "status",
    "connect",
    "approve",
    "reject",
    "connections",
    "task",
    "tasks",
    "note",
    "dead",
    "search",
    "key",
    "migrate",
    "backup",
    "restore",
    "pause",
    "resume",
    "recurring",
    "bulk",
    "list",
    "lists",
    "roles",
    "reserve",
    "release",
    "reservations",
    "guard",
    "doctor",
    "mcp",
    "completions",
    "run",
    "setup",
    "openclaw",
    "hook",
    "ledger",
]


class TestHelp:
    def test_every_command_is_listed(self, home: Home) -> None:
        done = home.run("--help")
        listed = re.findall(r"^ {4}([a-z-]+)(?: |$)", done.stdout, re.MULTILINE)
        assert (done.returncode, sorted(listed)) == (0, sorted(COMMANDS))

    @pytest.mark.parametrize("command", COMMANDS)
    def test_every_command_has_examples(self, home: Home, command: str) -> None:
        done = home.run(command, "--help")
        assert (done.returncode, done.stderr) == (0, "")
        assert f"postoffice {command}" in done.stdout.partition("examples:\n")[2]

    def test_the_version_is_told(self, home: Home) -> None:
        assert home.run("--version").stdout == f"postoffice {__version__}\n"


class TestCompletions:
    @pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "tcsh"])
    def test_a_shell_takes_them(self, home: Home, shell: str) -> None:
        done = home.run("completions", shell)
        assert (done.returncode, done.stderr) == (0, "")
        assert "recv" in done.stdout
        if shutil.which(shell) is None or shell == "tcsh":
            return
        checked = subprocess.run([shell, "-n"], input=done.stdout, text=True, capture_output=True, timeout=PATIENCE, check=False)
        assert (checked.returncode, checked.stderr) == (0, "")

    def test_fish_completes_with_them(self, home: Home) -> None:
        if shutil.which("fish") is None:
            return
        (home.folder / "completions").write_text(home.run("completions", "fish").stdout)
        for begun, ends in [("postoffice se", {"search", "send", "serve", "setup"}), ("postoffice run coder --unin", {"--uninstall"})]:
            words = ["fish", "--no-config", "-c", f"source completions; complete -C '{begun}'"]
            done = subprocess.run(
                words, cwd=home.folder, env=home.environment(), text=True, capture_output=True, timeout=PATIENCE, check=True
            )
            assert {line.partition("\t")[0] for line in done.stdout.splitlines()} == ends

    def test_bash_completes_with_them(self, home: Home) -> None:
        (home.folder / "completions").write_text(home.run("completions", "bash").stdout)
        script = "source completions; COMP_WORDS=(postoffice conn); COMP_CWORD=1; _shtab_postoffice; echo ${COMPREPLY[@]}"
        done = subprocess.run(["bash", "-c", script], cwd=home.folder, text=True, capture_output=True, timeout=PATIENCE, check=True)
        assert set(done.stdout.split()) == {"connect", "connections"}


class TestWeight:
    def imported(self, home: Home, *words: str) -> set[str]:
        done = subprocess.run(
            [sys.executable, "-X", "importtime", "-m", "postoffice", *words],
            cwd=home.folder,
            env=home.environment(),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=True,
        )
        names = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
        assert "postoffice" in names
        return names

    @pytest.mark.parametrize("words", [["--help"], ["send", "--help"]])
    def test_help_needs_neither_client_nor_server(self, home: Home, words: list[str]) -> None:
        assert not self.imported(home, *words) & {"httpx2", "fastapi", "mcp", "uvicorn", "rich"}

    def test_a_client_needs_no_server(self, home: Home) -> None:
        assert not self.imported(home, "agents") & {"fastapi", "mcp", "uvicorn", "starlette"}
