"""Dead letters, and mail that is held: give them another life or an end."""

from typing import TypeVar

from postoffice.acts.act import Act
from postoffice.acts.desk import Desk
from postoffice.acts.mail.moves import bury, end_expired, let_through, move, write_place
from postoffice.acts.needs import Needs
from postoffice.acts.rows import DeliveryRow, TaskRow
from postoffice.acts.rules.finding import find_mail
from postoffice.acts.tasks.steps import step, steps_of
from postoffice.core.clock import moment
from postoffice.core.delivery import CANCELED, UNREAD, Settled, State
from postoffice.core.errors import NoSuchMessage, NotDead, NotWaiting, WasCanceled
from postoffice.core.names import SYSTEM, folded
from postoffice.core.session import pair
from postoffice.core.task import UNDELIVERED, TaskState

R = TypeVar("R")


class OneLetter(Act[R]):
    """Something done to one delivery."""

    def __init__(self, mailbox: str, ref: str) -> None:
        self.mailbox = folded(mailbox)
        self.ref = ref

    def ask(self, needs: Needs) -> None:
        needs.boxes.add(self.mailbox)
        needs.mail[self.ref, self.mailbox] = True

    def find(self, desk: Desk, state: State) -> DeliveryRow:
        """The delivery, which must be in that state."""
        row = find_mail(desk, self.ref, self.mailbox, lambda r: r.state == state)
        if row is None:
            raise NoSuchMessage(name=self.mailbox, ref=self.ref)
        if row.state != state:
            raise NotDead(ref=self.ref, state=row.state)
        return row


class Requeue(OneLetter[Settled]):
    """A dead letter waits again, with all its tries."""

    def run(self, desk: Desk) -> Settled:
        row = self.find(desk, State.DEAD)
        if row.reason == CANCELED:
            raise WasCanceled(ref=self.ref)
        task = desk.tasks.get(row.message_id)
        if task is not None and failed_undelivered(task, row):
            step(desk, task, TaskState.PENDING, "its message waits again")
        row.attempts = 0
        row.token = row.holder = row.settled_at = row.reason = None
        if row.expires_at is not None:  # whoever wants it all the same wants it without an end
            row.expires_at = None
            write_place(desk, row)
        move(desk, row, State.PENDING)
        desk.hints.add(row.mailbox)
        return Settled(row.message_id, State.PENDING)


def failed_undelivered(task: TaskRow, row: DeliveryRow) -> bool:
    """Whether the office failed the task because its message died, and nobody ended it before."""
    if task.state != TaskState.FAILED or row.settled_at is None:
        return False
    last = steps_of(task)[-1]
    return last.state is TaskState.FAILED and last.at == moment(row.settled_at) and (last.text or "").startswith(UNDELIVERED)


class Discard(OneLetter[Settled]):
    """A dead letter is done with."""

    def run(self, desk: Desk) -> Settled:
        row = self.find(desk, State.DEAD)
        move(desk, row, State.ACKED, reason=f"discarded; {row.reason}")
        return Settled(row.message_id, State.ACKED)


class ExpireNow(OneLetter[Settled]):
    """What waits ends as if its time were over, and its sender is told."""

    def ask_more(self, needs: Needs, desk: Desk) -> None:
        row = desk.mail.get((self.ref, self.mailbox))
        if row is not None:
            needs.thread_keys.add((*pair(SYSTEM, row.sender), ""))

    def run(self, desk: Desk) -> Settled:
        row = desk.mail.get((self.ref, self.mailbox))
        if row is None:
            raise NoSuchMessage(name=self.mailbox, ref=self.ref)
        if row.state not in UNREAD:
            raise NotWaiting(ref=self.ref, state=row.state)
        end_expired(desk, row)
        return Settled(row.message_id, State.DEAD)


class Release(Act[Settled]):
    """Mail held since it was sent is let through, or refused for good."""

    def __init__(self, mailbox: str, message_id: str, refusal: str | None = None) -> None:
        self.mailbox = folded(mailbox)
        self.message_id = message_id
        self.refusal = refusal

    def ask(self, needs: Needs) -> None:
        needs.boxes.add(self.mailbox)
        needs.mail[self.message_id, self.mailbox] = True

    def ask_more(self, needs: Needs, desk: Desk) -> None:
        row = desk.mail.get((self.message_id, self.mailbox))
        if row is not None:
            needs.thread_keys.add((*pair(SYSTEM, row.sender), ""))

    def run(self, desk: Desk) -> Settled:
        row = desk.mail.get((self.message_id, self.mailbox))
        if row is None:
            raise NoSuchMessage(name=self.mailbox, ref=self.message_id)
        if row.hidden:  # not one that was delivered and waits for another try
            if self.refusal is not None:
                bury(desk, row, self.refusal)
            else:
                let_through(desk, row)
        return Settled(row.message_id, State(row.state))
