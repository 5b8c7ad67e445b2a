"""Callers that hang up: their work ends, and mail that did not reach them goes back."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive, Scope, Send

from postoffice.core.agent import Caller
from postoffice.core.delivery import Leased
from postoffice.doors.extensions import DEPARTURE, HANGUP, UNREAD
from postoffice.doors.reply import Json
from postoffice.office import PostOffice

T = TypeVar("T")
_UNDER_WAY: set[asyncio.Future[object]] = set()


async def unless_hung_up(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """The result of the work, which is cancelled if the caller hangs up first."""
    task = asyncio.ensure_future(work)
    try:
        with hanging_up(request) as leaving:
            first: set[asyncio.Future[Any]] = {task, leaving}
            await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientDisconnect
        return task.result()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@contextmanager
def hanging_up(request: Request) -> Iterator[asyncio.Future[None]]:
    """Call this as soon as the caller hangs up during the block, for work that can be called off."""
    tell: Callable[[asyncio.Future[None]], None] | None = request.scope.get("extensions", {}).get(DEPARTURE)
    if tell is None:
        leaving: asyncio.Future[None] = asyncio.ensure_future(_hang_up(request))
    else:
        leaving = asyncio.get_running_loop().create_future()
        tell(leaving)
    try:
        yield leaving
    finally:
        leaving.cancel()


async def _hang_up(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def hung_up(scope: Scope, receive: Receive) -> bool:
    """Whether the caller is known to be gone. It asks once and does not wait."""
    gone: Callable[[], bool] | None = scope.get("extensions", {}).get(HANGUP)
    if gone is not None:
        return gone()
    asking = receive()
    assert isinstance(asking, Coroutine)
    try:
        asking.send(None)
    except StopIteration as told:
        return bool(told.value["type"] == "http.disconnect")
    asking.close()
    return False


def when_unread(scope: Scope, work: Callable[[], Coroutine[Any, Any, object]]) -> None:
    """Run this if the answer that was just written turns out to be unread."""
    tell: Callable[[Callable[[], None]], None] | None = scope.get("extensions", {}).get(UNREAD)
    if tell is not None:
        tell(lambda: _begin(work()))


def _begin(work: Coroutine[Any, Any, object]) -> None:
    task = asyncio.ensure_future(work)
    _UNDER_WAY.add(task)  # without a reference it might be collected before it ends
    task.add_done_callback(_UNDER_WAY.discard)


class LeaseResponse(Json):
    """An answer with leases. If the caller is gone they go back, and that was no attempt."""

    def __init__(self, content: bytes, office: PostOffice, caller: Caller, leased: Sequence[Leased]) -> None:
        super().__init__(content)
        self._office = office
        self._caller = caller
        self._leased = leased

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the answer, unless the caller is gone."""
        if self._leased and hung_up(scope, receive):
            await self._give_back()
            return
        await super().__call__(scope, receive, send)
        if self._leased:
            when_unread(scope, self._give_back)

    async def _give_back(self) -> None:
        await self._office.give_back(self._caller, self._leased)
