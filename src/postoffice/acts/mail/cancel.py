"""Cancel: a sender takes back what still waits, from one recipient at a time, and ends a task at any time before it is over."""

from postoffice.acts.act import Act
from postoffice.acts.desk import Desk
from postoffice.acts.mail.moves import move
from postoffice.acts.needs import Needs
from postoffice.acts.rows import DeliveryRow, TaskRow
from postoffice.acts.rules.codes import ask_codes
from postoffice.acts.tasks.steps import step
from postoffice.acts.tasks.update import Update
from postoffice.core.delivery import CANCELED, UNREAD, Recalled, State
from postoffice.core.draft import Draft
from postoffice.core.errors import NoSuchMessage
from postoffice.core.event import Kind
from postoffice.core.names import folded, is_role
from postoffice.core.task import FINAL, TaskState
from postoffice.core.text import render


class Cancel(Act[Recalled]):
    """What waits or is held is dead from now on. Whoever took it first keeps it; but if it was a task, it is over, and they are told."""

    def __init__(self, sender: str, message_id: str, mailbox: str, report: Draft, *, verified: bool) -> None:
        self.sender = folded(sender)
        self.message_id = message_id
        self.mailbox = folded(mailbox)
        self.report = report
        """What whoever works on a task is told."""
        self.verified = verified

    def ask(self, needs: Needs) -> None:
        needs.boxes.update((self.sender, self.mailbox))
        needs.mail[self.message_id, self.mailbox] = True
        ask_codes(needs, self.report, [self.mailbox])
        if is_role(self.mailbox):
            needs.tasks.add(self.message_id)  # one of the role's agents may have it

    def run(self, desk: Desk) -> Recalled:
        row = desk.mail.get((self.message_id, self.mailbox))
        if row is None or row.sender != self.sender:
            raise NoSuchMessage(name=self.sender, ref=self.message_id)
        task = desk.tasks.get(row.message_id)
        if task is not None and task.state not in FINAL:
            self._end(desk, row, task)
        if row.state in UNREAD:
            self._bury(desk, row)
        canceled = row.reason == CANCELED if row.state == State.DEAD else task is not None and task.state == TaskState.CANCELED
        return Recalled(desk.boxes[self.mailbox].name, State(row.state), canceled)

    def _end(self, desk: Desk, row: DeliveryRow, task: TaskRow) -> None:
        # What waits again because a lease ran out may be at work all the same.
        if row.state not in UNREAD or row.attempts or task.state != TaskState.PENDING:
            update = Update(desk, task, self.sender, TaskState.CANCELED, self.report, verified=self.verified)
            desk.room.take(update.size)
            update.post(desk, settled=False, moved=True)
        step(desk, task, TaskState.CANCELED, render(self.report.content, self.report.parts) or None)

    @staticmethod
    def _bury(desk: Desk, row: DeliveryRow) -> None:
        if not row.hidden:  # its recipient has heard of it
            desk.tell(desk.boxes[row.mailbox], Kind.DEAD_LETTER, row.message_id, {"reason": CANCELED})
        row.token = row.holder = None
        move(desk, row, State.DEAD, reason=CANCELED)
        if row.session_id is not None and row.session_id not in desk.threads:  # who comes to the list later does not read it either
            desk.write("cancel_list_letter", (row.message_id,), row.message_id)
