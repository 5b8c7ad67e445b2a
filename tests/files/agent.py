"""Somebody at home in the files, and what it does there: with the library, or with nothing but a file."""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from postoffice_files import MailboxManager
from postoffice_files.lock import locked
from tests.proof.patience import BOUND, until


class FileAgent:
    """An agent that has a folder and no address."""

    def __init__(self, root: Path, name: str) -> None:
        self.name = name
        self.mail = MailboxManager(root)
        self.home = root / name

    def join(self, **card: Any) -> "FileAgent":
        """Enter the registry."""
        self.mail.register(self.name, card)
        return self

    def send(self, to: str, content: Any = "hello", **fields: Any) -> str:
        """Put a message into somebody's inbox; gives its id."""
        name = self.mail.deliver(self.name, to, {"content": content, **fields})
        return str(fields.get("id", f"msg_{name.removesuffix('.msg.json')}"))

    async def take(self, count: int = 1) -> list[dict[str, Any]]:
        """The next so many messages, marked as done."""
        taken = await self.hold(count)
        for message in taken:
            self.done(message)
        return taken

    async def hold(self, count: int = 1) -> list[dict[str, Any]]:
        """The next so many messages, not done with yet."""
        taken: list[dict[str, Any]] = []

        def enough() -> bool:
            taken.extend(self.mail.poll(self.name, limit=count - len(taken)))
            return len(taken) == count

        await until(enough)
        return taken

    def done(self, message: dict[str, Any]) -> None:
        self.mail.mark_processed(self.name, message["filename"])

    @property
    def waiting(self) -> list[Path]:
        return sorted((self.home / "inbox").glob("*.msg.json"))

    @property
    def processed(self) -> list[Path]:
        return sorted((self.home / "processed").glob("*.msg.json"))


def drop(root: Path, to: str, content: Any, name: str | None = None) -> Path:
    """A file as any program writes it: whole, under another name first."""
    inbox = root / to / "inbox"
    inbox.mkdir(parents=True, exist_ok=True)
    path = inbox / (name or f"{time.time():.6f}_somebody.msg.json")
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    temporary = inbox / f".{path.name}.tmp"
    temporary.write_bytes(raw)
    return temporary.replace(path)


@contextmanager
def registry_of(root: Path) -> Iterator[dict[str, Any]]:
    """The cards, to be changed as with an editor; nobody who writes them at that moment writes over it."""
    path = root / "_registry.json"
    with locked(root / "_registry.lock", BOUND):
        cards = json.loads(path.read_text())
        yield cards
        path.write_text(json.dumps(cards))


def text_of(message: dict[str, Any]) -> str:
    """What a message in a file says, where it says one thing."""
    (part,) = message["content"]["parts"]
    return str(part["text"])


async def set_aside(root: Path, agent: str, count: int = 1) -> list[str]:
    """Why files in an inbox were set aside, once there are so many."""
    bad = root / agent / "bad"

    def reasons() -> list[Path]:
        return [path for path in sorted(bad.glob("*.reason.json")) if os.path.lexists(str(path).removesuffix(".reason.json"))]

    await until(lambda: len(reasons()) >= count)
    assert len(reasons()) == count
    return [json.loads(path.read_text())["reason"] for path in reasons()]
