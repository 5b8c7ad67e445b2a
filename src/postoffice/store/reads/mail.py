"""What a store can be asked about mail."""

from collections.abc import Collection, Iterable, Sequence
from datetime import timedelta

import msgspec
from msgspec import UNSET

from postoffice.acts.mail.session import standing_of
from postoffice.acts.mail.take_and_settle import as_leased
from postoffice.acts.rows import Box, DeliveryRow, Row
from postoffice.core.clock import is_id, moment
from postoffice.core.delivery import InHand, Lent, Rings, Standing, State
from postoffice.core.errors import NoSuchAgent
from postoffice.core.message import Message
from postoffice.core.names import folded, is_list
from postoffice.core.views import DeadLetter, MailboxCounts, Page, Proof
from postoffice.store.engine import Engine
from postoffice.store.reads.pages import END, LAST_ID, id_cursor, page_of, pair_cursor

NEWEST = 10_000
"""Deliveries among which the end of an id is looked for."""
_IDS_SHOWN = 3
_message = msgspec.json.Decoder(Message).decode


class MailReads:
    """Deliveries that wait, are lent or are dead, and where a message stands."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def waiting(self, name: str, cursor: str | None, limit: int, *, outside: bool = False) -> Page[Message]:
        priority, rest = pair_cursor(cursor) if cursor is not None else (0, "0")
        number, _ = pair_cursor(f"{rest}.")
        query = "mailbox_outside" if outside else "mailbox"
        rows = await self._engine.fetch(query, agent=folded(name), priority=priority, number=number, limit=limit + 1)
        return page_of([_message(row[-1]) for row in rows[:limit]], rows, limit, lambda row: f"{row[4]}.{row[3]}")

    async def not_taken(self, name: str, limit: int) -> tuple[str, ...]:
        """What waits in a mailbox or is held there, by the ids of its messages."""
        return tuple(id for (id,) in await self._engine.fetch("not_taken", agent=folded(name), limit=limit))

    async def next_due(self) -> timedelta | None:
        """How long until the next letter comes due, expires or recurs; None if none will."""
        ((left,),) = await self._engine.fetch("next_due")
        return None if left is None else timedelta(microseconds=left)

    async def in_hand(self, name: str, limit: int, others: Collection[str] = ()) -> tuple[InHand, ...]:
        """What its taker still holds, but for what these windows have."""
        rows = [(DeliveryRow(*row), left) for *row, left in await self._engine.fetch("in_hand_of", agent=folded(name), limit=limit)]
        return tuple(InHand(leased=as_leased(row), left=timedelta(microseconds=left)) for row, left in rows if row.holder not in others)

    async def lent(self, name: str, cursor: str | None, limit: int) -> Page[Lent]:
        after = 0 if cursor is None else pair_cursor(f"{cursor}.")[0]
        rows = [DeliveryRow(*row) for row in await self._engine.fetch("lent", agent=folded(name), after=after, limit=limit + 1)]
        items = [
            Lent(
                message=row.read(),
                token=row.token or "",
                session_id=row.session_id,
                attempt=row.attempts,
                number=row.number,
                where=row.reason,
            )
            for row in rows[:limit]
        ]
        return Page(tuple(items), str(rows[limit - 1].number) if len(rows) > limit else None)

    async def borrowers(self) -> tuple[str, ...]:
        return tuple(name for (name,) in await self._engine.fetch("borrowers"))

    async def dead_letters(self, name: str | None, cursor: str | None, limit: int) -> Page[DeadLetter]:
        if name is None:
            id, _, mailbox = (cursor or f"{LAST_ID}.").partition(".")
            rows = await self._engine.fetch("all_dead_letters", before=id_cursor(id), before_mailbox=mailbox, limit=limit + 1)
        else:
            before = END if cursor is None else pair_cursor(f"{cursor}.")[0]
            rows = await self._engine.fetch("dead_letters", agent=folded(name), before=before, limit=limit + 1)
        items = []
        for row in rows[:limit]:
            d = DeliveryRow(*row[:-1])
            items.append(DeadLetter(_message(d.body), msgspec.structs.replace(standing_of(d), recipient=row[-1])))
        return page_of(items, rows, limit, lambda row: f"{row[1]}.{row[2]}" if name is None else str(row[3]))

    async def proofs(self, ref: str, reader: str | None, after: str = "", limit: int = END) -> list[Proof]:
        """Messages of that id, the office's or a sender's, that the reader sent or got; without a reader, anybody's.

        `limit`: so many standings of a letter to a list, after this recipient, and all in numbers.
        """
        me = None if reader is None else folded(reader)
        bodies = await self._engine.fetch("message_by_id", id=ref, reader=me) if is_id(ref) else ()
        # As everywhere, the office's id names a message before any sender's id can.
        if not bodies:
            bodies = await self._engine.fetch("messages_by_client_id", client_id=ref, reader=me)
        if not bodies and is_id(ref):
            return [
                Proof(message_id=ref, message=None, standings=(), purged_at=moment(purged_at))
                for (purged_at,) in await self._engine.fetch("tombstone", id=ref, reader=me)
            ]
        proofs = []
        for (body,) in bodies:
            message = _message(body)
            proofs.append(await self._proof(message, me, after, limit))
        return proofs

    async def _proof(self, message: Message, reader: str | None, after: str, limit: int) -> Proof:
        to_list = is_list(message.to)
        most = limit if to_list else END
        # Others than its sender know of their own only.
        only = None if reader == folded(message.sender) else reader
        rows = await self._engine.fetch("standings", id=message.id, after=after if to_list else "", reader=only, limit=min(most + 1, END))
        counts = None
        if to_list and only is None:
            counts = {str(state): int(count) for state, count in await self._engine.fetch("standings_in_numbers", id=message.id)}
        return Proof(
            message_id=message.id,
            message=message,
            standings=tuple(_standing(row) for row in rows[:most]),
            counts=counts,
            cursor=folded(rows[most - 1][0]) if len(rows) > most else None,
        )

    async def newer_ids(self, after: str) -> Sequence[Row]:
        """The newest messages after this one, oldest first: each with one of those it went to, its sender, and whether that recipient was told of it."""
        return (await self._engine.fetch("newer_ids", after=after, most=NEWEST))[::-1]

    async def unfinished_ids_ending(self, agent: str, endings: list[str], before: str) -> list[str]:
        """Of what an agent has not done with, messages older than this one whose ids end with one of these four characters."""
        return [id for (id,) in await self._engine.fetch("unfinished_ids_ending", agent=agent, endings=endings, before=before)]

    async def unfinished_ids(self, agent: str, before: str, most: int) -> list[str]:
        """So many at most of them, whatever their ids end with."""
        return [id for (id,) in await self._engine.fetch("unfinished_ids", agent=agent, before=before, most=most)]

    async def ids_ending(self, name: str | None, endings: list[str]) -> list[str]:
        """Messages whose ids end with one of these four characters: of the office's newest and of what waits, those of this agent."""
        agent = None if name is None else folded(name)
        return [id for (id,) in await self._engine.fetch("ids_ending", agent=agent, endings=endings, most=NEWEST)]

    async def ids_beginning(self, name: str | None, beginning: str) -> list[str]:
        """The same, by their first characters; of many a few."""
        agent = None if name is None else folded(name)
        return [id for (id,) in await self._engine.fetch("ids_beginning", agent=agent, beginning=beginning, most=NEWEST, shown=_IDS_SHOWN)]

    async def awaits(self) -> Sequence[Row]:
        """Who waits for whose answer now."""
        return await self._engine.fetch("awaits")

    async def look(self, agents: Iterable[str]) -> dict[str, tuple[int, int]]:
        """By folded name: how much waits, and the last number counted."""
        rows = await self._engine.fetch("look", agents=[folded(name) for name in agents])
        return {agent: (pending, counted) for agent, pending, counted in rows}

    async def counts(self, name: str) -> MailboxCounts:
        rows = await self._engine.fetch("agent", agent=folded(name))
        if not rows:
            raise NoSuchAgent(name=name, hint="check the name")
        box, seen = Box.of(rows[0][:-2]), rows[0][-2]
        ((oldest,),) = await self._engine.fetch("oldest", agent=box.agent)
        return MailboxCounts(
            held=box.held,
            pending=box.pending,
            unread=box.pending - seen,
            leased=box.leased,
            dead=box.dead,
            counted=box.counted,
            oldest_waiting=None if oldest is None else timedelta(microseconds=rows[0][-1] - oldest),
            paused=box.pause(rows[0][-1]),
        )


def _standing(row: Row) -> Standing:
    (
        name,
        state,
        attempts,
        number,
        session_id,
        due_at,
        settled_at,
        reason,
        leased_at,
        seen_at,
        paused,
        paused_until,
        deliver_at,
        taken_by,
        *rings,
    ) = row
    return Standing(
        recipient=name,
        state=State(state),
        attempts=attempts,
        number=number,
        session_id=session_id,
        due_at=None if due_at is None else moment(due_at),
        settled_at=None if settled_at is None else moment(settled_at),
        reason=reason,
        leased_at=None if leased_at is None else moment(leased_at),
        seen_at=None if seen_at is None else moment(seen_at),
        deliver_at=UNSET if deliver_at is None else moment(deliver_at),
        paused_until=UNSET if paused is None else None if paused_until is None else moment(paused_until),
        taken_by=UNSET if taken_by is None else taken_by,
        rung=UNSET if rings[0] is None else _rings(*rings),
    )


def _rings(times: int, *at: int | None) -> Rings:
    first_at, last_at, turn_at, told_at = (None if one is None else moment(one) for one in at)
    assert first_at is not None
    assert last_at is not None
    return Rings(times=times, first_at=first_at, last_at=last_at, turn_at=turn_at, told_at=told_at)
