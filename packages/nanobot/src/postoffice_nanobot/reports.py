"""Reports to the asker: each state of a task once, whatever happens in between."""

from typing import Any, Protocol

from postoffice_files import task_update
from postoffice_files.clock import parse_instant
from postoffice_nanobot.answer import Answer, keepable
from postoffice_nanobot.box import Box

_LATEST_MICROS = 10**17
"""In microseconds; a sender's clock may be wrong."""
_LAST_ORDER = 10**9
"""The final report comes after all others."""


class Reports(Protocol):
    """Reports to one asker."""

    async def taken_up(self) -> None:
        """Report that the work has begun."""

    async def progress(self, text: str) -> None:
        """Report progress."""

    async def done(self, answer: Answer) -> None:
        """Report the answer, or that the model declined."""

    async def refused(self, reason: str) -> None:
        """Report that the task was refused before it began."""

    async def failed(self, reason: str) -> None:
        """Report a failure."""


class _Way:
    """Sends reports with the time of the mail they answer and a key, so that one sent again after a kill is the same file."""

    def __init__(self, box: Box, mail: dict[str, Any]) -> None:
        self._box = box
        self._mail = mail
        self._at = min(max(parse_instant(mail["timestamp"]) or 0, 0), _LATEST_MICROS)
        self._count = 0

    async def send(self, message: dict[str, Any], order: int, key: str) -> None:
        whole = f"{self._box.agent}/{self._mail['filename']}/{key}"
        await self._box.post(self._mail["from"], message, at=self._at, key=whole, order=order)

    async def along(self, message: dict[str, Any]) -> None:
        self._count += 1
        await self.send(message, 2 + self._count, f"progress {self._mail['attempt']} {self._count}")

    async def last(self, message: dict[str, Any]) -> None:
        await self.send(message, _LAST_ORDER, "last")


class TaskReports:
    """Reports on a task."""

    def __init__(self, box: Box, mail: dict[str, Any]) -> None:
        self._way = _Way(box, mail)
        self._mail = mail
        self._begun = False

    async def taken_up(self) -> None:
        if self._begun:
            return
        self._begun = True
        await self._way.send(task_update(self._mail, "accepted"), 1, "accepted")
        await self._way.send(task_update(self._mail, "working"), 2, "working")

    async def progress(self, text: str) -> None:
        await self.taken_up()
        await self._way.along(task_update(self._mail, "working", keepable(text)))

    async def done(self, answer: Answer) -> None:
        if (reason := answer.declined) is not None:
            await self.refused(f"declined: {reason}")
            return
        await self.taken_up()
        await self._way.last(task_update(self._mail, "completed") | {"content": {"parts": answer.parts()}})

    async def refused(self, reason: str) -> None:
        # An accepted task cannot be rejected any more, only fail, and an earlier attempt may have accepted it.
        begun = self._begun or self._mail["attempt"] > 1
        await self._way.last(task_update(self._mail, "failed" if begun else "rejected", keepable(reason)))

    async def failed(self, reason: str) -> None:
        await self._way.last(task_update(self._mail, "failed", keepable(reason)))


class Replies:
    """Answers to a message that is not a task."""

    def __init__(self, box: Box, mail: dict[str, Any]) -> None:
        self._way = _Way(box, mail)
        self._mail = mail

    async def taken_up(self) -> None:
        """A message needs no such report."""

    async def progress(self, text: str) -> None:
        await self._way.along(self._reply(Answer(text)))

    async def done(self, answer: Answer) -> None:
        await self._way.last(self._reply(answer))

    async def refused(self, reason: str) -> None:
        """A message cannot be refused."""

    async def failed(self, reason: str) -> None:
        await self._way.last(self._reply(Answer(reason)))

    def _reply(self, answer: Answer) -> dict[str, Any]:
        # Marked as automatic, so that no program answers it.
        return {
            "type": "message",
            "content": {"parts": answer.parts()},
            "reply_to": self._mail["id"],
            "callback": self._mail["callback"],
            "automatic": True,
        }


class NoReports:
    """No reports, as nobody waits for an answer."""

    async def taken_up(self) -> None: ...

    async def progress(self, text: str) -> None: ...

    async def done(self, answer: Answer) -> None: ...

    async def refused(self, reason: str) -> None: ...

    async def failed(self, reason: str) -> None: ...


def reports_for(box: Box, mail: dict[str, Any]) -> Reports:
    """How to report on a mail. An automatic message gets no answer, or two programs would answer each other for ever."""
    if mail["type"] == "task":
        return TaskReports(box, mail)
    if mail["type"] == "task_update" or mail.get("automatic") or mail["from"].lower() == "system":
        return NoReports()
    return Replies(box, mail)
