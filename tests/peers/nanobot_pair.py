"""Two nanobots that share a folder, and what lies in it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from postoffice_files import MailboxManager
from tests.peers.nanobot_gateway import RealNanobot, until
from tests.peers.nanobot_model import RuledModel


class Side(NamedTuple):
    """One nanobot and its model."""

    bot: RealNanobot
    model: RuledModel


class Two(NamedTuple):
    """Who asks, who works, and the folder both share."""

    asker: Side
    worker: Side
    mail: MailboxManager

    def updates(self, task: str) -> list[str]:
        """The states the asker was told of a task, in order."""
        return [
            message["task"]["state"]
            for message in self.received("researcher")
            if message["type"] == "task_update" and message["task"]["id"] == task
        ]

    def received(self, agent: str) -> list[dict[str, Any]]:
        """All that an agent has handled, in order."""
        return read_all(self.mail.root / agent / "processed")

    def task(self, words: str) -> dict[str, Any]:
        """The task with these words, as it came to the worker."""
        return until(lambda: next((message for message in self.received("coder") if words in str(message["content"])), None)) or {}


@contextmanager
def two_nanobots(here: Path, asking: str, working: str) -> Iterator[Two]:
    """Both running, from the environments named."""
    # Only the worker is asked by the other; results come from whoever was asked, allowed or not.
    allowed = {"researcher": ["clerk"], "coder": ["researcher"]}
    sides = []
    for environment, agent in ((asking, "researcher"), (working, "coder")):
        model = RuledModel()
        settings = {"description": f"the {agent}", "maxConcurrentTasks": 1, "allowFrom": allowed[agent]}
        sides.append(Side(RealNanobot(environment, here / agent, agent, here / "mailboxes", model.url, **settings), model))
    try:
        for side in sides:
            side.bot.start()
        yield Two(sides[0], sides[1], MailboxManager(here / "mailboxes"))
    finally:
        for side in sides:
            side.bot.kill()
            side.model.stop()


def read_all(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted(folder.iterdir())]
