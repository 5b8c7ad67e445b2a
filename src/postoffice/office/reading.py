"""Verbs that only look, and those for dead letters."""

import asyncio
from datetime import datetime, timedelta

import msgspec

from postoffice.acts.mail.dead import Discard, Requeue
from postoffice.acts.mail.session import ReadSession
from postoffice.core.agent import Caller
from postoffice.core.clock import micros
from postoffice.core.delivery import Settled
from postoffice.core.errors import (
    AmbiguousId,
    BadCursor,
    Invalid,
    NoSuchAgent,
    NoSuchMessage,
    OwnerOnly,
    Unavailable,
)
from postoffice.core.event import Event
from postoffice.core.limits import bounded
from postoffice.core.message import Message
from postoffice.core.names import check_name, folded
from postoffice.core.query import read_query
from postoffice.core.session import Thread
from postoffice.core.views import DeadLetter, Entity, Found, MailboxCounts, Page, Proof, Totals
from postoffice.office.finishing import FinishingVerbs
from postoffice.office.identity import Again

_NOW = timedelta(0)
_LAST_NUMBER = 2**62
_QUERY_CHARS = 1000


class ReadingVerbs(FinishingVerbs):
    """Reading."""

    async def inbox(
        self,
        caller: Caller,
        cursor: str | None = None,
        limit: int | None = None,
        *,
        unread_only: bool = False,
        lines: int = 3,
        of: str | None = None,
    ) -> Page[Thread]:
        """The agent's sessions, newest first, with what was said last. Settles nothing."""
        shown = bounded("lines", lines, 3, 0, self._limits.page_most)
        return await self.store.sessions.inbox(
            await self._of(caller, of), cursor, self._checks.page(limit), unread_only=unread_only, lines=shown
        )

    async def history(
        self, caller: Caller, session_id: str, *, before: str | None = None, limit: int | None = None, peek: bool = False
    ) -> Thread:
        """A session's messages, newest first. What it shows is settled, tasks excepted, unless only peeking; a person has seen it."""
        most = bounded("limit", limit, self._limits.page, 1, self._limits.page_most)
        reader = None if caller.owner else caller.name
        if peek or reader is None:
            thread = await self.store.sessions.peek(reader, session_id, before, most)
        else:
            place = await self.store.sessions.place(caller.name, session_id, before)
            thread = await self.store.do(ReadSession(caller.name, session_id, place, most))
        unread = [line.message.id for line in thread.lines if line.to == folded(caller.name) and not line.is_read]
        if peek or not unread or not await self.is_person(caller):
            return thread
        await self.all_seen(caller, unread)
        return await self.store.sessions.peek(reader, session_id, before, most)

    async def waiting(
        self, caller: Caller, cursor: str | None = None, limit: int | None = None, *, of: str | None = None, outside: bool = False
    ) -> Page[Message]:
        """What waits, or of it what stands outside of sessions, in the order it would be given out. Takes nothing."""
        return await self.store.mail.waiting(await self._of(caller, of), cursor, self._checks.page(limit), outside=outside)

    async def status(self, caller: Caller, ref: str) -> Proof:
        """Where a message stands, for whoever sent it, got it, or runs the server."""
        return await self.short_ids.named(
            None if caller.owner else caller.name, self._checks.ref(ref), lambda whole: self._status(caller, whole)
        )

    async def _status(self, caller: Caller, ref: str) -> Proof:
        proofs = await self.store.mail.proofs(ref, None if caller.owner else caller.name)
        if not proofs:
            raise NoSuchMessage(name=caller.name, ref=ref)
        if len(proofs) > 1:
            raise AmbiguousId(ref=ref, name=caller.name)
        (proof,) = proofs
        if self.house.ledger is not None:
            proof = await self._with_ledger(proof)
        me = folded(caller.name)
        if caller.owner or proof.message is None or folded(proof.message.sender) == me:
            return proof
        own = tuple(standing for standing in proof.standings if folded(standing.recipient) == me)
        return msgspec.structs.replace(proof, standings=own)

    async def _with_ledger(self, proof: Proof) -> Proof:
        """With what the ledger knows of each delivery."""
        by_recipient = await self.store.ledger.on_ledger(proof.message_id)
        standings = (
            msgspec.structs.replace(one, ledger=by_recipient[one.recipient]) if one.recipient in by_recipient else one
            for one in proof.standings
        )
        return msgspec.structs.replace(proof, standings=tuple(standings))

    async def search(
        self,
        caller: Caller,
        query: str,
        *,
        sender: str | None = None,
        recipient: str | None = None,
        other: str | None = None,
        session_id: str | None = None,
        type: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        cursor: str | None = None,
        limit: int | None = None,
        everyone: bool = False,
    ) -> Page[Found]:
        """Messages the caller sent or got, those with the most of these words first. Filters in the text (`from:` …) count beside the arguments."""
        if query:
            self._checks.ref(query, "query", _QUERY_CHARS)
        if type is not None:
            self._checks.ref(type, "type")
        read = read_query(query)
        people = [(sender, read.sender), (recipient, read.recipient), (other, read.other)]
        names = [{folded(check_name(name)) for name in pair if name is not None} for pair in people]
        reader = None if self._checks.everyone(caller, wanted=everyone) else caller.name
        if max(map(len, names)) > 1:
            return Page(())
        filters = {
            "sender": next(iter(names[0]), None),
            "recipient": next(iter(names[1]), None),
            "other": next(iter(names[2]), None),
            "session": session_id,
            "type": type,
            "since": max((at for at in (_instant("since", since), _instant("after:", read.since)) if at is not None), default=None),
            "until": min((at for at in (_instant("until", until), _instant("before:", read.until)) if at is not None), default=None),
        }
        return await self.store.search.page(reader, read, filters, cursor, self._checks.page(limit))

    async def notes(self, entity_id: str, cursor: str | None = None, limit: int | None = None) -> Page[Message]:
        """The notes kept with an entity, newest first."""
        return await self.store.notes.page(self._checks.ref(entity_id), cursor, self._checks.page(limit))

    async def about(
        self, caller: Caller, entity_id: str, cursor: str | None = None, limit: int | None = None, *, everyone: bool = False
    ) -> Page[Message]:
        """What was said about an entity: its notes, and the messages naming it that the caller sent or got."""
        reader = None if self._checks.everyone(caller, wanted=everyone) else caller.name
        return await self.store.notes.about(self._checks.ref(entity_id), reader, cursor, self._checks.page(limit))

    async def entities(self, cursor: str | None = None, limit: int | None = None) -> Page[Entity]:
        """What notes are about."""
        return await self.store.notes.entities(self._checks.cursor(cursor), self._checks.page(limit))

    # Dead letters

    async def dead_letters(
        self, caller: Caller, cursor: str | None = None, limit: int | None = None, *, of: str | None = None, everyone: bool = False
    ) -> Page[DeadLetter]:
        """What could not be delivered, and why."""
        name = None if self._checks.everyone(caller, wanted=everyone) else await self._of(caller, of)
        return await self.store.mail.dead_letters(name, self._checks.cursor(cursor) or None, self._checks.page(limit))

    async def requeue(self, caller: Caller, ref: str, *, of: str | None = None) -> Settled:
        """Give a dead letter another life, with all its tries."""
        name = self._checks.whose(caller, of)
        return await self.short_ids.named(name, self._checks.ref(ref), lambda whole: self.store.do(Requeue(name, whole)))

    async def discard(self, caller: Caller, ref: str, *, of: str | None = None) -> Settled:
        """Be done with a dead letter."""
        name = self._checks.whose(caller, of)
        return await self.short_ids.named(name, self._checks.ref(ref), lambda whole: self.store.do(Discard(name, whole)))

    # News and numbers

    async def news(
        self, caller: Caller, after: int = 0, limit: int | None = None, *, within: timedelta = _NOW, again: Again | None = None
    ) -> list[Event]:
        """The agent's log after a number; waits for something to happen if nothing has. A number the log has not come to is refused."""
        patience = bounded("wait", within, _NOW, _NOW, self._limits.wait_most)
        if not patience:
            return await self.follow(caller, after, limit, within=patience, again=again)
        with self.places.taken(caller.name):
            return await self.follow(caller, after, limit, within=patience, again=again)

    async def follow(
        self, caller: Caller, after: int, limit: int | None = None, *, within: timedelta, again: Again | None = None
    ) -> list[Event]:
        """The same for a line that stays open: how long it keeps still between two looks is its own business, and no caller's wish."""
        most = self._checks.page(limit)
        if not 0 <= after < _LAST_NUMBER:
            raise BadCursor(cursor=after)
        until = asyncio.get_running_loop().time() + within.total_seconds()
        with self._bells.waiting(folded(caller.name), after) as bell:
            while True:
                bell.still()
                events = await self.store.log.of(caller.name, after, most)
                if not events and after and after > await self.latest(caller):
                    raise BadCursor(cursor=after)  # at each look: a backup may take the log's place while somebody waits
                left = until - asyncio.get_running_loop().time()
                if events or left <= 0 or self._bells.closed:
                    return events
                if (not await bell.rings(min(left, self._sign_after)) and left <= self._sign_after) or self._bells.closed:
                    return events
                if again is not None:
                    await again()
                self._presences.touch(caller.name)

    async def all_news(self, owner: Caller, after: str = "0", limit: int | None = None) -> list[Event]:
        """Everyone's log, for the owner, after a cursor it gave. One the log has not come to is refused."""
        if not owner.owner:
            raise OwnerOnly(what="read everyone's news")
        return await self._log(after, self._checks.page(limit))

    async def latest(self, caller: Caller) -> int:
        """The number of the last thing that happened to the agent: news after it is new."""
        looked = await self.store.mail.look([caller.name])
        return looked.get(folded(caller.name), (0, 0))[1]

    async def counts(self, caller: Caller, *, of: str | None = None) -> MailboxCounts:
        """One mailbox in numbers. What is held is counted for the owner only: its recipient is not told of it."""
        try:
            counts = await self.store.mail.counts(self._checks.whose(caller, of))
            return counts if caller.owner else msgspec.structs.replace(counts, held=0)
        except NoSuchAgent:
            if of is not None:
                raise
            if caller.new:
                return MailboxCounts(held=0, pending=0, leased=0, dead=0, counted=0, unread=0, oldest_waiting=None)
            raise Unavailable(why=f"there is no mailbox of {caller.name} any more, a backup has taken the place of the mail") from None

    async def totals(self) -> Totals:
        """The whole office in numbers."""
        return await self.store.overview.totals()


def _instant(what: str, at: datetime | None) -> int | None:
    if at is None:
        return None
    if at.tzinfo is None:
        raise Invalid(what=what, why="it needs a time zone")
    return micros(at)
