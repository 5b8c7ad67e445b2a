"""Waits for an answer, and reports meanwhile what becomes of the question."""

import asyncio
import sys
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from postoffice.cli.show import ahead
from postoffice.core.errors import MailError, NoReply, Unavailable, Undelivered
from postoffice.core.fence import one_line
from postoffice.core.limits import Limits
from postoffice.core.message import NOTICE

if TYPE_CHECKING:
    from postoffice.client.wire import Wire

WAIT_SECONDS, LONGEST_WAIT_SECONDS = 120.0, Limits().wait_most.total_seconds()
_SETTLE_SECONDS = 10.0
_LOOK_SECONDS = 3.0  # between two looks at the question's standing


async def awaited(wire: "Wire", sent: Any, to: str, mark: str, seconds: float) -> Any:
    """Wait for the answer with this mark; for a task, its end and not its progress. The office may go away meanwhile: it has what was sent."""
    watch = _Watch(wire, sent["id"])
    watching = asyncio.create_task(watch.run())
    waiting = asyncio.create_task(_answer(wire, mark, seconds))
    try:
        await asyncio.wait({watching, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if not waiting.done():
            raise Undelivered(to=to, why=watch.reason)
        letter = waiting.result()
        if letter is not None and letter["type"] == NOTICE:  # a notice from the office instead of an answer
            raise Undelivered(to=to, why=(letter.get("payload") or {}).get("reason") or watch.reason)
        if letter is not None:
            return letter
    finally:
        watching.cancel()
        waiting.cancel()
        await asyncio.gather(watching, waiting, return_exceptions=True)
    raise NoReply(to=to, seconds=int(seconds), meanwhile=f" ({watch.so_far})" if watch.so_far else "")


async def _answer(wire: "Wire", mark: str, seconds: float) -> Any:
    """The answer; None if it does not come in time."""
    from postoffice.client.wire import until_answered  # noqa: PLC0415

    until = time.monotonic() + seconds

    async def take() -> list[Any]:
        letters = await wire.wait({"limit": 1, "correlation_id": mark}, max(until - time.monotonic(), 0))
        for letter in letters:
            await until_answered(partial(wire.post, f"/messages/{letter['id']}/ack", {"token": letter["token"]}), _SETTLE_SECONDS)
        return letters

    while (left := until - time.monotonic()) > 0:
        with suppress(Unavailable):
            for letter in await until_answered(take, left):
                if letter.get("task", {}).get("state") not in ("accepted", "working"):
                    return letter
    return None


class _Watch:
    """Follows a message that waits for its answer, and reports each step to a person at a terminal."""

    def __init__(self, wire: "Wire", id: str) -> None:
        self._wire = wire
        self._id = id
        self.so_far = ""
        self.reason = ""

    async def run(self) -> None:
        """Look again and again, until it can no longer be delivered."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            with suppress(MailError):
                (standing, *_) = (await self._wire.get(f"/messages/{self._id}/status"))["standings"]
                self.reason = standing["reason"] or ""
                if standing["state"] == "dead":
                    return
                self._tell(_in_words(standing))

    def _tell(self, words: str) -> None:
        if words == self.so_far:
            return
        self.so_far = words
        if sys.stderr is not None and sys.stderr.isatty():
            print(f"postoffice: {one_line(words)}", file=sys.stderr, flush=True)


def _in_words(standing: Any) -> str:
    who, tries = standing["recipient"], standing["attempts"]
    failed = f"; try {tries} failed: {standing['reason']}" if standing["reason"] and standing["state"] != "acked" else ""
    match standing["state"]:
        case "leased":
            return f"{who} has it in hand (try {tries})"
        case "acked":
            return f"{who} is done with it, and has not answered yet"
        case "held" if standing.get("deliver_at"):
            return f"it waits for its time, {ahead(standing['deliver_at'])}"
        case "held":
            return f"it is held and tried again later{failed}"
        case _:
            return f"it waits for {who}{failed}"
