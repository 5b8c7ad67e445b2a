"""From the ledger to the mailboxes: each topic polled by its own cursor, which is committed with the mail."""

import asyncio
import logging
from typing import Any, NamedTuple

from postoffice.bridges.ledger.mirror import Mirror
from postoffice.bridges.ledger.outcome import LedgerBusy
from postoffice.bridges.ledger.sightings import Book, on_entity, on_inbound
from postoffice.core.chunks import Gathered, Whole, gather, group_key
from postoffice.core.ledger import Sighting
from postoffice.office import PostOffice

_log = logging.getLogger(__name__)
_PIECES_WAIT = 120.0  # seconds; what has not become whole by then never will: a transaction lives for three minutes at most
_PAGE = 100


class Watched(NamedTuple):
    """A topic and whose it is."""

    topic_id: str
    kind: str
    agent: str
    about: str


class Poll:
    """When a topic is looked at next: often while something comes, ever less often while nothing does."""

    def __init__(self, least: float, most: float) -> None:
        self._least, self._most = least, most
        self.pause = least
        self.at = 0.0

    def after(self, now: float, *, busy: bool) -> None:
        """Plan the next look."""
        self.pause = self._least if busy else min(self.pause * 1.5, self._most)
        self.at = now + self.pause


class Listener:
    """Catches up after any time away: the cursor says where it stopped."""

    def __init__(self, office: PostOffice, mirror: Mirror, *, least: float, most: float) -> None:
        self._office = office
        self._mirror = mirror
        self._least, self._most = least, most
        self._polls: dict[str, Poll] = {}
        self._waiting_since: dict[str, float] = {}
        self.trouble: str | None = None

    async def look(self) -> float:
        """Look at every topic that is due, and say how long there is nothing to do."""
        now = asyncio.get_running_loop().time()
        book, watched = await self._who()
        cursors = await self._office.topic_cursors()
        due = [topic for topic in watched if self._poll(topic.topic_id).at <= now]
        for topic in sorted(due, key=lambda one: self._poll(one.topic_id).at):
            await self._look_at(topic, cursors.get(topic.topic_id, 0), book)
        later = min((self._poll(topic.topic_id).at for topic in watched), default=now + self._least)
        return max(0.0, later - asyncio.get_running_loop().time())

    async def _who(self) -> tuple[Book, list[Watched]]:
        accounts = await self._office.ledger_accounts()
        topics = await self._office.ledger_topics()
        ours = [Watched(account.inbound_topic_id, "inbound", account.agent, "") for account in accounts if not account.outside]
        return Book(accounts), ours + [Watched(one.topic_id, one.kind, one.agent or "", one.about) for one in topics]

    def _poll(self, topic_id: str) -> Poll:
        return self._polls.setdefault(topic_id, Poll(self._least, self._most))

    async def _look_at(self, topic: Watched, after: int, book: Book) -> None:
        poll = self._poll(topic.topic_id)
        try:
            rows = await self._mirror.messages(topic.topic_id, after)
        except LedgerBusy as error:
            if str(error) != self.trouble:
                _log.warning("%s", error)
            self.trouble = str(error)
            poll.after(asyncio.get_running_loop().time(), busy=False)
            return
        self.trouble = None
        gathered = self._gather(topic.topic_id, rows, after)
        if gathered.through > after:
            await self._office.materialise(topic.topic_id, gathered.through, self._seen(topic, gathered.whole, book))
        poll.after(asyncio.get_running_loop().time(), busy=bool(rows))
        if len(rows) >= _PAGE and gathered.through > after:
            poll.at = 0.0  # there is more

    def _gather(self, topic_id: str, rows: list[dict[str, Any]], after: int) -> Gathered:
        gathered = gather(rows, after)
        waiting = [row["chunk_info"] for row in rows if int(row["sequence_number"]) > gathered.through and row.get("chunk_info")]
        left = {group_key(chunk) for chunk in waiting}
        now = asyncio.get_running_loop().time()
        since = {key: self._waiting_since.get(f"{topic_id} {key}", now) for key in left}
        self._waiting_since = {name: at for name, at in self._waiting_since.items() if not name.startswith(f"{topic_id} ")}
        self._waiting_since |= {f"{topic_id} {key}": at for key, at in since.items()}
        # A full page of nothing but pieces cannot be waited out: what is missing is not in it.
        given_up = [key for key, at in since.items() if now - at > _PIECES_WAIT or (len(rows) >= _PAGE and gathered.through == after)]
        return gather(rows, after, give_up=given_up) if given_up else gathered

    def _seen(self, topic: Watched, found: tuple[Whole, ...], book: Book) -> tuple[Sighting, ...]:
        if topic.kind == "entity":
            return tuple(on_entity(whole, topic.topic_id, topic.about, book, self._office.routed) for whole in found)
        return tuple(on_inbound(whole, topic.topic_id, topic.agent, book) for whole in found)
