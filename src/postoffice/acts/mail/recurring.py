"""Recurring letters: each is sent exactly once, by whichever process comes first."""

import msgspec
from msgspec.structs import astuple

from postoffice.acts.act import Act
from postoffice.acts.desk import Desk
from postoffice.acts.lists.sending import sending
from postoffice.acts.mail.moves import notify
from postoffice.acts.needs import Needs
from postoffice.acts.rows import Row
from postoffice.acts.rules.notices import recurring_refused
from postoffice.core.clock import micros, moment
from postoffice.core.errors import MailError, NoSuchRecurring, TooManyRecurring, Unavailable
from postoffice.core.names import SYSTEM, folded
from postoffice.core.recurring import LATE, Missed, Recurring, Template, first_after, next_after
from postoffice.core.session import pair

_RECURRING_PER_AGENT = 100
_encode = msgspec.json.Encoder().encode
_template = msgspec.json.Decoder(Template).decode


class RecurringRow(msgspec.Struct):
    """A recurring letter as stored; what it says is JSON."""

    id: str
    agent: str
    verified: bool
    every: str
    zone: str
    missed: str
    letter: str
    next_at: int
    created_at: int
    last_at: int | None = None
    sent: int = 0
    trouble: str | None = None

    @classmethod
    def of(cls, row: Row) -> "RecurringRow":
        """As one query gives it: truths may be numbers."""
        recurring = cls(*row)
        recurring.verified = bool(recurring.verified)
        return recurring


def as_recurring(row: RecurringRow, sender: str) -> Recurring:
    """The same as people may see it."""
    return Recurring(
        id=row.id,
        sender=sender,
        every=row.every,
        zone=row.zone,
        missed=Missed(row.missed),
        letter=_template(row.letter),
        next_at=moment(row.next_at),
        created_at=moment(row.created_at),
        last_at=None if row.last_at is None else moment(row.last_at),
        sent=row.sent,
        trouble=row.trouble,
    )


class KeepRecurring(Act[Recurring]):
    """Begin to send a letter again and again."""

    def __init__(self, sender: str, every: str, zone: str, missed: Missed, letter: Template, *, verified: bool) -> None:
        self.agent = folded(sender)
        self.every = " ".join(every.split())
        self.zone = zone
        self.missed = missed
        self.letter = letter
        self.verified = verified

    def ask(self, needs: Needs) -> None:
        needs.boxes.add(self.agent)
        needs.extra[self._own] = (self.agent,)

    @property
    def _own(self) -> str:
        return f"count_recurring:{self.agent}"

    def run(self, desk: Desk) -> Recurring:
        box = desk.boxes[self.agent]
        ((count,),) = desk.extra[self._own]
        if count >= _RECURRING_PER_AGENT:
            raise TooManyRecurring(name=box.name, count=count, limit=_RECURRING_PER_AGENT)
        begins = first_after(self.every, self.zone, desk.at)
        letter = _encode(self.letter).decode()
        desk.room.take(len(letter))
        row = RecurringRow(
            desk.clock.new_id(), self.agent, self.verified, self.every, self.zone, self.missed, letter, micros(begins), desk.now
        )
        desk.extra[self._own] = [(count + 1,)]
        desk.write("put_recurring", astuple(row), row.id)
        return as_recurring(row, box.name)


class StopRecurring(Act[Recurring]):
    """Send it no more. What was sent stays sent."""

    def __init__(self, agent: str, id: str) -> None:
        self.agent = folded(agent)
        self.id = id

    def ask(self, needs: Needs) -> None:
        needs.boxes.add(self.agent)
        needs.extra[_found(self.id)] = (self.id,)

    def run(self, desk: Desk) -> Recurring:
        rows = [row for row in map(RecurringRow.of, desk.extra[_found(self.id)]) if row.agent == self.agent]
        if not rows:
            raise NoSuchRecurring(id=self.id)
        desk.extra[_found(self.id)] = []
        desk.writes.get("put_recurring", {}).pop(self.id, None)
        desk.write("drop_recurring", (self.id,), self.id)
        return as_recurring(rows[0], desk.boxes[self.agent].name)


class SendRecurring(Act[bool]):
    """Send one that is due and say when it comes next, both or neither. Whoever comes second finds that it is not due any more."""

    def __init__(self, row: RecurringRow, *, strangers: bool) -> None:
        self.row = row
        self.sending = sending(row.agent, _template(row.letter).draft(), verified=row.verified, strangers=strangers)

    def ask(self, needs: Needs) -> None:
        self.sending.ask(needs)
        needs.extra[_found(self.row.id)] = (self.row.id,)
        needs.thread_keys.add((*pair(SYSTEM, self.row.agent), ""))  # its sender is told there if it is refused

    def ask_more(self, needs: Needs, desk: Desk) -> None:
        self.sending.ask_more(needs, desk)

    def run(self, desk: Desk) -> bool:
        rows = desk.extra[_found(self.row.id)]
        if not rows or (row := RecurringRow.of(rows[0])).next_at != self.row.next_at or row.next_at > desk.now:
            return False
        late = desk.now - row.next_at > micros(LATE)
        if not (late and row.missed == Missed.SKIP):
            self._send(desk, row)
        following = next_after(row.every, row.zone, desk.at)
        if following is None:
            desk.extra[_found(row.id)] = []
            desk.write("drop_recurring", (row.id,), row.id)
            return True
        row.next_at = micros(following)
        desk.extra[_found(row.id)] = [astuple(row)]
        desk.write("put_recurring", astuple(row), row.id)
        return True

    def _send(self, desk: Desk, row: RecurringRow) -> None:
        try:
            self.sending.run(desk)
        except Unavailable:  # it is tried again, as if nobody had come
            raise
        except MailError as refusal:
            if row.trouble != str(refusal):
                box = desk.boxes[row.agent]
                notify(desk, box, recurring_refused(row.id, row.every, str(refusal)))
            row.trouble = str(refusal)
            return
        row.last_at, row.sent, row.trouble = desk.now, row.sent + 1, None


def _found(id: str) -> str:
    return f"recurring_by_id:{id}"
