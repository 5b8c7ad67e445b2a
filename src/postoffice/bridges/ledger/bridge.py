"""The bridge to the ledger. One process at a time submits and listens; a lease in the store decides which."""

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any, Self

from postoffice.bridges.ledger.handshake import Handshake
from postoffice.bridges.ledger.listener import Listener
from postoffice.bridges.ledger.mirror import Mirror
from postoffice.bridges.ledger.network import LedgerNetwork
from postoffice.bridges.ledger.submitter import Submitter
from postoffice.core.clock import Clock
from postoffice.core.errors import MailError
from postoffice.office import PostOffice

_log = logging.getLogger(__name__)
_ROLE_LASTS = timedelta(seconds=15)
_OUTBOX_LOOK_SECONDS = 0.25
_RETRY_SECONDS = 1.0
_THREADS = 8


class LedgerBridge:
    """`async with` opens it. No other door ever waits for it."""

    name = "ledger"

    def __init__(
        self,
        office: PostOffice,
        network: LedgerNetwork,
        mirror_url: str,
        *,
        per_second: float,
        least: float,
        most: float,
        role_lasts: timedelta = _ROLE_LASTS,
    ) -> None:
        self._office = office
        self._network = network
        self._mirror = Mirror(mirror_url, per_second)
        self._handshake = Handshake(office, self._mirror, network)
        self._submitter = Submitter(office, network, self._mirror, self._handshake, self._run)
        self._listener = Listener(office, self._mirror, self._handshake, network.operator, least=least, most=most)
        self._threads = ThreadPoolExecutor(_THREADS, "ledger")
        self._role_lasts = role_lasts
        self._me = Clock().new_id()
        self._mine = asyncio.Event()
        self._mine_until = 0.0
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        await self._office.ledger.keep_network(self._network.name)
        for what, act in (("the ledger's lease", self._hold), ("submitting", self._submit), ("listening", self._listen)):
            self._tasks.append(asyncio.create_task(self._forever(what, act)))
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._submitter.close()
        await self._mirror.close()
        await asyncio.to_thread(self._network.close)  # not one of our own threads: all of them may be waiting for the network
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def facts(self) -> dict[str, Any]:
        """What an operator wants to know of it."""
        posts = await self._office.ledger.posts()
        return {
            "operator": self._network.operator,
            "network": self._network.name,
            "speaking": self._speaking(),
            "posts": posts,
            "asked": self._mirror.asked,
            # A post that no longer waits has no trouble, even if its answer never came: the listener may have seen it.
            "trouble": (self._submitter.trouble if posts.get("waiting") else None) or self._listener.trouble,
        }

    async def _run(self, work: Any, *arguments: Any) -> Any:
        """Run in a thread of the bridge's own, so that a slow network never uses up other callers' threads."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *arguments)

    def _speaking(self) -> bool:
        """Whether this process holds the lease."""
        return self._mine.is_set() and asyncio.get_running_loop().time() < self._mine_until

    async def _forever(self, what: str, act: Any) -> None:
        while True:
            try:
                await act()
            except MailError as error:
                _log.warning("%s: %s; trying again in a moment", what, error)
            except Exception:  # noqa: BLE001 - one bug must not stop everybody's mail
                _log.exception("%s failed; trying again in a moment", what)
            await asyncio.sleep(_RETRY_SECONDS)

    async def _hold(self) -> None:
        lasts = self._role_lasts.total_seconds()
        while True:
            begun = asyncio.get_running_loop().time()
            try:
                held = await self._office.ledger.hold(self._me, self._role_lasts)
            except MailError:
                self._mine.clear()
                raise
            if held:
                self._mine_until = begun + lasts
                self._mine.set()
            else:
                self._mine.clear()
            await asyncio.sleep(lasts / 3)

    async def _submit(self) -> None:
        while True:
            await self._mine.wait()
            if not self._speaking() or not await self._submitter.submit_due(self._speaking, self._listener.expect):
                await asyncio.sleep(_OUTBOX_LOOK_SECONDS)

    async def _listen(self) -> None:
        while True:
            await self._mine.wait()
            await self._listener.rest(await self._listener.look() if self._speaking() else _RETRY_SECONDS)
