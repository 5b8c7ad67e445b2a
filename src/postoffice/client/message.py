"""A message in the hands of a program."""

import asyncio
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import msgspec
from msgspec import UNSET

from postoffice.core.errors import IdConflict
from postoffice.core.letter import LeasedLetter, text_of_letter
from postoffice.core.task import TaskState

if TYPE_CHECKING:
    from postoffice.client.mailbox import Mailbox


class Message:
    """What was received, and what can be done with it."""

    def __init__(self, box: "Mailbox", letter: LeasedLetter, visible_for: float) -> None:
        self.letter = letter
        self._box = box
        self._visible_for = visible_for
        self._said: list[dict[str, Any]] = []
        self._settled = False
        self._keeping: asyncio.Task[None] | None = None
        # Most are settled long before their lease is in danger, so that only a timer runs for each until then.
        self._due = asyncio.get_running_loop().call_later(visible_for / 3, self._begin_keeping)

    @property
    def id(self) -> str:
        """The office's id."""
        return self.letter.id

    @property
    def sender(self) -> str:
        """Who sent it; `from_verified` on the letter says whether a key proved that."""
        return self.letter.sender

    @property
    def subject(self) -> str:
        """What the conversation is about."""
        return self.letter.subject

    @property
    def text(self) -> str:
        """What it says, as text, whatever it carries."""
        return text_of_letter(self.letter)

    @property
    def payload(self) -> Any:
        """The JSON it carries; None if it carries none."""
        return None if self.letter.payload is UNSET else self.letter.payload

    @property
    def session_id(self) -> str | None:
        """Its conversation."""
        return self.letter.session_id if isinstance(self.letter.session_id, str) else None

    @property
    def lease(self) -> dict[str, Any]:
        """What names it to the office when it is settled."""
        return {"id": self.id, "token": self.letter.token}

    async def reply(self, content: str | None = None, **fields: Any) -> str:
        """Answer in the same conversation, with the same mark. Sent twice by accident it is still one answer."""
        letter = self.letter
        if "id" not in fields:
            return await self._answer({"content": content} | fields)
        if isinstance(letter.correlation_id, str):
            fields.setdefault("correlation_id", letter.correlation_id)
        if self.session_id is not None:
            fields.setdefault("session_id", self.session_id)
        return await self._box.send(letter.sender, content, reply_to=letter.id, **fields)

    async def _answer(self, said: dict[str, Any]) -> str:
        """Under an id that the same answer has whenever this message is handled again."""
        if said not in self._said:
            self._said.append(said)
        number = self._said.index(said)
        id = f"reply-{self.id}-{number + 1}" if number else f"reply-{self.id}"
        try:
            return await self.reply(**said, id=id)
        except IdConflict:
            # Whoever had it before answered, in other words, and was gone before it could ack: that answer has been read.
            return str((await self._box.status(id))["message_id"])

    async def report(self, state: TaskState | str, content: str | None = None, **fields: Any) -> None:
        """Move the task this message asks for. Told twice by accident it is still one report."""
        body = {"state": TaskState(state), "content": content, "id": str(uuid4())} | fields
        await self._box.call("POST", f"/tasks/{self.id}/update", {name: value for name, value in body.items() if value is not None})

    async def ack(self) -> None:
        """Done with it."""
        if self.settle():
            await self._box.call("POST", f"/messages/{self.id}/ack", {"token": self.letter.token})

    async def nack(self, reason: str | None = None, *, delay: float = 0) -> None:
        """Not done with it: give it back."""
        if self.settle():
            body = {"token": self.letter.token, "delay": delay, "reason": reason}
            await self._box.call("POST", f"/messages/{self.id}/nack", body)

    def settle(self) -> bool:
        """Stop keeping it; whether there was still something to settle."""
        settled, self._settled = self._settled, True
        self._due.cancel()
        if self._keeping is not None:
            self._keeping.cancel()
        return not settled

    def _begin_keeping(self) -> None:
        self._keeping = asyncio.create_task(self._keep())

    async def _keep(self) -> None:
        """Extend the lease for as long as somebody is at it."""
        while True:
            await self._box.call("POST", f"/messages/{self.id}/extend", {"token": self.letter.token, "visible_for": self._visible_for})
            await asyncio.sleep(self._visible_for / 3)


def decode(raw: Any) -> LeasedLetter:
    """A letter as REST gave it."""
    return msgspec.convert(raw, LeasedLetter)
