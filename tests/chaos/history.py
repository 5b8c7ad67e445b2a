"""What clients asked of an office and what they were told, written down on disk before they go on."""

import asyncio
import os
import time
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Final, Self

import msgspec

FOREVER: Final = 2**63 - 1
"""When a call ended whose answer never came: it may be done at any time from its beginning."""
_encode = msgspec.json.Encoder().encode


class Op(StrEnum):
    """What was asked."""

    SEND = "send"
    TAKE = "take"
    ACK = "ack"
    NACK = "nack"
    EXTEND = "extend"


class Outcome(StrEnum):
    """How it ended, as far as its client knows."""

    INVOKED = "invoked"
    ANSWERED = "answered"
    REFUSED = "refused"
    UNKNOWN = "unknown"


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """A message that a take was given."""

    message: str
    sender: str
    client_id: str
    content: str
    priority: int
    number: int
    attempt: int
    token: str
    until: int
    """When the lease ends by the office's own clock, in nanoseconds since the epoch."""


class Call(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One call of one client: what it asked, and, once it ended, what it was told."""

    id: str
    client: str
    op: Op
    agent: str
    """Who calls: the sender, or the one whose mailbox it is."""
    begun: int
    """Nanoseconds of the machine's monotonic clock, which all its processes share."""
    begun_wall: int
    to: str = ""
    client_id: str = ""
    content: str = ""
    priority: int = 3
    message: str = ""
    """The message to settle; of a send, the id it was given."""
    token: str = ""
    visible_for: float = 0.0
    outcome: Outcome = Outcome.INVOKED
    ended: int = FOREVER
    gave_up: int = FOREVER
    """When the client stopped waiting for an answer that never came."""
    ended_wall: int = 0
    items: tuple[Item, ...] = ()
    code: str = ""

    @property
    def answered(self) -> bool:
        return self.outcome is Outcome.ANSWERED

    @property
    def refused(self) -> bool:
        return self.outcome is Outcome.REFUSED

    @property
    def unknown(self) -> bool:
        return self.outcome is Outcome.UNKNOWN


class Scribe:
    """Writes calls into one file. A line is on disk when `write` returns; lines that come together are synced together."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._waiting: list[tuple[bytes, asyncio.Future[None]]] = []
        self._syncing: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._syncing is not None:
            await self._syncing
        os.close(self._file)

    async def write(self, call: Call) -> None:
        written = asyncio.get_running_loop().create_future()
        self._waiting.append((_encode(call) + b"\n", written))
        if self._syncing is None or self._syncing.done():
            self._syncing = asyncio.create_task(self._sync())
        await written

    async def _sync(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            await asyncio.to_thread(self._put, b"".join(line for line, _ in batch))
            for _, written in batch:
                if not written.done():
                    written.set_result(None)

    def _put(self, lines: bytes) -> None:
        os.write(self._file, lines)
        os.fdatasync(self._file)


def ended(call: Call, outcome: Outcome, *, message: str | None = None, items: tuple[Item, ...] = (), code: str = "") -> Call:
    """The call, now that it has ended like this."""
    known = outcome is not Outcome.UNKNOWN
    now = time.monotonic_ns()
    return msgspec.structs.replace(
        call,
        outcome=outcome,
        ended=now if known else FOREVER,
        gave_up=FOREVER if known else now,
        ended_wall=time.time_ns(),
        message=call.message if message is None else message,
        items=items,
        code=code,
    )


def read_history(files: Iterable[Path]) -> list[Call]:
    """Every call in these files, as it ended, in the order they began. A call that no line ends is unknown; half a line was never written."""
    calls: dict[str, Call] = {}
    for file in files:
        whole, _, _ = file.read_bytes().rpartition(b"\n")
        for line in whole.splitlines():
            call = msgspec.json.decode(line, type=Call)
            calls[call.id] = call
    open_ended = (
        call if call.outcome is not Outcome.INVOKED else msgspec.structs.replace(call, outcome=Outcome.UNKNOWN) for call in calls.values()
    )
    return sorted(open_ended, key=lambda call: (call.begun, call.id))
