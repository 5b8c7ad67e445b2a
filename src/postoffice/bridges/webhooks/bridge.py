"""The bridge to webhooks. One process at a time sends events from the log; a lease in the store decides which."""

import asyncio
import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Self

from postoffice.bridges.webhooks.sender import Sender
from postoffice.core.clock import Clock
from postoffice.core.errors import MailError
from postoffice.core.webhook import Network, Outgoing, Tried, signed
from postoffice.office import PostOffice
from postoffice.office.webhooks import Target

_log = logging.getLogger(__name__)
_DUTY_LASTS = timedelta(seconds=15)
_LOOK_SECONDS = 1.0
_LEAST_GAP_SECONDS = 0.05
_PARTING_SECONDS = 1.0
_POSTS_AT_ONCE = 16
_MOST_DOUBLINGS = 6
_MICROS = 1_000_000


class WebhookBridge:
    """`async with` opens it. Each webhook has a task of its own, so a slow one does not hold up the others."""

    name = "webhooks"

    def __init__(self, office: PostOffice, networks: Sequence[Network], *, pause: float = _LOOK_SECONDS) -> None:
        self._office = office
        self._webhooks = office.webhooks
        self._sender = Sender(networks)
        self._pause = pause
        self._clock = Clock()
        self._me = self._clock.new_id()
        self._mine_until = 0.0
        self._known = 0
        self._told = 0
        self._failures: dict[str, int] = {}
        self._resting: dict[str, float] = {}  # until when each rests, by the loop's clock
        self._telling: dict[str, asyncio.Task[None]] = {}
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        self._tasks = [asyncio.create_task(self._forever(act)) for act in (self._hold, self._look)]
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._mine_until = 0.0
        if self._telling:  # let calls under way finish, so that they are not sent again
            await asyncio.wait(self._telling.values(), timeout=_PARTING_SECONDS)
        for task in self._telling.values():
            task.cancel()
        await asyncio.gather(*self._telling.values(), return_exceptions=True)
        await self._sender.close()

    async def facts(self) -> dict[str, Any]:
        """What an operator wants to know of it; empty without webhooks."""
        if not self._known:
            return {}
        return {"webhooks": self._known, "telling": self._is_mine(), "told": self._told, "failing": len(self._failures)}

    def _is_mine(self) -> bool:
        return asyncio.get_running_loop().time() < self._mine_until

    async def _forever(self, act: Any) -> None:
        while True:
            try:
                await act()
            except MailError as error:
                _log.warning("webhooks: %s; trying again in a moment", error)
            except Exception:  # noqa: BLE001 - one bug must not stop everything
                _log.exception("webhooks failed; trying again in a moment")
            await asyncio.sleep(self._pause)

    async def _hold(self) -> None:
        lasts = _DUTY_LASTS.total_seconds()
        while True:
            begun = asyncio.get_running_loop().time()
            held = await self._webhooks.hold(self._me, _DUTY_LASTS)
            self._mine_until = begun + lasts if held else 0.0
            await asyncio.sleep(lasts / 3)

    async def _look(self) -> None:
        """Start a task for every webhook that is due and has none."""
        while True:
            rows = await self._webhooks.active() if self._is_mine() else ()
            self._known = len(rows)
            self._telling = {id: task for id, task in self._telling.items() if not task.done()}
            for row in rows:
                if row.id not in self._telling and self._resting.get(row.id, 0.0) <= asyncio.get_running_loop().time():
                    self._telling[row.id] = asyncio.create_task(self._tell(row))
            if rows:
                await self._webhooks.stirred(self._pause)
            await asyncio.sleep(min(self._pause, _LEAST_GAP_SECONDS) if rows else self._pause)

    async def _tell(self, row: Target) -> None:
        try:
            more = True
            while more and self._is_mine():
                more = await self._webhooks.take(row)
                while self._is_mine() and (due := await self._due(row)):
                    tried = await self._send(row, due)
                    await self._webhooks.settle(row, tuple(tried))
                    self._count(row, tried)
                    if row.id in self._failures:
                        return
        except MailError as error:
            _log.warning("webhook %s: %s; trying again in a moment", row.name, error)
        except Exception:  # noqa: BLE001 - one bug must not stop everything
            _log.exception("webhook %s failed; trying again in a moment", row.name)

    async def _due(self, row: Target) -> Sequence[Outgoing]:
        if row.notify is not None:
            return await self._office.notify.due(row)
        return await self._webhooks.due(row, 1 if row.id in self._failures else _POSTS_AT_ONCE)

    async def _send(self, row: Target, due: Sequence[Outgoing]) -> Sequence[Tried]:
        if row.notify is not None:
            return await self._office.notify.tell(row, due)
        return await asyncio.gather(*(self._post(row, one) for one in due))

    async def _post(self, row: Target, outgoing: Outgoing) -> Tried:
        headers = signed(self._webhooks.secrets(row), outgoing.id, self._clock.now() // _MICROS, outgoing.body)
        return await self._sender.post(row.url, outgoing, headers)

    def _count(self, row: Target, tried: Sequence[Tried]) -> None:
        failed = [one for one in tried if one.error is not None]
        self._told += len(tried) - len(failed)
        if len(failed) < len(tried):
            self._failures.pop(row.id, None)
            self._resting.pop(row.id, None)
            return
        if row.id not in self._failures:
            _log.warning("webhook %s takes nothing: %s; trying again", row.name, failed[0].error)
        failures = self._failures[row.id] = self._failures.get(row.id, 0) + 1
        # A webhook that takes nothing is tried with one event only, less and less often.
        self._resting[row.id] = asyncio.get_running_loop().time() + self._pause * 2 ** min(failures, _MOST_DOUBLINGS)
