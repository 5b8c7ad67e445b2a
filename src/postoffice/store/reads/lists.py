"""What a store can be asked about lists."""

import msgspec
from msgspec import UNSET

from postoffice.acts.lists.rows import ListRow, MemberRow, as_list
from postoffice.acts.rows import Row
from postoffice.core.clock import is_id, moment
from postoffice.core.delivery import Standing, State
from postoffice.core.errors import BadCursor, NotParticipant
from postoffice.core.mailing_list import ListMember, MailingList, Place
from postoffice.core.message import Message
from postoffice.core.names import folded
from postoffice.core.session import Line, Thread
from postoffice.core.views import Page
from postoffice.store.engine import Engine
from postoffice.store.reads.pages import END, page_of

Rank = tuple[int, str]
"""Where a session stands in an inbox: when something was said there last, and its id."""
Ranked = tuple[Rank, Thread]
_message = msgspec.json.Decoder(Message).decode


class ListReads:
    """Lists, who is on them, and what was written to them."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def named(self, name: str, asker: str) -> MailingList | None:
        """The list of that name, if there is one, as this agent sees it."""
        rows = await self._engine.fetch("list_named", list=folded(name), agent=folded(asker))
        return _list(rows[0]) if rows else None

    async def of_session(self, session_id: str, asker: str) -> MailingList | None:
        """The list whose session this is, also one that has ended."""
        rows = await self._engine.fetch("list_of_session", id=session_id, agent=folded(asker)) if is_id(session_id) else ()
        return _list(rows[0]) if rows else None

    async def all(self, asker: str, cursor: str | None, limit: int, *, mine: bool) -> Page[MailingList]:
        """Lists by name: those there are, or those the asker is on or may come to."""
        query = "lists_of" if mine else "lists"
        rows = await self._engine.fetch(query, agent=folded(asker), after=cursor or "", limit=limit + 1)
        return page_of([_list(row) for row in rows[:limit]], rows, limit, lambda row: str(row[1]))

    async def members(self, list_id: str, cursor: str | None, limit: int) -> Page[ListMember]:
        """Who is on a list, or is invited, by name."""
        rows = await self._engine.fetch("members_of_list", id=list_id, after=cursor or "", limit=limit + 1)
        items = [ListMember(name=name, place=Place(place), added_by=by, since=moment(since)) for name, place, by, since, _ in rows[:limit]]
        return page_of(items, rows, limit, lambda row: str(row[4]))

    async def place(self, list_id: str, agent: str) -> MemberRow | None:
        """Where an agent stands with a list, and what of it it may read."""
        rows = await self._engine.fetch("place_of_reader", id=list_id, agent=folded(agent))
        return MemberRow(*rows[0]) if rows else None

    async def threads(self, reader: str, before: Rank, limit: int, lines: int) -> list[Ranked]:
        """The sessions of the lists that an agent is on or was on, the newest first, each with where it stands in the inbox."""
        rows = await self._engine.fetch("list_threads", agent=folded(reader), before=before[0], before_id=before[1], limit=limit)
        found = []
        for id, unread, created_at, last_at, name in rows:
            place = await self.place(id, reader)
            thread = Thread(
                id=id,
                subject="",
                other=name,
                unread=unread,
                created_at=moment(created_at),
                last_message_at=moment(last_at),
                lines=await self.lines(id, name, place, reader, END, lines) if lines else (),
            )
            found.append(((int(last_at), str(id)), thread))
        return found

    async def read(self, found: MailingList, reader: str | None, before: str | None, limit: int) -> Thread:
        """A list's session as one who is or was on it sees it; the owner, who is nobody here, sees all of it. Settles nothing."""
        place = None if reader is None else await self.place(found.session_id, reader)
        if reader is not None and (place is None or place.place == Place.INVITED):
            raise NotParticipant(name=reader, session=found.session_id)
        number = await self._number(found.session_id, before)
        return Thread(
            id=found.session_id,
            subject="",
            other=found.name,
            unread=found.unread,
            created_at=found.created_at,
            last_message_at=found.last_message_at or found.created_at,
            lines=await self.lines(found.session_id, found.name, place, reader, number, limit),
            reader=reader or "",
        )

    async def lines(self, id: str, name: str, place: MemberRow | None, reader: str | None, before: int, limit: int) -> tuple[Line, ...]:
        """What a reader may see of a list's session, the newest first."""
        rows = await self._engine.fetch(
            "list_lines",
            id=id,
            reader=None if reader is None else folded(reader),
            before=before,
            floor=0 if place is None else place.floor,
            begins=0 if place is None else place.begins,
            ends=END if place is None or place.ends is None else place.ends,
            limit=limit,
        )
        return tuple(_line(row, id, name, "" if reader is None else folded(reader)) for row in rows)

    async def _number(self, session_id: str, before: str | None) -> int:
        if before is None:
            return END
        rows = await self._engine.fetch("list_letter_number", session=session_id, message=before) if is_id(before) else ()
        if not rows:
            raise BadCursor(cursor=before)
        return int(rows[0][0])


def _list(row: Row) -> MailingList:
    *columns, owner, place, unread = row
    kept = ListRow.of(tuple(columns))
    return as_list(kept, owner, kept.may_write(), None if place is None else Place(place), int(unread or 0))


def _line(row: Row, session_id: str, name: str, reader: str) -> Line:
    """A line as it stands with its reader. What it wrote itself, or reads as history, waits for nobody there."""
    number, body, state, seen_at, attempts, place, due_at, settled_at, leased_at, reason = row
    if state is None:
        return Line(message=_message(body), to=name, state=State.ACKED, number=number)
    lent = state == State.LEASED and due_at is None
    standing = Standing(
        recipient=reader,
        state=State(state),
        attempts=attempts,
        number=place,
        session_id=session_id,
        due_at=None if due_at is None else moment(due_at),
        settled_at=None if settled_at is None else moment(settled_at),
        reason=None if lent else reason,
        leased_at=None if leased_at is None else moment(leased_at),
        seen_at=None if seen_at is None else moment(seen_at),
        deliver_at=UNSET,
    )
    return Line(message=_message(body), to=reader, state=State(state), number=number, seen=seen_at is not None, standing=standing)
