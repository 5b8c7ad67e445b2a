"""What a store can be asked by an owner who looks over everybody's mail: conversations, and who waits on whom."""

from datetime import datetime, timedelta

import msgspec

from postoffice.acts.mail.session import line_of
from postoffice.acts.rows import DeliveryRow
from postoffice.core.clock import micros, moment
from postoffice.core.message import Message
from postoffice.core.names import folded
from postoffice.core.session import pair, subject_key
from postoffice.core.talk import Aside, Custom, Talk, Waiting
from postoffice.core.traffic import Deed
from postoffice.core.views import Page
from postoffice.store.engine import Engine
from postoffice.store.reads.pages import END, id_cursor

_message = msgspec.json.Decoder(Message).decode
_SESSIONS_READ = 40
"""Conversations of two agents that are shown together at most."""
_LETTERS_READ = 2_000
"""Letters that one look at the conversations goes through."""
_DEEDS_READ = 1_000
"""Deliveries that are drawn one by one."""
_DELIVERIES_READ = 5_000
"""The most deliveries that one look reads, so that its cost does not grow with the mail."""


class TalkReads:
    """Conversations, and who waits on whom."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def page(self, before: str | None, limit: int, *, waiting_only: bool) -> Page[Talk]:
        window = {"before": id_cursor(before), "most": _LETTERS_READ}
        rows = await self._engine.fetch("talks", **window, waiting=int(waiting_only), limit=limit + 1)
        items = [
            Talk(
                last=_message(body),
                session_id=session_id if sessions == 1 else None,
                recipients=int(recipients),
                waiting=int(waiting),
                leased=int(leased),
                dead=int(dead),
                letters=int(letters),
            )
            for body, session_id, sessions, recipients, waiting, leased, dead, letters in rows[:limit]
        ]
        if len(rows) > limit:
            return Page(tuple(items), items[-1].last.id)
        # Where few conversations say very much, the list goes on beyond what one look goes through.
        reach = await self._engine.fetch("talks_reach", **window)
        return Page(tuple(items), reach[0][0] if reach else None)

    async def between(self, one: str, other: str, subject: str | None, reader: str | None, limit: int) -> tuple[Aside, ...]:
        """The newest letters of two agents, of all their conversations or of one, the newest first."""
        low, high = pair(folded(one), folded(other))
        wanted = None if subject is None else subject_key(subject)
        sessions: dict[str, str] = dict(
            await self._engine.fetch("sessions_between", low=low, high=high, subject=wanted, limit=_SESSIONS_READ)
        )
        if not sessions:
            return ()
        reading = "" if reader is None else folded(reader)
        rows = [DeliveryRow(*row) for row in await self._engine.fetch_each("lines", [(id, END, limit, reading) for id in sessions])]
        rows.sort(key=lambda row: row.message_id, reverse=True)
        return tuple(
            Aside(line=line_of(row), session_id=row.session_id, subject=sessions[row.session_id]) for row in rows[:limit] if row.session_id
        )

    async def customs(self) -> tuple[Custom, ...]:
        """How long mail waits for each agent as a rule."""
        rows = await self._engine.fetch("customs", most=_DELIVERIES_READ)
        return tuple(Custom(name=name, taken=taken, wait=timedelta(microseconds=max(0, wait))) for name, taken, wait in rows if name)

    async def deeds(self, name: str | None, begun: datetime) -> tuple[Deed, ...]:
        """Deliveries since a moment, of one agent or of everybody; of very many the newest."""
        agent = None if name is None else folded(name)
        rows = await self._engine.fetch("deeds", agent=agent, begun=micros(begun), most=_DEEDS_READ)
        return tuple(
            Deed(
                message_id=id,
                sender=sender,
                recipient=recipient,
                state=state,
                attempts=attempts,
                created_at=moment(created),
                leased_at=None if leased is None else moment(leased),
                settled_at=None if settled is None else moment(settled),
            )
            for id, sender, recipient, state, attempts, created, leased, settled in rows
            if sender and recipient
        )

    async def waits(self, limit: int) -> tuple[Waiting, ...]:
        """Who waits on whom, the longest wait first."""
        rows = await self._engine.fetch("waits", most=_DELIVERIES_READ, limit=limit)
        return tuple(
            Waiting(waiter=waiter, waited_on=waited_on, letters=int(letters), tasks=int(tasks), since=moment(since))
            for waiter, waited_on, letters, tasks, since in rows
            if waiter and waited_on
        )
