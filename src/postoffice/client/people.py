"""What a person does with mail, for programs that speak for a person."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from postoffice.client.path import part
from postoffice.core.clock import sender_id

_WAIT_SECONDS = 20.0


class PeopleCalls:
    """The calls of a person: the owner, or an agent that the owner marked as one."""

    async def call(self, method: str, path: str, body: object = None, **query: object) -> Any:
        """Make a REST call; the mailbox does it."""
        raise NotImplementedError

    async def send(self, to: str | Sequence[str], content: str | None = None, **fields: Any) -> str:
        """Send a message; the mailbox does it."""
        raise NotImplementedError

    async def seen(self, message_id: str) -> dict[str, Any]:
        """Open a letter: it is no longer unread, and its sender hears that it was seen."""
        return await self._finish(message_id, "seen")

    async def keep_unread(self, message_id: str) -> dict[str, Any]:
        """Make a letter unread again, as if it had not been opened."""
        return await self._finish(message_id, "unseen")

    async def done(self, message_id: str) -> dict[str, Any]:
        """Finish a letter, answered or not."""
        return await self._finish(message_id, "done")

    async def snooze(self, message_id: str, seconds: float | None = None, *, until: datetime | None = None) -> dict[str, Any]:
        """Snooze a letter, for an hour by default; it comes back by itself."""
        body = {"seconds": seconds, "until": None if until is None else until.isoformat()}
        return await self._finish(message_id, "snooze", {name: value for name, value in body.items() if value is not None})

    async def for_you(self) -> dict[str, Any]:
        """All that waits for this agent: `matters`, the most pressing first, and their `count`."""
        matters: dict[str, Any] = await self.call("GET", "/for-you")
        return matters

    async def forget(self, name: str) -> dict[str, Any]:
        """Forget a name that nobody ever used, as the owner. What waits there becomes `dead`, and its senders are told."""
        forgotten: dict[str, Any] = await self.call("DELETE", f"/agents/{part(name)}")
        return forgotten

    # Questions

    async def ask_person(
        self,
        content: str,
        *,
        to: str = "owner",
        choices: Sequence[str] = (),
        text: bool = True,
        default: str | None = None,
        deadline: datetime | None = None,
        **fields: Any,
    ) -> str:
        """Ask a person without waiting. Returns the question's id. The answer comes as a letter; `answered` waits for it."""
        ask = {"choices": list(choices), "text": text, "default": default, "deadline": None if deadline is None else deadline.isoformat()}
        return await self.send(to, content, ask={name: value for name, value in ask.items() if value is not None}, **fields)

    async def answered(self, question_id: str, within: float | None = None) -> dict[str, Any]:
        """The question once it is closed, or as it is after so many seconds. The answering letter waits in the mailbox like any other."""
        until = None if within is None else asyncio.get_running_loop().time() + within
        after = str((await self.call("GET", "/mailbox"))["counted"])
        while (question := await self.question(question_id))["state"] == "open":
            left = _WAIT_SECONDS if until is None else min(_WAIT_SECONDS, until - asyncio.get_running_loop().time())
            if left <= 0:
                break
            after = (await self.call("GET", "/events", None, after=after, wait=left))["cursor"]
        return question

    async def questions(self, *, asked_by_me: bool = False, state: str | None = "open") -> list[dict[str, Any]]:
        """Questions to this agent, or by it; only open ones by default."""
        answer = await self.call("GET", "/questions", None, asked_by_me=asked_by_me, state=state, any_state=state is None)
        questions: list[dict[str, Any]] = answer["questions"]
        return questions

    async def question(self, question_id: str) -> dict[str, Any]:
        """One question and its present state."""
        question: dict[str, Any] = await self.call("GET", f"/questions/{part(question_id)}")
        return question

    async def answer(self, question_id: str, choice: str | None = None, text: str | None = None) -> dict[str, Any]:
        """Answer a question, as the person it was put to."""
        body = {"choice": choice, "text": text, "id": sender_id()}
        answer: dict[str, Any] = await self.call("POST", f"/questions/{part(question_id)}/answer", body)
        return answer

    async def withdraw(self, question_id: str) -> dict[str, Any]:
        """Take a question back."""
        question: dict[str, Any] = await self.call("POST", f"/questions/{part(question_id)}/withdraw")
        return question

    async def go_on(self, session_id: str) -> bool:
        """Let two held models go on, as the owner. Returns whether anything was held."""
        answer = await self.call("POST", f"/sessions/{part(session_id)}/go-on")
        return bool(answer["freed"])

    async def _finish(self, message_id: str, verb: str, body: object = None) -> dict[str, Any]:
        standing: dict[str, Any] = await self.call("POST", f"/messages/{part(message_id)}/{verb}", body)
        return standing
