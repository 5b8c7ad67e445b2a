"""One client of an office over HTTP: each of its calls is in the history before it is made and again when it has ended."""

import asyncio
import itertools
import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Self

from postoffice.client.wire import Wire
from postoffice.core.clock import micros
from postoffice.core.errors import MailError, NoAnswer, OutcomeUnknown
from tests.chaos.history import Call, Item, Op, Outcome, Scribe, ended


class Caller:
    """One agent, at any of several equal addresses. What it is not told within its patience it does not know."""

    def __init__(self, scribe: Scribe, client: str, agent: str, urls: Sequence[str], patience: float = 10.0) -> None:
        self.agent = agent
        self._scribe = scribe
        self._client = client
        self._patience = patience
        self._wires = [Wire(url, agent=agent) for url in urls]
        self._turn = 0
        self._numbers = itertools.count(1)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for wire in self._wires:
            await wire.__aexit__()

    async def send(self, to: str, client_id: str, content: str, priority: int = 3, **more: Any) -> Call:
        call = self._begin(Op.SEND, to=to, client_id=client_id, content=content, priority=priority)
        body = {"to": to, "id": client_id, "subject": "", "content": content, "priority": priority}
        return await self._do(call, "/messages/send", body | more)

    async def take(self, limit: int, visible_for: float, wait: float = 0.0) -> Call:
        body = {"limit": limit, "visible_for": visible_for} | ({"wait": wait} if wait else {})
        call = self._begin(Op.TAKE, visible_for=visible_for)
        return await self._do(call, "/messages/wait" if wait else "/messages/receive", body)

    async def settle(self, op: Op, item: Item, visible_for: float = 0.0) -> Call:
        body = {"token": item.token} | ({"visible_for": visible_for} if op is Op.EXTEND else {})
        call = self._begin(op, message=item.message, token=item.token, visible_for=visible_for)
        return await self._do(call, f"/messages/{item.message}/{op.value}", body)

    async def ask(self, path: str) -> Any:
        """A question, which is no part of the history."""
        return await self._wires[self._turn].get(path)

    def _begin(self, op: Op, **asked: Any) -> Call:
        id = f"{self._client}/{next(self._numbers)}"
        return Call(id=id, client=self._client, op=op, agent=self.agent, begun=time.monotonic_ns(), begun_wall=time.time_ns(), **asked)

    async def _do(self, call: Call, path: str, body: dict[str, Any]) -> Call:
        await self._scribe.write(call)
        over = await self._outcome(call, path, body)
        if not over.answered:
            self._turn = (self._turn + 1) % len(self._wires)  # perhaps another one is better off
        await self._scribe.write(over)
        return over

    async def _outcome(self, call: Call, path: str, body: dict[str, Any]) -> Call:
        try:
            async with asyncio.timeout(self._patience):
                answer = await self._wires[self._turn].post(path, body)
        except (NoAnswer, TimeoutError):
            return ended(call, Outcome.UNKNOWN)
        except OutcomeUnknown as error:
            return ended(call, Outcome.UNKNOWN, code=error.code)
        except MailError as error:
            return ended(call, Outcome.REFUSED, code=str(error.facts.get("code", error.code)))
        if call.op is Op.SEND:
            return ended(call, Outcome.ANSWERED, message=answer["message_id"])
        return ended(call, Outcome.ANSWERED, items=tuple(map(_item, answer["messages"])) if call.op is Op.TAKE else ())


def _item(letter: dict[str, Any]) -> Item:
    return Item(
        message=letter["id"],
        sender=letter["from"],
        client_id=letter.get("client_id", ""),
        content=letter["content"],
        priority=letter["priority"],
        number=letter["number"],
        attempt=letter["attempt"],
        token=letter["token"],
        until=micros(datetime.fromisoformat(letter["leased_until"])) * 1000,
    )
