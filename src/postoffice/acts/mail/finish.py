"""People finish their mail: what they open is seen, what is done is acked, and what is for later comes back by itself."""

from datetime import timedelta

from postoffice.acts.desk import Desk
from postoffice.acts.mail.dead import OneLetter
from postoffice.acts.mail.moves import mark_seen, move, settle
from postoffice.acts.mail.session import standing_of
from postoffice.acts.rows import DeliveryRow
from postoffice.acts.rules.finding import find_mail
from postoffice.core.delivery import WAITING, Standing, State
from postoffice.core.errors import NoSuchMessage, NotWaiting
from postoffice.core.event import Kind
from postoffice.core.names import SYSTEM


class Finish(OneLetter[Standing]):
    """Something a person does to one letter in their own mailbox."""

    def run(self, desk: Desk) -> Standing:
        row = find_mail(desk, self.ref, self.mailbox, lambda r: r.state in WAITING)
        if row is None:
            raise NoSuchMessage(name=desk.boxes[self.mailbox].name, ref=self.ref)
        self.change(desk, row)
        return standing_of(row)

    def change(self, desk: Desk, row: DeliveryRow) -> None:
        """Do it, or refuse."""
        raise NotImplementedError


class See(Finish):
    """Open it: it is no longer unread, and its sender hears so. If it is done already, nothing changes."""

    def change(self, desk: Desk, row: DeliveryRow) -> None:
        if row.state != State.PENDING or row.seen_at is not None:
            return
        mark_seen(desk, row, desk.now)
        if row.sender not in (SYSTEM, row.mailbox):
            desk.tell(desk.boxes[row.sender], Kind.SEEN, row.message_id, {"by": desk.boxes[row.mailbox].name})


class KeepUnread(Finish):
    """Have it as if it had not been opened."""

    def change(self, desk: Desk, row: DeliveryRow) -> None:
        if row.state not in WAITING:
            raise NotWaiting(ref=self.ref, state=row.state)
        if row.seen_at is not None:
            mark_seen(desk, row, None)
            desk.hints.add(row.mailbox)


class Done(Finish):
    """Be done with it, answered or not. Said again, it stays done."""

    def change(self, desk: Desk, row: DeliveryRow) -> None:
        if row.state == State.DEAD:
            raise NotWaiting(ref=self.ref, state=row.state)
        if row.state != State.ACKED:
            settle(desk, row)


class Snooze(Finish):
    """Put it off: it is held for so long, and then comes back unread."""

    def __init__(self, mailbox: str, ref: str, lasts: timedelta) -> None:
        super().__init__(mailbox, ref)
        self.lasts = lasts

    def change(self, desk: Desk, row: DeliveryRow) -> None:
        if row.state not in (State.PENDING, State.HELD):
            raise NotWaiting(ref=self.ref, state=row.state)
        mark_seen(desk, row, None)
        move(desk, row, State.HELD, due_in=self.lasts)
