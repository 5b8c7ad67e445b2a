"""Processes that a test starts, watches and ends."""

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_PATIENCE = 60.0


def command(module: str, *arguments: object) -> list[str]:
    """How to run one of this folder's modules as a process of its own."""
    return [sys.executable, "-m", f"tests.proof.{module}", *map(str, arguments)]


@contextmanager
def running(words: Sequence[str], said: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The process, whose words go to a file; it is dead when this ends."""
    with said.open("ab") as out:
        process = subprocess.Popen(words, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out)
    try:
        yield process
    finally:
        process.kill()
        process.wait(_PATIENCE)


def lines(said: Path) -> list[list[str]]:
    """What was said in whole lines, as words."""
    whole, _, _ = said.read_text().rpartition("\n")
    return [line.split() for line in whole.splitlines()]


def wait_for(word: str, said: Path, process: subprocess.Popen[bytes]) -> list[str]:
    """The first line that begins with the word."""
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        for line in lines(said):
            if line[0] == word:
                return line
        assert process.poll() is None, f"the process ended with {process.returncode} and never said {word!r}"
        time.sleep(0.01)
    pytest.fail(f"the process did not say {word!r} in time")
