"""What setting up the ledger means to do, written down before it is done: whoever is killed on the way goes on where it stopped."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from postoffice.client.lock import private, took

_STANDBY_SECONDS = 0.2
_decode = msgspec.json.Decoder(dict[str, str]).decode


class Journal:
    """One line a step, appended; for each thing the last line counts. It holds signed transactions and never a key."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, dict[str, str]] = {}
        if path.exists():
            for line in path.read_bytes().splitlines():
                self._read(line)

    def _read(self, line: bytes) -> None:
        try:
            entry = _decode(line)
        except msgspec.DecodeError:
            return  # the last one, written when the power went
        self._known[entry["what"]] = entry

    def known(self, what: str) -> dict[str, str]:
        """What was written of a thing last."""
        return self._known.get(what, {})

    def write(self, what: str, **facts: str) -> None:
        """Have it on disk."""
        entry = {"what": what, **facts}
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as file:
            file.write(b"\n" + msgspec.json.encode(entry) + b"\n")  # a torn line before it stays a line of its own
            file.flush()
            os.fsync(file.fileno())
        self._known[what] = entry


@asynccontextmanager
async def only_founder(path: Path, tell: Callable[[str], None]) -> AsyncIterator[Journal]:
    """The journal, once no other process has it: what one has signed and not finished would be finished by both, or paid for twice."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with open(path.with_suffix(".lock"), "a+b", opener=private) as file:  # noqa: ASYNC230 - a path takes no opener
        if not took(file):
            tell("another process makes topics from here; waiting until it is done")
            while not took(file):  # noqa: ASYNC110 - another process says nothing when it ends
                await asyncio.sleep(_STANDBY_SECONDS)
        yield Journal(path)
