"""The SDK: an agent's mailbox in a program.

    async with Mailbox("coder") as box:
        async for message in box.receive():
            await message.reply(f"you said {message.text}")

A message is acked by going on to the next one or by leaving the block, and given back by an exception.
"""

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Self
from uuid import uuid4

from postoffice.client import credentials
from postoffice.client.address import DEFAULT, read_address
from postoffice.client.message import Message, decode
from postoffice.client.wire import Wire, until_answered
from postoffice.core.errors import MailError, NoReply

_WAIT, _LONGEST, _VISIBLE = 25.0, 240.0, 30.0
_REASON = 500
_UNDER_WAY = ("accepted", "working")  # a task's progress is no answer yet


class Mailbox:
    """One agent's mailbox. Sends are repeated by id while the server is away, so that nothing is sent twice or lost."""

    def __init__(self, agent: str, *, server: str | None = None, key: str | None = None, patience: float | None = 60.0) -> None:
        self.agent = agent
        address = read_address(server or os.environ.get("POSTOFFICE_SERVER") or DEFAULT, "POSTOFFICE_SERVER")
        kept = credentials.load(address, agent) if key is None else None
        self._wire = Wire(address, key=kept.key if kept else key, agent=agent)
        self._patience = patience
        self._hands: list[_Hand] = []
        self._reading: _Hand | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        try:
            await self._let_go(error)
        finally:
            await self._wire.__aexit__()

    async def send(self, to: str | Sequence[str], content: str | None = None, **fields: Any) -> str:
        """Send a message; gives its id. On disk when this returns."""
        return str((await self._send(to, content, fields))["message_id"])

    async def send_many(self, messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Send several, each accepted or refused by itself, in the order given."""
        bodies = [_letter(**message) for message in messages]
        answer = await self.call("POST", "/messages/send/batch", {"messages": bodies})
        results: list[dict[str, Any]] = answer["results"]
        return results

    async def ask(self, to: str, content: str | None = None, *, within: float = 120.0, **fields: Any) -> Message:
        """Send, and wait for the answer that carries the same mark."""
        mark = str(fields.setdefault("correlation_id", str(uuid4())))
        await self._send(to, content, fields)
        async for message in self._take(self._hand(), 1, None, within, {"correlation_id": mark}):
            task = message.letter.task
            if not task or task.state not in _UNDER_WAY:
                return message
        raise NoReply(to=to, seconds=int(within))

    async def receive(
        self, limit: int = 1, *, visible_for: float = _VISIBLE, one_per_session: bool = False, within: float | None = None
    ) -> AsyncIterator[Message]:
        """Messages as they come, without end unless `within` seconds bound the waiting for each."""
        wish = {"one_per_session": one_per_session} if one_per_session else {}
        if self._reading is not None:
            await self._reading.let_go()  # whoever reads anew has done with what it read before
        self._reading = hand = self._hand()
        async for message in self._take(hand, limit, visible_for, within, wish, endless=within is None):
            yield message

    async def tasks(self, *, asked_by_me: bool = False, state: str | None = None) -> list[dict[str, Any]]:
        """Tasks asked of this agent, or by it."""
        side = {"requester": self.agent} if asked_by_me else {"assignee": self.agent}
        answer = await self.call("GET", "/tasks", None, state=state, **side)
        found: list[dict[str, Any]] = answer["tasks"]
        return found

    async def status(self, message_id: str) -> dict[str, Any]:
        """Where a message stands."""
        answer: dict[str, Any] = await self.call("GET", f"/messages/{message_id}/status")
        return answer

    async def call(self, method: str, path: str, body: object = None, **query: object) -> Any:
        """Any other call of the REST door, as this agent, repeated while the server is away."""
        if method == "GET":
            return await until_answered(lambda: self._wire.get(path, **query), self._patience)
        return await until_answered(lambda: self._wire.post(path, body, **query), self._patience)

    async def _send(self, to: str | Sequence[str], content: str | None, fields: dict[str, Any]) -> Any:
        return await self.call("POST", "/messages/send", _letter(to=to, content=content, **fields))

    def _hand(self) -> "_Hand":
        hand = _Hand()
        self._hands.append(hand)
        return hand

    async def _take(
        self, hand: "_Hand", limit: int, visible_for: float | None, within: float | None, wish: dict[str, Any], *, endless: bool = False
    ) -> AsyncIterator[Message]:
        seconds = _VISIBLE if visible_for is None else visible_for
        wish = {"limit": limit, "visible_for": seconds, "wait": _WAIT if within is None else min(within, _LONGEST), **wish}
        while True:
            acks = [{"id": item.id, "token": item.letter.token} for item in hand.done]
            answer = await until_answered(partial(self._wire.post, "/messages/wait", wish | {"ack": acks}), None)
            for item in hand.done:
                item.settle()
            hand.done.clear()
            hand.waiting = [Message(self, decode(raw), seconds) for raw in answer["messages"]]
            if not hand.waiting and not endless:
                return
            while hand.waiting:
                hand.current = hand.waiting.pop(0)
                yield hand.current
                hand.done.append(hand.current)
                hand.current = None

    async def _let_go(self, error: BaseException | None) -> None:
        hands, self._hands = self._hands, []
        for number, hand in enumerate(hands):
            # An exception is about what the outermost reader was at; what was asked for meanwhile has been answered.
            await hand.let_go(error if number == 0 else None)


class _Hand:
    """What one reader of a mailbox has in hand."""

    def __init__(self) -> None:
        self.done: list[Message] = []
        self.current: Message | None = None
        self.waiting: list[Message] = []

    async def let_go(self, error: BaseException | None = None) -> None:
        """What was handled is acked, what failed is given back with the reason, what was not begun without one."""
        current, self.current = self.current, None
        settling = [*(message.ack() for message in self.done), *(message.nack() for message in self.waiting)]
        if current is not None:
            settling.append(current.ack() if error is None else current.nack(f"{type(error).__name__}: {error}"[:_REASON]))
        self.done, self.waiting = [], []
        for settled in settling:
            with suppress(MailError):  # a lease that was lost is somebody else's now
                await settled


def _letter(*, to: str | Sequence[str], content: str | None = None, **fields: Any) -> dict[str, Any]:
    """A message as REST takes it, under an id of its own."""
    body = {"to": to if isinstance(to, str) else list(to), "content": content, "id": str(uuid4()), **fields}
    if content is not None and not body.keys() & {"subject", "session_id", "reply_to", "forward_of"}:
        body["subject"] = ""
    return {name: value for name, value in body.items() if value is not None or name == "payload"}
