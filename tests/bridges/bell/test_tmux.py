"""Where a person switched it on, and nothing else wakes a window, a ring is typed into its tmux pane: all of it, or nothing."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from postoffice.bridges.bell.tmux import is_typed
from tests.bridges.bell.pretend import Ground, Window, until, window
from tests.serve.running import COMMAND, PATIENCE

_CLIENT = """
import os, pathlib, sys
here = pathlib.Path(sys.argv[1])
(here / "pid").write_text(str(os.getpid()))
while True:
    with (here / "entered").open("a") as entered:
        entered.write(input("> ") + "\\n")
"""
_RING = "[postoffice bell 1, 10:00:00] Mail waits in your mailbox. Take it with mail_get, and end each letter with mail_done."


class Tmux:
    """A client in a pane."""

    def __init__(self, here: Path) -> None:
        self.here = here
        self.socket = here / "tmux"
        self("new-session", "-d", "-x", "80", "-y", "20", sys.executable, "-c", _CLIENT, str(here))
        until((here / "pid").exists)
        until(lambda: (here / "pid").read_text() and ">" in self.shown())

    def __call__(self, *words: str) -> str:
        return subprocess.run(
            ["tmux", "-S", str(self.socket), "-f", "/dev/null", *words], capture_output=True, text=True, check=True, timeout=PATIENCE
        ).stdout

    def shown(self) -> str:
        return self("capture-pane", "-p", "-J").strip()

    def entered(self) -> str:
        path = self.here / "entered"
        return path.read_text() if path.exists() else ""


@pytest.fixture
def pane(tmp_path: Path) -> Iterator[Tmux]:
    one = Tmux(tmp_path)
    yield one
    one("kill-server")


@contextmanager
def shown_in(pane: Tmux, ground: Ground, *words: str) -> Iterator[Window]:
    """A window with neither inbox nor hook, whose client runs in the pane."""
    with window(ground, words=words) as shop:
        shop.process.kill()
        shop.pid = int((pane.here / "pid").read_text())
        shop.open()
        shop.deaf()
        yield shop


def test_a_ring_is_typed_and_entered_where_nothing_else_wakes_the_window(ground: Ground, pane: Tmux) -> None:
    with shown_in(pane, ground, "--tmux"):
        until(lambda: ground.windows() == {"shop": "keys"})
        ground.send("shop")
        until(pane.entered)
        time.sleep(2)
        assert pane.entered().count("[postoffice bell 1") == 1
        assert pane.entered().endswith("end each letter with mail_done.\n")


def test_what_a_person_has_begun_to_write_is_neither_sent_nor_lost(ground: Ground, pane: Tmux) -> None:
    with shown_in(pane, ground, "--tmux"):
        until(lambda: ground.windows() == {"shop": "keys"})
        pane("send-keys", "-l", "half a thought")
        until(lambda: "half a thought" in pane.shown())
        ground.send("shop")
        until(lambda: ground.windows() == {"shop": "none"})
        assert pane.entered() == ""
        assert pane.shown().endswith("> half a thought")


def test_nothing_is_typed_that_nobody_asked_for(ground: Ground, pane: Tmux) -> None:
    with shown_in(pane, ground):
        until(lambda: ground.windows() == {"shop": "none"})
        ground.send("shop")
        time.sleep(2)
        assert (pane.entered(), pane.shown()) == ("", ">")


def test_setup_writes_the_switch_and_takes_it_back(ground: Ground) -> None:
    def setup(*words: str) -> int:
        words = (*COMMAND, "setup", *words, "--hook", "--yes")
        return subprocess.run(words, env=ground.environment(), capture_output=True, check=False).returncode

    settings = ground.home / ".claude" / "settings.json"
    assert setup("claude") == 0
    assert "--tmux" not in settings.read_text()
    assert setup("claude", "--tmux") == 0
    assert settings.read_text().count("--tmux") == settings.read_text().count("postoffice hook")
    assert setup("claude", "--undo") == 0
    assert not settings.exists() or "postoffice" not in settings.read_text()
    assert setup("opencode", "--tmux") != 0


@pytest.mark.parametrize(
    ("shown", "typed"),
    [
        (f"❯ {_RING}", True),  # noqa: RUF001 - as Claude Code shows it
        (f"│ > {_RING[:70]} │\n│   {_RING[70:]} │\n╰────╯\n  ? for shortcuts", True),
        (f"> {_RING[:40]}\n  {_RING[40:100]}\n  {_RING[100:]}\n\n  100% left", True),
        (f"> half a thought{_RING}", False),
        (f"> {_RING}half a thought", False),
        (f"> {_RING[:-20]}", False),
        (f"> {_RING}\n\n● All done.\n\n> ", False),
        ("> ", False),
    ],
)
def test_a_prompt_holds_the_ring_and_nothing_else(shown: str, *, typed: bool) -> None:
    assert is_typed(shown, _RING) is typed
