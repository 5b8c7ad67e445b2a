"""A task or message being worked on, from the first turn until its asker has the answer."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from postoffice_files import FileMailError
from postoffice_files.clock import SECOND, parse_instant
from postoffice_nanobot.answer import Answer
from postoffice_nanobot.place import CHANNEL, Place
from postoffice_nanobot.prompts import errand_prompt
from postoffice_nanobot.reports import NoReports, Reports

_DECIDING_SECONDS = 5.0
"""In seconds. A model that has not declined by then counts as having accepted."""

Ask = Callable[[Place, str, str], Awaitable[Answer]]
"""Runs a turn of the model in a conversation, with a text, because of a mail."""


@dataclass(frozen=True, slots=True)
class Word:
    """Something to tell the model while it works on an errand."""

    text: str
    heard: asyncio.Future[None]
    delegation: str | None = None
    """The delegation that this answers."""


class Errand:
    """One errand. A task has a session of its own; all messages of one agent share one."""

    def __init__(self, mail: dict[str, Any], reports: Reports, ask: Ask) -> None:
        self.mail = mail
        self.reports = reports
        self.place = place_of(mail)
        self.waiting = False
        self._ask = ask
        self._open: set[str] = set()
        self._words: asyncio.Queue[Word] = asyncio.Queue()
        self._heard: list[Word] = []

    @property
    def is_task(self) -> bool:
        """Whether it is a task, which counts against the quota."""
        return bool(self.mail["type"] == "task")

    def delegated(self, id: str) -> None:
        """Note that another agent was asked something for this errand."""
        self._open.add(id)

    def withdrawn(self, id: str) -> None:
        """Note that it was not asked after all."""
        self._open.discard(id)

    def hear(self, text: str, delegation: str | None = None) -> asyncio.Future[None]:
        """Tell the model a word after the present turn. Returns when the errand is done, as only then the word's mail may be settled."""
        word = Word(text, asyncio.get_running_loop().create_future(), delegation)
        self._words.put_nowait(word)
        return word.heard

    async def work(self, now: int, settle: Callable[[], Awaitable[None]]) -> None:
        """Work until there is an answer, report it and settle the mail."""
        deciding = asyncio.create_task(self._take_up_unless_declined())
        try:
            async with asyncio.timeout(self._time_left(now)) as limit:
                answer = await self._answer()
            deciding.cancel()
            await asyncio.gather(deciding, return_exceptions=True)
            await self.reports.done(answer)
        except TimeoutError:
            if not limit.expired():
                raise
            await self.reports.failed(f"deadline passed: the task was due at {self.mail['task']['deadline']}")
        finally:
            deciding.cancel()
        await settle()

    def leave(self, error: Exception | None) -> None:
        """End the waits of all words that were not heard yet."""
        while not self._words.empty():
            self._heard.append(self._words.get_nowait())
        for word in self._heard:
            if word.heard.done():
                continue
            if error is None:
                word.heard.set_result(None)
            else:
                word.heard.set_exception(error)
                word.heard.exception()  # marks the exception as seen, as not every word has a waiter

    async def _answer(self) -> Answer:
        # After a kill, an errand that has asked others waits for their answers instead of asking again.
        if not self._open:
            answer = await self._ask(self.place, self._prompt(), self.mail["filename"])
        else:
            answer = Answer("")
        while (self._open or not self._words.empty()) and answer.declined is None:
            if answer.text:
                await self.reports.progress(answer.text)
            self.waiting = True
            word = await self._words.get()
            self.waiting = False
            self._heard.append(word)
            answer = await self._ask(self.place, word.text, self.mail["filename"])
            self._open.discard(word.delegation or "")
        return answer

    async def _take_up_unless_declined(self) -> None:
        await asyncio.sleep(_DECIDING_SECONDS)
        with suppress(FileMailError, OSError):  # the final report implies it
            await self.reports.taken_up()

    def _prompt(self) -> str:
        return errand_prompt(self.mail, answered=not isinstance(self.reports, NoReports))

    def _time_left(self, now: int) -> float | None:
        due = parse_instant((self.mail["task"] or {}).get("deadline")) if self.is_task else None
        return None if due is None else max(0.0, (due - now) / SECOND)


def place_of(mail: dict[str, Any]) -> Place:
    """The conversation for a mail."""
    sender = mail["from"]
    own = f":{hashlib.sha256(mail['task']['id'].encode()).hexdigest()[:12]}" if mail["type"] == "task" else ""
    return Place(f"{CHANNEL}:{sender}{own}", CHANNEL, sender)
