"""A real Claude Code, with a scripted model behind it, answers its mail by `postoffice run`."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.peers.client import CLIENTS, QUIET
from tests.peers.fake_model import thinking
from tests.runner.office import Office, until
from tests.serve.running import COMMAND, PATIENCE
from tests.setup.person import AGENT, Person

ASKER = "reviewer"
SLOW = 90.0


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    (tmp_path / "office").mkdir()
    office = Office(tmp_path / "office")
    office.start()
    yield office
    office.close()


@pytest.fixture
def person(tmp_path: Path, office: Office) -> Person:
    """Somebody whose Claude Code knows the office's tools, by which the model tells the conversation from small errands."""
    office.call(AGENT, "/agents/me")
    person = Person(tmp_path / "home", office.url)
    person.setup("claude", "--yes")
    return person


@contextmanager
def running(person: Person, model: str) -> Iterator[subprocess.Popen[bytes]]:
    """The runner as its owner starts it, told to stop after the block."""
    ours = {
        "PATH": os.pathsep.join([str(CLIENTS), os.environ["PATH"]]),
        "XDG_STATE_HOME": str(person.home / "state"),
        "ANTHROPIC_BASE_URL": model,
        "ANTHROPIC_API_KEY": "none",
    }
    command = [*COMMAND, "run", AGENT, "--with", "claude"]
    with (person.home / "runner.log").open("ab") as log:
        process = subprocess.Popen(command, cwd=person.work, env=person.environment(QUIET | ours), stdout=log, stderr=log)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(PATIENCE)


def ask(office: Office, person: Person, content: str, count: int) -> dict[str, Any]:
    """The newest answer, once there are so many."""
    sent = office.send(ASKER, AGENT, content)
    until(lambda: len(office.waiting(ASKER)) >= count, SLOW, (person.home / "runner.log").read_text)
    reply = office.waiting(ASKER)[-1]
    assert (reply["from"], reply["reply_to"], reply["automatic"]) == (AGENT, sent["message_id"], True)
    return reply


def test_claude_code_answers_its_mail_and_goes_on_with_the_conversation(office: Office, person: Person) -> None:
    assert (CLIENTS / "claude").exists(), "`make peers` installs it"
    with thinking(["It is 41.", "It is 42 now.", "Still 42."]) as model:
        with running(person, model.address):
            assert ask(office, person, "What is the number? The word is heliotrope.", 1)["content"] == "It is 41."
            assert model.said_to_it().count("heliotrope") == 1, "fenced, and nowhere else"
            assert f"A message from the agent {ASKER} has come to your mailbox" in model.said_to_it()
            assert ask(office, person, "And one more?", 2)["content"] == "It is 42 now."
            said = model.said_to_it()
            assert all(words in said for words in ("heliotrope", "It is 41.", "And one more?"))
        # The conversation outlives the runner.
        with running(person, model.address):
            assert ask(office, person, "And now?", 3)["content"] == "Still 42."
        assert "heliotrope" in model.said_to_it()
    kept = json.loads((person.home / "state" / "postoffice" / "runner" / f"{AGENT}.json").read_text())
    assert len(kept) == 1
    assert office.call(AGENT, "/agents/me")["leased"] == 0


def test_claude_code_that_lost_the_conversation_begins_anew(office: Office, person: Person) -> None:
    folder = person.home / "state" / "postoffice" / "runner"
    session = office.send(ASKER, AGENT, "hello")["session_id"]
    folder.mkdir(parents=True)
    (folder / f"{AGENT}.json").write_text(json.dumps({session: "00000000-0000-4000-8000-000000000000"}))
    with thinking(["Hello."]) as model, running(person, model.address):
        until(lambda: office.waiting(ASKER), SLOW, (person.home / "runner.log").read_text)
        (reply,) = office.waiting(ASKER)
    assert reply["content"] == "Hello."
    # What went wrong at the first try is told, not only that something did.
    assert "No conversation found" in (person.home / "runner.log").read_text()
