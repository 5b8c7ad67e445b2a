"""A root of its own and a clock that stands still, for every test."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import postoffice_files
from postoffice_files import Clock, MailboxManager

START = 1_745_659_200_000_000


class StillClock(Clock):
    """Time passes when a test says so."""

    def __init__(self) -> None:
        self.micros = START

    def now(self) -> int:
        return self.micros

    def sleep(self, seconds: float) -> None:
        self.micros += int(seconds * 1_000_000)


@pytest.fixture
def clock() -> StillClock:
    return StillClock()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "mailboxes"


@pytest.fixture
def mail(root: Path, clock: StillClock) -> MailboxManager:
    return MailboxManager(root, clock=clock)


Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(root: Path) -> Start:
    """Start a Python program in a process of its own; it finds the root in sys.argv[1]."""
    source = str(Path(postoffice_files.__file__).parent.parent)

    def begin(program: str, *arguments: object) -> "subprocess.Popen[str]":
        line = [sys.executable, "-c", program, str(root), *map(str, arguments)]
        return subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": source})

    return begin
