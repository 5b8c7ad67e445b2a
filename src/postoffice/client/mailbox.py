"""The SDK: an agent's mailbox in a program.

    async with Mailbox("coder") as box:
        async for message in box.receive():
            await message.reply(f"you said {message.text}")

A message is acked by going on to the next one or by leaving the block, and given back by an exception.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Self

from msgspec import UnsetType

from postoffice.client import credentials
from postoffice.client.address import DEFAULT, read_address
from postoffice.client.attaching import AttachingCalls
from postoffice.client.hand import Hand
from postoffice.client.lists import ListCalls
from postoffice.client.message import Message, decode
from postoffice.client.path import part
from postoffice.client.pausing import PausingCalls
from postoffice.client.people import PeopleCalls
from postoffice.client.recurring import RecurringCalls
from postoffice.client.reserving import ReservingCalls
from postoffice.client.roles import RoleCalls
from postoffice.client.wire import Wire, until_answered
from postoffice.core.clock import sender_id
from postoffice.core.errors import MailboxClosed, MailError, NoReply, Unavailable
from postoffice.core.names import EVERYONE, folded

_WAIT_SECONDS, _LEASE_SECONDS = 25.0, 30.0
_TIMES = {"deliver_at", "deliver_in", "expires_at", "expires_in"}
_UNDER_WAY = ("accepted", "working")  # reports with these states are progress, not an answer


class Mailbox(PeopleCalls, PausingCalls, ReservingCalls, RecurringCalls, AttachingCalls, RoleCalls, ListCalls):
    """One agent's mailbox. While the server is away, sends are repeated under one id, so that nothing is lost or sent twice."""

    def __init__(
        self,
        agent: str,
        *,
        server: str | None = None,
        key: str | None = None,
        patience: float | None = 60.0,
        away: Callable[[Unavailable], None] | None = None,
    ) -> None:
        self.agent = agent
        address = read_address(server or os.environ.get("POSTOFFICE_SERVER") or DEFAULT, "POSTOFFICE_SERVER")
        kept = credentials.load(address, agent) if key is None else None
        self._wire = Wire(address, key=kept.key if kept else key, agent=agent)
        self._patience = patience
        self._away = away
        self._hands: set[Hand] = set()
        self._settling: set[asyncio.Task[None]] = set()
        self._asked: dict[str | UnsetType, _Asker] = {}
        """The callers that wait for an answer, by the question's mark."""
        self._waiting: set[asyncio.Task[Any]] = set()
        """Calls that wait for mail."""
        self._left = False

    async def __aenter__(self) -> Self:
        self._left = False
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        self._left = True
        # Other tasks may still wait for mail, and nobody would handle it now.
        for waiting in self._waiting:
            waiting.cancel()
        try:
            # A message that a task was still working on counts as not done.
            partings = [self._let_go(hand, error or hand.left_undone()) for hand in self._hands]
            await asyncio.gather(*partings, *self._settling)
        finally:
            await self._wire.__aexit__()

    async def send(self, to: str | Sequence[str], content: str | None = None, **fields: Any) -> str:
        """Send a message, which is on disk when this returns. Returns its id. `attachments` are paths, bytes or streams; `deliver_at`, `deliver_in`, `expires_at`, `expires_in` set its times."""
        return str((await self._send(to, content, fields))["message_id"])

    async def send_many(self, messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Send several, each accepted or refused by itself, in the order given."""
        bodies = [_letter(**await self.with_uploads(message)) for message in messages]
        answer = await self.call("POST", "/messages/send/batch", {"messages": bodies})
        results: list[dict[str, Any]] = answer["results"]
        return results

    async def ask(self, to: str, content: str | None = None, *, within: float = 120.0, **fields: Any) -> Message:
        """Send, wait for the answer, and ack it. Raises `Deadlock` if agents wait for each other's answers."""
        mark = fields["correlation_id"] = str(fields.get("correlation_id") or sender_id())
        asker = self._asked[mark] = _Asker()
        try:
            question = await self._send(to, content, fields)
            wish = {"correlation_id": mark} if folded(to) == folded(EVERYONE) else {"answer_to": question["message_id"]}
            while (message := await self._next_for(asker, wish, within)) is not None:
                with suppress(MailError):  # then it comes back by itself
                    await message.ack()
                task = message.letter.task
                if not task or task.state not in _UNDER_WAY:
                    return message
        finally:
            self._asked.pop(mark, None)
            for left in asker.answers:
                with suppress(MailError):
                    await left.nack()
        raise NoReply(to=to, seconds=int(within), meanwhile="")

    def receive(
        self,
        limit: int = 1,
        *,
        visible_for: float = _LEASE_SECONDS,
        one_per_session: bool = False,
        of: str | None = None,
        within: float | None = None,
    ) -> AsyncIterator[Message]:
        """Messages as they come, the agent's own and then those of its roles, without end unless `within` limits the seconds of waiting for each.

        `of` takes from one role alone; `one_per_session` gives the letters of each conversation strictly one after the other.
        """
        wish: dict[str, Any] = {"one_per_session": one_per_session} if one_per_session else {}
        wish |= {} if of is None else {"of": of}
        return self._read(Hand(), limit, visible_for, within, wish)

    async def _read(self, hand: Hand, limit: int, visible_for: float, within: float | None, wish: dict[str, Any]) -> AsyncIterator[Message]:
        hand.begin()
        for earlier in [one for one in self._hands if hand.comes_after(one)]:
            await self._let_go(earlier)  # a task that reads again has finished what it read before
        for over in [one for one in self._hands if one.abandoned()]:
            await self._let_go(over, over.left_undone())
        try:
            async for message in self._take(hand, limit, visible_for, within, wish):
                yield message
        finally:
            hand.closed = True

    async def lease(self, wish: dict[str, Any], until: float | None = None) -> list[Message]:
        """Lease waiting mail, or wait for the first to come. The caller settles it."""
        # A caller that waits for mail without end also waits for the server without end.
        patience = None if until is None or self._patience is None else max(self._patience, _left(until))
        if self._left:
            raise MailboxClosed(agent=self.agent)
        waiting = asyncio.ensure_future(until_answered(lambda: self._wire.wait(wish, _left(until)), patience, self._away))
        self._waiting.add(waiting)
        try:
            letters = await waiting
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if self._left and not (task and task.cancelling()):
                raise MailboxClosed(agent=self.agent) from None
            raise
        finally:
            waiting.cancel()
            self._waiting.discard(waiting)
        return [Message(self, decode(raw), wish["visible_for"]) for raw in letters]

    async def give_back_failed(self) -> None:
        """Give back the messages of failed tasks. A task that ended well may have passed its message to another task."""
        for hand in [one for one in self._hands if one.failed()]:
            await self._let_go(hand, hand.left_undone())

    async def tasks(self, *, asked_by_me: bool = False, state: str | None = None) -> list[dict[str, Any]]:
        """Tasks asked of this agent, or by it."""
        side = {"requester": self.agent} if asked_by_me else {"assignee": self.agent}
        answer = await self.call("GET", "/tasks", None, state=state, **side)
        tasks: list[dict[str, Any]] = answer["tasks"]
        return tasks

    async def search(self, text: str, *, limit: int = 20, **filters: object) -> list[dict[str, Any]]:
        """Letters this agent sent or got, each a "message" with an "excerpt", the best first: by words, "a phrase", begin*, from:, to:, with:, before:, after:."""
        answer = await self.call("GET", "/search", None, q=text, limit=limit, **filters)
        results: list[dict[str, Any]] = answer["results"]
        return results

    async def status(self, message_id: str) -> dict[str, Any]:
        """Where a message stands."""
        answer: dict[str, Any] = await self.call("GET", f"/messages/{part(message_id)}/status")
        return answer

    async def cancel(self, message_id: str) -> dict[str, Any]:
        """Take back mail that nobody has taken yet, or a task that is not finished. Returns what became of it with each recipient."""
        answer: dict[str, Any] = await self.call("POST", f"/messages/{part(message_id)}/cancel")
        return answer

    async def call(self, method: str, path: str, body: object = None, **query: object) -> Any:
        """Make any other REST call as this agent. It is repeated while the server is away."""
        return await until_answered(lambda: self._wire.call(method, path, body, **query), self._patience, self._away)

    async def _send(self, to: str | Sequence[str], content: str | None, fields: dict[str, Any]) -> Any:
        return await self.call("POST", "/messages/send", _letter(to=to, content=content, **await self.with_uploads(fields)))

    async def _next_for(self, asker: "_Asker", wish: dict[str, Any], within: float) -> Message | None:
        """The next message for this task: fetched here, or by another task that waited for it."""
        polling = asyncio.create_task(self._poll(asker, wish, _until(within)))
        polling.add_done_callback(lambda _: asker.rung.set())
        try:
            while not (asker.answers or polling.done()):
                asker.rung.clear()
                await asker.rung.wait()
            return asker.answers.pop(0) if asker.answers else polling.result()
        finally:
            polling.cancel()
            await asyncio.gather(polling, return_exceptions=True)

    async def _poll(self, asker: "_Asker", wish: dict[str, Any], until: float | None) -> None:
        while not asker.answers:
            asker.answers += await self.lease({"limit": 1, "visible_for": _LEASE_SECONDS, **wish}, until)
            if _left(until) == 0:
                return

    def _is_asked_for(self, message: Message) -> bool:
        """Whether it answers another task's question. That task then gets it."""
        asker = self._asked.get(message.letter.correlation_id)
        if asker is not None:
            asker.answers.append(message)
            asker.rung.set()
        return asker is not None

    async def _take(self, hand: Hand, limit: int, visible_for: float, within: float | None, wish: dict[str, Any]) -> AsyncIterator[Message]:
        wish = {"limit": limit, "visible_for": visible_for, **wish}
        until = _until(within)
        while True:
            messages = await self.lease(wish | {"ack": [item.lease for item in hand.done]}, until)
            hand.waiting = [message for message in messages if not self._is_asked_for(message)]
            for item in hand.done:
                item.settle()
            hand.done.clear()
            # An empty answer is not the end: a server that closes ends its waits early, and each server has a longest wait.
            if not hand.waiting and _left(until) == 0:
                self._hands.discard(hand)
                return
            self._hands.add(hand)  # not earlier, or waits that were given up would pile up
            while hand.waiting:
                hand.current = hand.waiting.pop(0)
                yield hand.current
                hand.go_on()
                until = _until(within)

    async def _let_go(self, hand: Hand, error: BaseException | None = None) -> None:
        self._hands.discard(hand)
        settlements = hand.let_go(error)
        if any(settlements.values()):
            # If the caller is cancelled, the settlement still goes out: nobody else remembers what was handled.
            settling = asyncio.create_task(self._settle(settlements))
            self._settling.add(settling)
            settling.add_done_callback(self._settling.discard)
            await asyncio.shield(settling)

    async def _settle(self, settlements: dict[str, list[dict[str, Any]]]) -> None:
        with suppress(MailError):  # then it comes back by itself
            answer = await self.call("POST", "/messages/settle", settlements)
            # An older office does not know untried mail; it takes it back like any other.
            pairs = zip([*settlements["ack"], *settlements["nack"]], answer["settled"], strict=True)
            refused = [{"id": item["id"], "token": item["token"]} for item, outcome in pairs if "untried" in item and outcome["problem"]]
            if refused:
                await self.call("POST", "/messages/settle", {"nack": refused})


class _Asker:
    """A caller that waits for an answer, and the answer once it is there."""

    def __init__(self) -> None:
        self.answers: list[Message] = []
        self.rung = asyncio.Event()


def _as_rest_takes_it(when: object) -> object:
    """A time or a duration for REST, from any type a program may use."""
    if isinstance(when, timedelta):
        return when.total_seconds()
    return when.isoformat() if isinstance(when, datetime) else when


def _until(within: float | None) -> float | None:
    return None if within is None else asyncio.get_running_loop().time() + within


def _left(until: float | None) -> float:
    return _WAIT_SECONDS if until is None else max(until - asyncio.get_running_loop().time(), 0)


def _letter(*, to: str | Sequence[str], content: str | None = None, id: str | None = None, **fields: Any) -> dict[str, Any]:
    """A message's body for REST, with an id of our own."""
    body = {"to": to if isinstance(to, str) else list(to), "content": content, "id": id or sender_id(), **fields}
    for name in body.keys() & _TIMES:
        body[name] = _as_rest_takes_it(body[name])
    if content is not None and not body.keys() & {"subject", "session_id", "reply_to", "forward_of"}:
        body["subject"] = ""
    return {name: value for name, value in body.items() if value is not None or name == "payload"}
