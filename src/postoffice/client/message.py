"""A message that a program has in hand."""

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET

from postoffice.client.wire import until_answered
from postoffice.core.attachment import Attachment
from postoffice.core.clock import sender_id
from postoffice.core.errors import IdConflict, Unavailable
from postoffice.core.letter import LeasedLetter, text_of_letter
from postoffice.core.names import is_list
from postoffice.core.task import TaskState

if TYPE_CHECKING:
    from postoffice.client.mailbox import Mailbox


class Message:
    """A received message, and what can be done with it."""

    def __init__(self, box: "Mailbox", letter: LeasedLetter, visible_for: float) -> None:
        self.letter = letter
        self._box = box
        self._visible_for = visible_for
        self._said: list[dict[str, Any]] = []
        self._settled = False
        self.acked = False
        """Whether an ack was sent, even if it may not have arrived. From then on the message is not given back."""
        self._keeping: asyncio.Task[None] | None = None
        # Only a timer at first, as most messages are settled long before their lease could run out.
        self._due = asyncio.get_running_loop().call_later(visible_for / 3, self._begin_keeping)

    @property
    def id(self) -> str:
        """The office's id."""
        return self.letter.id

    @property
    def sender(self) -> str:
        """The sender. The letter's `from_verified` says whether a key proved that."""
        return self.letter.sender

    @property
    def subject(self) -> str:
        """The conversation's subject."""
        return self.letter.subject

    @property
    def text(self) -> str:
        """The message as text, whatever it carries."""
        return text_of_letter(self.letter)

    @property
    def payload(self) -> Any:
        """The JSON it carries; None if it carries none."""
        return None if self.letter.payload is UNSET else self.letter.payload

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """The message's attachments. The mailbox saves each (`save`), or gives its bytes (`pieces`)."""
        return self.letter.attachments if isinstance(self.letter.attachments, tuple) else ()

    @property
    def session_id(self) -> str | None:
        """The conversation's id."""
        return self.letter.session_id if isinstance(self.letter.session_id, str) else None

    @property
    def lease(self) -> dict[str, Any]:
        """The ids with which it is settled."""
        return {"id": self.id, "token": self.letter.token}

    async def reply(self, content: str | None = None, *, id: str | None = None, to_list: bool = False, **fields: Any) -> str:
        """Answer in the same conversation, with the same mark. An answer sent twice by accident arrives once.

        What came by a list is answered to its author, or with `to_list` to all.
        """
        letter = self.letter
        if not id:
            return await self._answer({"content": content} | ({"to_list": True} if to_list else {}) | fields)
        if isinstance(letter.correlation_id, str):
            fields.setdefault("correlation_id", letter.correlation_id)
        if is_list(letter.to):
            fields.setdefault("subject", letter.subject)
        elif self.session_id is not None:
            fields.setdefault("session_id", self.session_id)
        to = letter.to if to_list and is_list(letter.to) else letter.sender
        return await self._box.send(to, content, id=id, reply_to=letter.id, **fields)

    async def _answer(self, said: dict[str, Any]) -> str:
        """Send an answer under an id made from its content, so that handling the message again sends the same id."""
        if said not in self._said:
            self._said.append(said)
        number = self._said.index(said)
        id = f"reply-{self.id}-{number + 1}" if number else f"reply-{self.id}"
        try:
            return await self.reply(**said, id=id)
        except IdConflict:
            # An earlier taker answered in other words and ended before it could ack. Its answer has been delivered and stands.
            return str((await self._box.status(id))["message_id"])

    async def report(self, state: TaskState | str, content: str | None = None, *, id: str | None = None, **fields: Any) -> None:
        """Move the task this message asks for. A report sent twice by accident arrives once."""
        body = {"state": TaskState(state), "content": content, "id": id or sender_id()} | await self._box.with_uploads(fields)
        await self._box.call("POST", f"/tasks/{self.id}/update", {name: value for name, value in body.items() if value is not None})

    async def ack(self) -> None:
        """Say that the message is handled."""
        if self.settle():
            self.acked = True
            try:
                await self._box.call("POST", f"/messages/{self.id}/ack", {"token": self.letter.token})
            except (Unavailable, asyncio.CancelledError):
                self._settled = False  # the ack may not have arrived, and can be sent again
                raise

    async def nack(self, reason: str | None = None, *, delay: float = 0, untried: bool = False) -> None:
        """Give the message back unhandled. If it was never begun (`untried`), that was no attempt."""
        if not self.acked and self.settle():
            body = {"token": self.letter.token, "delay": delay, "reason": reason} | ({"untried": True} if untried else {})
            await self._box.call("POST", f"/messages/{self.id}/nack", body)

    @property
    def settled(self) -> bool:
        """Whether the program has acked it or given it back."""
        return self._settled

    def settle(self) -> bool:
        """Stop extending the lease. Returns whether there is still something to settle."""
        settled, self._settled = self._settled, True
        self._due.cancel()
        if self._keeping is not None:
            self._keeping.cancel()
        return not settled

    def _begin_keeping(self) -> None:
        self._keeping = asyncio.create_task(self._keep())

    async def _keep(self) -> None:
        """Extend the lease while the message is being handled."""
        while True:
            await self._box.give_back_failed()  # this message may be one of them, and then needs no more extending
            # Keep trying while the office is away: it may be back before the lease ends.
            await until_answered(self._extend)
            await asyncio.sleep(self._visible_for / 3)

    async def _extend(self) -> None:
        await self._box.call("POST", f"/messages/{self.id}/extend", {"token": self.letter.token, "visible_for": self._visible_for})


def decode(raw: Any) -> LeasedLetter:
    """Decode a letter from REST."""
    return msgspec.convert(raw, LeasedLetter)
