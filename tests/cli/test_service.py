"""A runner kept by the system: what is written for it, and that it is the same runner."""

import os
import plistlib
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from postoffice.bridges.preset import PRESETS, with_options
from postoffice.cli.service import launch_agent, unit
from tests.cli.home import Home
from tests.serve.running import COMMAND, PATIENCE


def unit_of(home: Home, agent: str) -> Path:
    return home.folder / ".config" / "systemd" / "user" / f"postoffice-run-{agent}.service"


class TestInstalling:
    def test_a_unit_says_the_same_command_and_is_taken_away_again(self, home: Home) -> None:
        (coder,) = home.names("coder")
        (home.folder / "shop").mkdir()
        done = home.run("run", coder, "--cwd", "shop", "--timeout", "60", "--env", "AWS_*", "--install", "--", "cat", "-n", 'a "b" 5% $x')
        assert done.returncode == 0, done.stderr
        text = unit_of(home, coder).read_text()
        (begun,) = (line.removeprefix("ExecStart=") for line in text.splitlines() if line.startswith("ExecStart="))
        words = [word.replace("%%", "%").replace("$$", "$") for word in shlex.split(begun)]
        assert words[1:] == ["-m", "postoffice", "run", coder, "--timeout", "60.0", "--env", "AWS_*", "--", "cat", "-n", 'a "b" 5% $x']
        assert f"WorkingDirectory={home.folder / 'shop'}" in text
        assert "KEY" not in text
        if shutil.which("systemd-analyze") is not None:
            words = ["systemd-analyze", "--user", "verify", str(unit_of(home, coder))]
            verified = subprocess.run(
                words, env=os.environ | {"XDG_RUNTIME_DIR": str(home.folder)}, capture_output=True, text=True, check=False
            )
            assert (verified.returncode, verified.stderr) == (0, "")
        assert home.run("run", coder, "--uninstall").returncode == 0
        assert not unit_of(home, coder).exists()

    def test_what_cannot_be_run_is_not_installed(self, home: Home) -> None:
        assert "there is no folder" in home.refused(65, "run", "coder", "--cwd", "nowhere", "--install", "--", "cat")
        assert "cannot be run here" in home.refused(65, "run", "coder", "--install", "--", "no-such-program")
        assert not unit_of(home, "coder").exists()


def test_launchd_gets_the_words_as_they_are() -> None:
    words = ["python", "-m", "postoffice", "run", "coder", "--", "echo", "<&>"]
    made = plistlib.loads(launch_agent("postoffice-run-coder", words, "/shop", {"PATH": "/bin"}))
    assert (made["ProgramArguments"], made["WorkingDirectory"], made["KeepAlive"]) == (words, "/shop", True)


def test_an_environment_is_not_a_command() -> None:
    assert 'Environment="A=5%% $x"' in unit("coder", ["run"], "/shop", {"A": "5% $x"})


@pytest.mark.parametrize(
    ("cli", "first", "again"),
    [
        ("claude", "claude -p --output-format json -x 1", "claude -p --output-format json --resume {conversation} -x 1"),
        ("codex", "codex exec --json --skip-git-repo-check -x 1 -", "codex exec --json --skip-git-repo-check -x 1 resume {conversation} -"),
        ("opencode", "opencode run --format json -x 1", "opencode run --format json --session {conversation} -x 1"),
    ],
)
def test_options_stand_where_each_cli_reads_them(cli: str, first: str, again: str) -> None:
    preset = with_options(PRESETS[cli], ["-x", "1"])
    assert (" ".join(preset.first), " ".join(preset.again)) == (first, again)


def test_a_runner_works_where_it_is_told(home: Home) -> None:
    alice, here = home.names("alice", "here")
    (home.folder / "shop").mkdir()
    words = (*COMMAND, "run", here, "--cwd", "shop", "--", "pwd")
    with subprocess.Popen(words, cwd=home.folder, env=home.environment(), stderr=subprocess.DEVNULL) as runner:
        try:
            answered = home.ask("send", "--to", here, "where?", "--wait-reply", "60", "--as", alice)
        finally:
            runner.terminate()
            runner.wait(PATIENCE)
    assert answered["reply"]["content"] == str(home.folder / "shop")
