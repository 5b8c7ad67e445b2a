"""Brings posts from the outbox to the ledger: sign, keep the bytes, submit. After a crash the same bytes are submitted again, which makes one message."""

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import msgspec

from postoffice.bridges.ledger.handshake import Handshake
from postoffice.bridges.ledger.mirror import Mirror
from postoffice.bridges.ledger.network import LedgerNetwork
from postoffice.bridges.ledger.pieces import mirror_names
from postoffice.core.delivery import next_try
from postoffice.core.errors import Expired, LedgerBusy, LedgerRefused, NeedsOwner, Spent
from postoffice.core.ledger import NEW_TOPIC, Post
from postoffice.office import PostOffice

_log = logging.getLogger(__name__)
_POSTS_READ = 50
_POSTS_AT_ONCE = 8
_LOOK_SECONDS = 0.25  # how often to look for new mail, whatever is under way
_TURN_SECONDS = 1.0  # after this a topic lets other topics go first
_OWNERS_PAUSE = timedelta(minutes=1)
_SIGNED_SECONDS = 180.0  # how long signed bytes can be submitted
_MIRROR_BEHIND_SECONDS = 60.0  # after this a mirror knows what happened
_RECEIPT_PAUSE = timedelta(seconds=15)
_SUCCESS = "SUCCESS"
Run = Callable[..., Awaitable[Any]]


class Submitter:
    """Submits each topic's posts in order. A topic with many posts does not hold up the others for long."""

    def __init__(self, office: PostOffice, network: LedgerNetwork, mirror: Mirror, handshake: Handshake, run: Run) -> None:
        """`run` has threads of its own, so that a slow network never uses up other callers' threads."""
        self._office = office
        self._network = network
        self._mirror = mirror
        self._handshake = handshake
        self._run = run
        self._hands = asyncio.Semaphore(_POSTS_AT_ONCE)
        self._topics: dict[str, asyncio.Task[None]] = {}
        self.trouble: str | None = None

    async def submit_due(self, speaking: Callable[[], bool], sent: Callable[[str], None]) -> bool:
        """Submit what waits while this process holds the lease, until some topic is done. Returns whether anything waited."""
        topics: defaultdict[str, list[Post]] = defaultdict(list)
        for post in await self._office.ledger.posts_due(_POSTS_READ):
            topics[post.topic_id or post.id].append(post)
        for topic, posts in topics.items():
            if topic not in self._topics:
                self._topics[topic] = asyncio.create_task(self._in_order(posts, speaking, sent))
        if not self._topics:
            return False
        # Do not wait for all: a message in twenty pieces takes a minute, and other topics need not wait for it.
        await asyncio.wait(self._topics.values(), timeout=_LOOK_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        for topic in [topic for topic, task in self._topics.items() if task.done()]:
            self._topics.pop(topic).result()
        return True

    async def close(self) -> None:
        """Leave what is under way; its bytes are kept."""
        for task in self._topics.values():
            task.cancel()
        await asyncio.gather(*self._topics.values(), return_exceptions=True)

    async def _in_order(self, posts: list[Post], speaking: Callable[[], bool], sent: Callable[[str], None]) -> None:
        loop = asyncio.get_running_loop()
        async with self._hands:
            until = loop.time() + _TURN_SECONDS
            for post in posts:
                if not speaking() or not await self._submit(post):
                    return
                sent(post.topic_id)
                if loop.time() > until:
                    return

    async def _submit(self, post: Post) -> bool:
        """Submit one post. Returns whether the topic's next post may go."""
        try:
            if post.signed is None:
                signed = await self._sign(post)
                # Keep the bytes before anybody can see them. If another process kept some first, those count.
                if (kept := await self._office.ledger.sign_post(post, signed)) is None:
                    return True  # it got there meanwhile
                post = msgspec.structs.replace(post, signed=kept)
            await self._done(post, await self._run(self._network.submit, post.signed))
        except Expired:
            await self._late(post)
        except Spent as error:
            await self._office.ledger.sign_post(post, None)
            await self._wait(post, error, _OWNERS_PAUSE if "hbar" in str(error) else timedelta(seconds=1))
        except LedgerBusy as error:
            if post.signed is not None and _age(post.signed) > _SIGNED_SECONDS + _MIRROR_BEHIND_SECONDS:
                await self._late(post)  # no node will ever report that they are too old
            else:
                await self._wait(post, error, next_try(post.attempts + 1, most=timedelta(minutes=1)))
        except NeedsOwner as error:
            await self._needs_owner(post, error)
        except LedgerRefused as error:
            await self._office.ledger.settle_post(post, error=str(error))
            _log.warning("a post to topic %s is refused for good: %s", post.topic_id or "(new)", error)
            return True
        else:
            self.trouble = None
            return True
        return False

    async def _sign(self, post: Post) -> str:
        if post.topic_id == NEW_TOPIC:
            writers = await self._handshake.writers(post)
            return str(await self._run(self._network.sign_topic, post.memo, post.payer, writers))
        return str(await self._run(self._network.sign, post.topic_id, post.memo, post.body, post.payer))

    async def _done(self, post: Post, made: str | None) -> None:
        if post.topic_id != NEW_TOPIC:
            await self._office.ledger.settle_post(post)
        elif made is None:
            raise LedgerBusy(why="the receipt does not name the topic that was made")
        else:
            await self._office.foreign.opened(post, made)

    async def _needs_owner(self, post: Post, error: NeedsOwner) -> None:
        ahead = post.signed is not None and _age(post.signed) < 0
        if ahead:  # this machine's clock was ahead and is right again; bytes that were not valid yet were never taken
            await self._office.ledger.sign_post(post, None)
        await self._wait(post, error, timedelta(0) if ahead else _OWNERS_PAUSE)

    async def _late(self, post: Post) -> None:
        """Handle bytes that are too old to submit. Only the mirror knows whether they were taken before; if not, sign the post again."""
        assert post.signed is not None
        try:
            transactions = [await self._mirror.transaction(name) for name in mirror_names(post.signed)]
        except LedgerBusy as error:
            await self._wait(post, error, _RECEIPT_PAUSE)
            return
        if all(one is not None and one.get("result") == _SUCCESS for one in transactions):
            made = (transactions[-1] or {}).get("entity_id")
            if post.topic_id != NEW_TOPIC or made is not None:
                await self._done(post, made)
                return
        if _age(post.signed) > _SIGNED_SECONDS + _MIRROR_BEHIND_SECONDS:
            await self._office.ledger.sign_post(post, None)
            await self._office.ledger.settle_post(post, error=str(Expired()), retry_in=timedelta(0))
        elif _age(post.signed) < _SIGNED_SECONDS:
            await self._wait(post, NeedsOwner(why="this machine's clock is behind the ledger's; set it right"), _RECEIPT_PAUSE)
        else:
            await self._office.ledger.settle_post(post, error=str(Expired()), retry_in=_RECEIPT_PAUSE)

    async def _wait(self, post: Post, error: Exception, pause: timedelta) -> None:
        if str(error) != self.trouble:
            _log.warning("%s", error)
        self.trouble = str(error)
        await self._office.ledger.settle_post(post, error=str(error), retry_in=pause)


def _age(signed: str) -> float:
    """Seconds since the bytes became valid, read from their name."""
    _, seconds, _ = mirror_names(signed)[0].split("-")
    return time.time() - int(seconds)
