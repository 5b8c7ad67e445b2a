"""The journal of the ledger's setup: each step is written down before it is taken, so that setup goes on where it was killed."""

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
    """One line a step, appended; the last line about a thing counts. It holds signed transactions, never a key."""

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
            return  # a torn last line, from a loss of power
        self._known[entry["what"]] = entry

    def known(self, what: str) -> dict[str, str]:
        """The last entry about a thing."""
        return self._known.get(what, {})

    def write(self, what: str, **facts: str) -> None:
        """Write an entry to disk."""
        entry = {"what": what, **facts}
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as file:
            file.write(b"\n" + msgspec.json.encode(entry) + b"\n")  # so that a torn line before it stays a line of its own
            file.flush()
            os.fsync(file.fileno())
        self._known[what] = entry


@asynccontextmanager
async def only_founder(path: Path, tell: Callable[[str], None]) -> AsyncIterator[Journal]:
    """The journal, once no other process has it: two processes could both finish what one has signed, or pay for it twice."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with open(path.with_suffix(".lock"), "a+b", opener=private) as file:  # noqa: ASYNC230 - Path.open takes no opener
        if not took(file):
            tell("another process is making topics in this folder; waiting until it is done")
            while not took(file):  # noqa: ASYNC110 - nothing tells us when the other process ends
                await asyncio.sleep(_STANDBY_SECONDS)
        yield Journal(path)
