"""The end of a run: all that is left is read, the history is checked, and a line of the table is made of it."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from tests.chaos.caller import Caller
from tests.chaos.checker import NO_EXCUSES, Checker, Excuses, Remains
from tests.chaos.client import BOXES
from tests.chaos.history import Call, Op, Scribe, read_history
from tests.chaos.lease import SECOND
from tests.chaos.violation import Kind, Violation

_PATIENCE = 120.0
_BATCH = 100
_VISIBLE = 30.0


class Verdict(NamedTuple):
    """What became of the mail."""

    violations: list[Violation]
    accepted: int
    gap: float
    """The longest time, in seconds, in which no send was accepted."""

    @property
    def lost(self) -> int:
        return self._count(Kind.LOST)

    @property
    def doubled(self) -> int:
        return self._count(Kind.DOUBLED, Kind.RISEN)

    def adding(self, violations: list[Violation]) -> "Verdict":
        """With what else was found."""
        return self._replace(violations=self.violations + violations)

    def _count(self, *kinds: Kind) -> int:
        return sum(violation.kind in kinds for violation in self.violations)


async def read_all(file: Path, urls: Sequence[str], boxes: Sequence[str] = BOXES) -> Remains:
    """The final reader: takes and acks until every mailbox is empty, and every lease of others has run out."""
    until = time.monotonic() + _PATIENCE
    async with Scribe(file) as scribe, AsyncExitStack() as stack:
        callers = [await stack.enter_async_context(Caller(scribe, f"reader of {box}", box, urls)) for box in boxes]
        waiting = -1
        while waiting and time.monotonic() < until:
            waiting = sum(await asyncio.gather(*map(_read, callers)))
            if waiting:
                await asyncio.sleep(0.1)
        dead = [letter["message"]["id"] for caller in callers for letter in (await caller.ask("/dead-letters?limit=200"))["dead_letters"]]
        return Remains(waiting, frozenset(dead))


async def _read(caller: Caller) -> int:
    """Read one mailbox; how much still waits there, in others' hands."""
    while items := (await caller.take(_BATCH, _VISIBLE)).items:
        await asyncio.gather(*(caller.settle(Op.ACK, item) for item in items))
    numbers = await caller.ask("/mailbox")
    return int(numbers["held"] + numbers["pending"] + numbers["leased"])


def judge(files: Sequence[Path], remains: Remains, excuses: Excuses = NO_EXCUSES) -> Verdict:
    """What the history shows."""
    calls = read_history(files)
    checker = Checker(calls, remains, excuses)
    return Verdict(checker.violations(), len(checker.accepted()), _longest_gap(calls))


def _longest_gap(calls: Sequence[Call]) -> float:
    moments = sorted(call.ended for call in calls if call.op is Op.SEND and call.answered)
    return max((later - earlier for earlier, later in pairwise(moments)), default=0) / SECOND
