"""Read a session: what is shown is settled, tasks and leased mail excepted."""

from typing import NamedTuple

from msgspec import UNSET

from postoffice.acts.act import Act
from postoffice.acts.desk import Desk
from postoffice.acts.mail.moves import settle
from postoffice.acts.needs import Needs
from postoffice.acts.rows import DeliveryRow, ThreadRow
from postoffice.core.clock import moment
from postoffice.core.delivery import Standing, State
from postoffice.core.errors import NotParticipant
from postoffice.core.message import TASK
from postoffice.core.names import folded
from postoffice.core.session import Line, Thread


class ReadSession(Act[Thread]):
    """The newest lines of a session before a number, newest first."""

    def __init__(self, reader: str, session_id: str, before: int, limit: int) -> None:
        self.reader = folded(reader)
        self.key = (session_id, before, limit, self.reader)

    def ask(self, needs: Needs) -> None:
        needs.boxes.add(self.reader)
        needs.lines.add(self.key)

    def ask_more(self, needs: Needs, desk: Desk) -> None:
        box = desk.boxes.get(self.reader)
        if box is not None and box.held and self.key[0] in needs.threads:
            needs.extra[self._held] = (self.key[0], self.reader)

    @property
    def _held(self) -> str:
        return f"held_in:{self.key[0]}:{self.reader}"

    def run(self, desk: Desk) -> Thread:
        thread = desk.threads.get(self.key[0])
        held = Held(*next(iter(desk.extra.get(self._held, ())), (0, 0, None)))
        check_reader(thread, self.key[0], self.reader, held.hidden)
        assert thread is not None
        # The locked rows where there are any, and not those that were read to find them.
        rows = [desk.mail.get((row.message_id, row.mailbox), row) for row in desk.lines[self.key]]
        if not desk.boxes[self.reader].card.person:  # what a person opens is seen, and not done with
            for row in rows:
                if settled_by(self.reader, row) and not row.is_expired(desk.now):
                    settle(desk, row)
        other = thread.high if self.reader == thread.low else thread.low
        return as_thread(thread, self.reader, desk.boxes[other].name, rows, held)


def settled_by(reader: str, row: DeliveryRow) -> bool:
    """Whether it is settled by being shown to this reader."""
    return row.mailbox == reader and row.state == State.PENDING and row.type != TASK


class Held(NamedTuple):
    """What one agent is not told of a session."""

    held: int = 0
    hidden: int = 0
    """Since it was sent."""
    last_at: int | None = None
    """When the agent was last told something."""


def check_reader(thread: ThreadRow | None, id: str, reader: str, hidden: int = 0) -> None:
    """Only the two agents of a session may read it. Others, and an agent that was told nothing of it, do not learn whether it exists."""
    if thread is None or reader not in (thread.low, thread.high) or 0 < thread.counted <= hidden:
        raise NotParticipant(name=reader, session=id)


def as_thread(thread: ThreadRow, reader: str, other: str, rows: list[DeliveryRow], held: Held) -> Thread:
    """A session as its reader sees it."""
    unread = thread.unread_low if reader == thread.low else thread.unread_high
    return Thread(
        id=thread.id,
        subject=thread.subject,
        other=other,
        unread=unread - held.held,
        created_at=moment(thread.created_at),
        last_message_at=moment((held.hidden and held.last_at) or thread.last_at),
        lines=tuple(map(line_of, rows)),
    )


def line_of(row: DeliveryRow) -> Line:
    """A line of a session, with where it stands at length."""
    return Line(
        message=row.read(),
        to=row.mailbox,
        state=State(row.state),
        number=row.session_number or 0,
        seen=row.seen_at is not None,
        standing=standing_of(row),
    )


def standing_of(row: DeliveryRow) -> Standing:
    """Where a delivery stands, under its mailbox's folded name."""
    return Standing(
        recipient=row.mailbox,
        state=State(row.state),
        attempts=row.attempts,
        number=row.number,
        session_id=row.session_id,
        due_at=None if row.due_at is None else moment(row.due_at),
        settled_at=None if row.settled_at is None else moment(row.settled_at),
        reason=None if row.lent else row.reason,
        leased_at=None if row.leased_at is None else moment(row.leased_at),
        seen_at=None if row.seen_at is None else moment(row.seen_at),
        deliver_at=UNSET if row.deliver_at is None else moment(row.deliver_at),
    )
