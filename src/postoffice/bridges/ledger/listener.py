"""Brings messages from the ledger to the mailboxes. Each topic has its own cursor, which is committed with the mail."""

import asyncio
import logging
from contextlib import suppress
from itertools import takewhile
from typing import Any, NamedTuple

from postoffice.bridges.ledger.handshake import Handshake
from postoffice.bridges.ledger.mirror import PAGE, Mirror
from postoffice.bridges.ledger.sightings import Book, on_connection, on_entity, on_inbound, operation, torn
from postoffice.core.chunks import Gathered, Whole, gather
from postoffice.core.errors import MailError, MirrorAway
from postoffice.core.ledger import ASKED, CONNECTION, ENTITY, FORMER, Sighting
from postoffice.office import PostOffice

_log = logging.getLogger(__name__)
_PIECES_SECONDS = 240.0  # pieces can be submitted for three minutes, so what is not whole by then never will be
_PAGES_TOGETHER = 20  # searched for the pieces of one message
_TOPICS_AT_ONCE = 4
_NEW_TOPIC_SECONDS = 5.0  # until a newly watched topic is noticed


class Watched(NamedTuple):
    """A topic, and the agent or entity it belongs to."""

    topic_id: str
    kind: str
    agent: str
    about: str


class Poll:
    """When to look at a topic next: often while messages come, less and less often while none do."""

    def __init__(self, least: float, most: float) -> None:
        self._least, self._most = least, most
        self.pause = least
        self.at = 0.0

    def after(self, now: float, *, busy: bool) -> None:
        """Plan the next look after this one."""
        self.pause = self._least if busy else min(self.pause * 1.5, self._most)
        self.at = now + self.pause

    def expect(self, now: float) -> None:
        """Look soon, as something is about to come."""
        self.pause = self._least
        self.at = min(self.at, now + self._least / 2)


class Listener:
    """Polls all topics. After any time away it catches up from the cursors."""

    def __init__(self, office: PostOffice, mirror: Mirror, handshake: Handshake, operator: str, *, least: float, most: float) -> None:
        self._office = office
        self._mirror = mirror
        self._handshake = handshake
        self._operator = operator
        self._least, self._most = least, most
        self._polls: dict[str, Poll] = {}
        self._waiting_since: dict[str, float] = {}
        self._woken = asyncio.Event()
        self._troubles: dict[str, str] = {}

    @property
    def trouble(self) -> str | None:
        """What is wrong, with one of the topics that have trouble."""
        return next(iter(self._troubles.values()), None)

    def expect(self, topic_id: str) -> None:
        """Look at a topic soon, however quiet it was: something was just submitted to it."""
        self._poll(topic_id).expect(asyncio.get_running_loop().time())
        self._woken.set()

    async def rest(self, pause: float) -> None:
        """Wait until the next look is due or something is expected."""
        # Not wait_for: on Python 3.11 it loses a cancellation that comes at the moment it is woken.
        with suppress(TimeoutError):
            async with asyncio.timeout(min(pause, _NEW_TOPIC_SECONDS)):
                await self._woken.wait()
        self._woken.clear()

    async def look(self) -> float:
        """Look at every topic that is due. Returns how long there is nothing to do."""
        now = asyncio.get_running_loop().time()
        book, watched = await self._who()
        await self._handshake.open_due(book)
        cursors = await self._office.ledger.topic_cursors()
        self._troubles = {id: why for id, why in self._troubles.items() if id in {topic.topic_id for topic in watched}}
        due = sorted((topic for topic in watched if self._poll(topic.topic_id).at <= now), key=lambda one: self._poll(one.topic_id).at)
        hands = asyncio.Semaphore(_TOPICS_AT_ONCE)
        await asyncio.gather(*(self._look_safely(topic, cursors.get(topic.topic_id, 0), hands) for topic in due))
        later = min((self._poll(topic.topic_id).at for topic in watched), default=now + self._least)
        return max(0.0, later - asyncio.get_running_loop().time())

    async def _who(self) -> tuple[Book, list[Watched]]:
        accounts = await self._office.ledger.accounts()
        topics = await self._office.ledger.topics()
        ours = [Watched(account.inbound_topic_id, "inbound", account.agent, "") for account in accounts if not account.foreign]
        own = {one.topic_id for one in ours}  # an agent may have left a topic and returned to it
        others = [Watched(one.topic_id, one.kind, one.agent or "", one.about) for one in topics if one.topic_id not in own]
        return Book(accounts, self._operator, topics), ours + others

    def _poll(self, topic_id: str) -> Poll:
        return self._polls.setdefault(topic_id, Poll(self._least, self._most))

    async def _look_safely(self, topic: Watched, after: int, hands: asyncio.Semaphore) -> None:
        """Keep one topic's trouble from the others. If the mirror itself is away, all of them wait."""
        poll, more = self._poll(topic.topic_id), False
        async with hands:
            try:
                more, busy = await self._look_at(topic, after)
            except MailError as error:
                if str(error) not in self._troubles.values():
                    _log.warning("topic %s: %s", topic.topic_id, error)
                self._troubles[topic.topic_id] = str(error)
                busy = isinstance(error, MirrorAway)  # the mirror's pacing slows all topics already
            except Exception:  # noqa: BLE001 - a bug with one topic must not stop the mail of the others
                _log.exception("topic %s cannot be read; trying again", topic.topic_id)
                self._troubles[topic.topic_id], busy = "a bug; the log has it", False
            else:
                self._troubles.pop(topic.topic_id, None)
        poll.after(asyncio.get_running_loop().time(), busy=busy)
        if more:
            poll.at = 0.0

    async def _look_at(self, topic: Watched, after: int) -> tuple[bool, bool]:
        """Take one page. Returns whether there is more, and whether there was anything."""
        rows, more = await self._read(topic.topic_id, after)
        gathered = self._gather(topic.topic_id, rows, after)
        through, messages, given_up = gathered.through, (*gathered.whole, *gathered.ahead), gathered.torn
        if messages:
            taken = await self._office.ledger.taken_ahead(topic.topic_id, after)
            messages = tuple(whole for whole in messages if whole.sequence not in taken)
        if (before := _before_the_end(topic, messages)) and before != messages:
            # Take what the two said before the end first: after it they are not connected, and their mail would be refused.
            through, messages, given_up, more = after, before, (), True
        if not messages and through <= after:
            return False, bool(rows)
        seen = await self._seen(topic, messages) if messages else []
        await self._office.ledger.materialise(topic.topic_id, through, (*seen, *map(torn, given_up)))
        return more, bool(rows)

    async def _read(self, topic_id: str, after: int) -> tuple[list[dict[str, Any]], bool]:
        """Read a page, and further ones while no message is whole: the missing pieces may be on the next."""
        rows: list[dict[str, Any]] = []
        last = after
        for _ in range(_PAGES_TOGETHER):
            page = await self._mirror.messages(topic_id, last)
            rows += page
            last = max([last, *(int(row["sequence_number"]) for row in page)])
            if len(page) < PAGE or gather(rows, after).through > after:
                return rows, len(page) >= PAGE
        return rows, True

    def _gather(self, topic_id: str, rows: list[dict[str, Any]], after: int) -> Gathered:
        gathered = gather(rows, after)
        now = asyncio.get_running_loop().time()
        since = {key: self._waiting_since.get(f"{topic_id} {key}", now) for key in gathered.waiting}
        self._waiting_since = {name: at for name, at in self._waiting_since.items() if not name.startswith(f"{topic_id} ")}
        self._waiting_since |= {f"{topic_id} {key}": at for key, at in since.items()}
        given_up = {key for key, at in since.items() if now - at > _PIECES_SECONDS}
        return gather(rows, after, give_up=given_up) if given_up else gathered

    async def _seen(self, topic: Watched, messages: tuple[Whole, ...]) -> list[Sighting]:
        # Read the accounts after the messages: who speaks after an account changed must not be taken for its former holder.
        book, watched = await self._who()
        topic = next((one for one in watched if one.topic_id == topic.topic_id), topic)
        batch = {whole.sequence: whole for whole in messages}
        seen = [await self._sight(topic, whole, book, batch) for whole in messages]
        return [one for one in seen if one is not None]

    async def _sight(self, topic: Watched, whole: Whole, book: Book, batch: dict[int, Whole]) -> Sighting | None:
        if topic.kind == ENTITY:
            return on_entity(whole, topic.topic_id, topic.about, book, self._office.routed)
        if topic.kind == ASKED:
            return await self._handshake.on_asked(whole, topic.topic_id, topic.about, book, batch)
        if topic.kind == CONNECTION:
            if operation(whole) == "close_connection":
                return await self._handshake.on_close(whole, topic.topic_id, topic.agent, topic.about, book)
            return on_connection(whole, topic.topic_id, topic.agent, topic.about, book)
        owner = None if topic.kind == FORMER else book.of(topic.agent)
        if owner is not None and operation(whole) not in (None, "message"):
            return await self._handshake.on_inbound(whole, owner, book)
        return on_inbound(whole, topic.topic_id, topic.agent, book, former=topic.kind == FORMER)


def _before_the_end(topic: Watched, messages: tuple[Whole, ...]) -> tuple[Whole, ...]:
    """The messages up to the one with which one of the two ends the connection."""
    return tuple(takewhile(lambda whole: topic.kind != CONNECTION or operation(whole) != "close_connection", messages))
