"""Cancel: a sender takes back what still waits, from one recipient at a time."""

from postoffice.acts.act import Act
from postoffice.acts.desk import Desk
from postoffice.acts.mail.moves import move
from postoffice.acts.needs import Needs
from postoffice.acts.tasks.steps import step
from postoffice.core.delivery import CANCELED, UNREAD, Recalled, State
from postoffice.core.errors import NoSuchMessage
from postoffice.core.event import Kind
from postoffice.core.names import folded
from postoffice.core.task import FINAL, UNDELIVERED, TaskState


class Cancel(Act[Recalled]):
    """What waits or is held is dead from now on. Whoever took it first keeps it: it stays as it is."""

    def __init__(self, sender: str, message_id: str, mailbox: str) -> None:
        self.sender = folded(sender)
        self.message_id = message_id
        self.mailbox = folded(mailbox)

    def ask(self, needs: Needs) -> None:
        needs.boxes.update((self.sender, self.mailbox))
        needs.mail[self.message_id, self.mailbox] = True

    def run(self, desk: Desk) -> Recalled:
        row = desk.mail.get((self.message_id, self.mailbox))
        if row is None or row.sender != self.sender:
            raise NoSuchMessage(name=self.sender, ref=self.message_id)
        box = desk.boxes[self.mailbox]
        canceled = row.state == State.DEAD and row.reason == CANCELED
        if row.state not in UNREAD:
            return Recalled(box.name, State(row.state), canceled)
        if not row.hidden:  # its recipient has heard of it
            desk.tell(box, Kind.DEAD_LETTER, row.message_id, {"reason": CANCELED})
        row.token = row.holder = None
        move(desk, row, State.DEAD, reason=CANCELED)
        task = desk.tasks.get(row.message_id)
        if task is not None and task.state not in FINAL:
            step(desk, task, TaskState.FAILED, f"{UNDELIVERED}{CANCELED}")
        return Recalled(box.name, State.DEAD, canceled=True)
