"""A real Gemini CLI, which nothing else wakes, is rung by keys in a real tmux, and never with a person's words in its prompt."""

import shlex
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.peers.terminal import until
from tests.peers.test_bell import PATIENCE, Bench, bench_of

DRAFT = "half a thought"


class Shown:
    """A pane of a tmux of its own."""

    def __init__(self, socket: str) -> None:
        self._socket = socket

    def ask(self, *words: str, environment: dict[str, str] | None = None) -> str:
        done = subprocess.run(
            ["tmux", "-S", self._socket, "-f", "/dev/null", *words], env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout

    @property
    def text(self) -> str:
        return self.ask("capture-pane", "-p")


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with bench_of("gemini", tmp_path, "--tmux") as found:
        yield found


@contextmanager
def in_tmux(bench: Bench) -> Iterator[Shown]:
    """A window of it there, once it can be rung by keys."""
    words = shlex.join(["gemini", "--yolo", "-m", "gemini-2.5-flash"])
    with TemporaryDirectory(prefix="tmux-") as folder:
        shown = Shown(f"{folder}/socket")
        shown.ask("new-session", "-d", "-x", "120", "-y", "40", "-c", str(bench.folder), words, environment=bench.environment())
        try:
            until(lambda: bench.ground.windows() == {"shop": "keys"}, PATIENCE, lambda: (bench.ground.windows(), shown.text))
            yield shown
        finally:
            shown.ask("kill-server")


def test_an_idle_window_is_rung_by_keys_for_each_letter(bench: Bench) -> None:
    with in_tmux(bench) as shown:
        for number in range(3):
            (sent,) = bench.ground.send("shop")
            until(lambda sent=sent: bench.mind.has(sent), PATIENCE, lambda: (bench.mind.said[-1:], shown.text))  # type: ignore[misc]
            assert len(bench.mind.rings) == number + 1
            until(lambda: bench.mind.rests and bench.ground.idle("shop"), PATIENCE, lambda: shown.text)


def test_what_a_person_has_begun_to_write_is_left_as_it_is(bench: Bench) -> None:
    with in_tmux(bench) as shown:
        until(lambda: "Type your message" in shown.text, PATIENCE, lambda: shown.text)
        shown.ask("send-keys", "-l", DRAFT)
        until(lambda: DRAFT in shown.text, PATIENCE, lambda: shown.text)
        bench.ground.send("shop")
        until(lambda: bench.ground.windows() == {"shop": "turn-end"}, PATIENCE, bench.ground.windows)  # the keys were tried
        time.sleep(1)
        assert DRAFT in shown.text
        assert "postoffice bell" not in shown.text
        assert bench.mind.said == []
