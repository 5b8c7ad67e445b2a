"""From the outbox to the ledger: sign, keep the bytes, submit; the same bytes again after a crash make one message."""

import asyncio
import logging
from collections import defaultdict
from datetime import timedelta

from postoffice.bridges.ledger.network import LedgerNetwork
from postoffice.bridges.ledger.outcome import Expired, LedgerBusy, LedgerRefused, NeedsOwner
from postoffice.core.delivery import next_try
from postoffice.core.ledger import Post
from postoffice.office import PostOffice

_log = logging.getLogger(__name__)
_BATCH = 50
_AT_ONCE = 8
_OWNERS_PAUSE = timedelta(minutes=1)


class Submitter:
    """What goes to one topic goes in order; topics do not wait for each other."""

    def __init__(self, office: PostOffice, network: LedgerNetwork) -> None:
        self._office = office
        self._network = network
        self._hands = asyncio.Semaphore(_AT_ONCE)
        self.trouble: str | None = None

    async def submit_due(self) -> int:
        """Submit what waits. Gives how much that was."""
        posts = await self._office.posts_due(_BATCH)
        topics: defaultdict[str, list[Post]] = defaultdict(list)
        for post in posts:
            topics[post.topic_id].append(post)
        await asyncio.gather(*(self._in_order(mine) for mine in topics.values()))
        return len(posts)

    async def _in_order(self, posts: list[Post]) -> None:
        async with self._hands:
            for post in posts:
                await self._submit(post)

    async def _submit(self, post: Post) -> None:
        try:
            signed = post.signed
            if signed is None:
                signed = await asyncio.to_thread(self._network.sign, post.topic_id, post.memo, post.body, post.payer)
                await self._office.sign_post(post, signed)  # kept before anybody can have seen them
            await asyncio.to_thread(self._network.submit, signed)
        except Expired as error:
            await self._office.sign_post(post, None)
            await self._office.settle_post(post, error=str(error), retry_in=timedelta(0))
        except LedgerBusy as error:
            await self._office.settle_post(post, error=str(error), retry_in=next_try(post.attempts + 1, most=timedelta(minutes=1)))
            self._tell(str(error))
        except NeedsOwner as error:
            await self._office.settle_post(post, error=str(error), retry_in=_OWNERS_PAUSE)
            self._tell(str(error))
        except LedgerRefused as error:
            await self._office.settle_post(post, error=str(error))
            _log.warning("a post to topic %s is refused for good: %s", post.topic_id, error)
        else:
            await self._office.settle_post(post)
            self.trouble = None

    def _tell(self, trouble: str) -> None:
        if trouble != self.trouble:
            _log.warning("%s", trouble)
        self.trouble = trouble
