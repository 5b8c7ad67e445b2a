"""At a terminal the change is shown in colour, and asked about."""

import os
import pty
import subprocess

import pytest

from tests.serve.running import COMMAND, PATIENCE
from tests.setup.person import Person


def talk(person: Person, answer: str, extra: dict[str, str] | None = None) -> str:
    """What a person sees who answers the question so."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "setup", "cursor"], cwd=person.work, env=person.environment(extra), stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    seen = b""
    try:
        while True:
            try:
                more = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            seen += more
            if seen.endswith(b"[y/N] "):  # which may come in pieces
                os.write(ours, answer.encode())
        process.wait(PATIENCE)
    finally:
        process.kill()
        os.close(ours)
    assert process.returncode == 0
    return seen.decode()


@pytest.mark.parametrize("answer", ["y\n", "YES\n"])
def test_a_yes_makes_the_change(person: Person, answer: str) -> None:
    seen = talk(person, answer)
    assert "\x1b[32m+++ ~/.cursor/mcp.json" in seen
    assert "/mail/cursor" in person.path("cursor").read_text()
    assert "mailbox opens" in seen


@pytest.mark.parametrize("answer", ["\n", "n\n", "what\n", "\x04"])
def test_anything_else_does_not(person: Person, answer: str) -> None:
    assert "Nothing was written" in talk(person, answer)
    assert person.everything() == {}


def test_nobody_has_to_have_colours(person: Person) -> None:
    assert "\x1b[" not in talk(person, "n\n", {"NO_COLOR": "1"})
