"""What a store can be asked about sessions."""

from collections.abc import Sequence
from operator import itemgetter

import msgspec

from postoffice.acts.mail.session import Held, as_thread, check_reader
from postoffice.acts.rows import DeliveryRow, Row, ThreadRow
from postoffice.core.clock import is_id, moment
from postoffice.core.delivery import State
from postoffice.core.errors import BadCursor, NoSuchSession, NotParticipant
from postoffice.core.message import Message
from postoffice.core.names import folded
from postoffice.core.session import Line, Thread
from postoffice.core.views import Page
from postoffice.store.engine import Engine
from postoffice.store.reads.agents import name_of
from postoffice.store.reads.lists import ListReads, Rank, Ranked
from postoffice.store.reads.pages import END, LAST_ID, id_cursor, pair_cursor

_message = msgspec.json.Decoder(Message).decode
_HIDDEN, _BODY = 6, 11
"""Columns of the inbox: whether a session has lines that its reader may not see, and what a line says."""
_KEPT_PAGES = 64
_newest = itemgetter(1, 0)
_latest = itemgetter(2)
_STATES = {str(state): state for state in State}
_MANY_WAITING_LETTERS = 2000
"""With more waiting messages than this, unread sessions are found by going through the sessions."""


class SessionReads:
    """Sessions, each with its lines."""

    def __init__(self, engine: Engine, lists: ListReads) -> None:
        self._engine = engine
        self._lists = lists
        self._pages: dict[tuple[object, ...], tuple[Sequence[Row], Page[Thread]]] = {}
        """What rows came to, for as long as an engine gives the very same rows again."""

    async def inbox(self, name: str, cursor: str | None, limit: int, *, unread_only: bool, lines: int) -> Page[Thread]:
        at, id = pair_cursor(cursor) if cursor is not None else (END, LAST_ID)
        id_cursor(id)
        query = "inbox" if not unread_only else "inbox_unread_of_many" if await self._many_wait(name) else "inbox_unread"
        rows = await self._engine.fetch(query, agent=folded(name), before=at, before_id=id, limit=limit + 1, lines=lines)
        lists = await self._lists.threads(name, (at, id), limit + 1, lines)
        place = (name, cursor, limit, lines)
        if not lists and (kept := self._pages.get(place)) is not None and kept[0] is rows:
            return kept[1]
        page = await self._page(rows, lists, folded(name), limit, lines, unread_only=unread_only)
        if query == "inbox" and not lists and not self._engine.shared and not any(row[_HIDDEN] for row in rows):
            self._pages[place] = rows, page
            if len(self._pages) > _KEPT_PAGES:
                del self._pages[next(iter(self._pages))]
        return page

    async def _page(
        self, rows: Sequence[Row], lists: Sequence[Ranked], reader: str, limit: int, lines: int, *, unread_only: bool
    ) -> Page[Thread]:
        """Sessions of two and of lists, the newest first."""
        found: list[tuple[Rank, Row | Thread]] = [*lists]
        lines_of: dict[str, list[Row]] = {}
        for row in rows:
            if row[_BODY] is None:
                found.append((_newest(row), row))
            else:
                lines_of.setdefault(row[0], []).append(row)
        found.sort(key=itemgetter(0), reverse=True)
        shown = [
            session
            if isinstance(session, Thread)
            else await self._let_through(session, reader, lines)
            if session[_HIDDEN]
            else _thread(session, lines_of.get(session[0], ()))
            for _, session in found[:limit]
        ]
        items = [thread for thread in shown if thread is not None and (thread.unread or not unread_only)]
        return Page(tuple(items), "{}.{}".format(*found[limit - 1][0]) if len(found) > limit else None)

    async def _let_through(self, session: Row, reader: str, lines: int) -> Thread | None:
        """A session of which its reader may not see all, and must not notice that in its last lines. None if it may see nothing of it."""
        last = [DeliveryRow(*row) for row in await self._engine.fetch_each("lines", [(session[0], END, max(lines, 1), reader)])]
        if not last:
            return None
        shown = tuple(
            Line(message=d.read(), to=d.mailbox, state=State(d.state), number=d.session_number or 0, seen=d.seen_at is not None)
            for d in last[:lines]
        )
        return msgspec.structs.replace(_thread(session, ()), last_message_at=moment(last[0].created_at), lines=shown)

    async def _many_wait(self, name: str) -> bool:
        return any(pending > _MANY_WAITING_LETTERS for _, pending, _ in await self._engine.fetch("look", agents=[folded(name)]))

    async def peek(self, reader: str | None, session_id: str, before: str | None, limit: int) -> Thread:
        rows = await self._engine.fetch("session", id=session_id) if is_id(session_id) else ()
        thread = ThreadRow(*rows[0]) if rows else None
        if reader is None and thread is None:
            raise NoSuchSession(session=session_id)
        # The owner looks over one member's shoulder.
        looking = folded(reader) if reader is not None else thread.low if thread is not None else ""
        ((held, hidden, last_at),) = (
            await self._engine.fetch_each("held_in", [(session_id, looking)]) if thread is not None else ((0, 0, None),)
        )
        held_back = Held(held, hidden if reader is not None else 0, last_at)
        check_reader(thread, session_id, looking, held_back.hidden)
        assert thread is not None
        before_number = await self._number(session_id, before)
        lines = await self._engine.fetch_each("lines", [(session_id, before_number, limit, "" if reader is None else looking)])
        other = await name_of(self._engine, thread.high if looking == thread.low else thread.low)
        shown = as_thread(thread, looking, other, [DeliveryRow(*row) for row in lines], held_back)
        return msgspec.structs.replace(shown, reader=await name_of(self._engine, looking))

    async def place(self, reader: str, session_id: str, before: str | None) -> int:
        """Where in a session its reader goes on: the number of the message `before`."""
        if not is_id(session_id):
            raise NotParticipant(name=reader, session=session_id)
        if before is not None:  # if there is such a message, there is such a session
            rows = await self._engine.fetch("session", id=session_id)
            check_reader(ThreadRow(*rows[0]) if rows else None, session_id, folded(reader))
        return await self._number(session_id, before)

    async def _number(self, session_id: str, before: str | None) -> int:
        if before is None:
            return END
        rows = await self._engine.fetch("session_number", session=session_id, message=before) if is_id(before) and is_id(session_id) else ()
        if not rows:
            raise BadCursor(cursor=before)
        return int(rows[0][0])


def _thread(session: Row, lines: Sequence[Row]) -> Thread:
    """A session from its row and those of its lines."""
    id, last_at, subject, other, unread, created_at = session[:_HIDDEN]
    return Thread(
        id=id,
        subject=subject,
        other=other,
        unread=unread,
        created_at=moment(created_at),
        last_message_at=moment(last_at),
        lines=tuple(
            Line(message=_message(body), to=to, state=_STATES[state], number=number, seen=seen_at is not None)
            for to, state, number, seen_at, body in sorted((line[_HIDDEN + 1 :] for line in lines), key=_latest, reverse=True)
        ),
    )
