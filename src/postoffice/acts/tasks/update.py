"""A task update: the message that tells one side of a task what the other has done about it."""

from typing import Any

import msgspec

from postoffice.acts.desk import Desk
from postoffice.acts.mail.moves import keep, post
from postoffice.acts.rows import TaskRow
from postoffice.acts.rules.endless import refresh_talk
from postoffice.core.attachment import Attachment
from postoffice.core.clock import moment
from postoffice.core.delivery import State
from postoffice.core.draft import Draft
from postoffice.core.message import TASK_UPDATE, Message, TaskRef, check_size
from postoffice.core.task import TaskState

_encode = msgspec.json.Encoder().encode
_CARRIED = ("content", "parts", "payload", "context", "correlation_id", "metadata", "client_id", "automatic")


class Update:
    """From the one who moves a task to the other, in the task's session. Too large a one is refused as it is made."""

    def __init__(
        self,
        desk: Desk,
        task: TaskRow,
        sender: str,
        state: TaskState,
        report: Draft,
        *,
        verified: bool,
        open_parts: int = 0,
        attachments: tuple[Attachment, ...] = (),
    ) -> None:
        self.open_parts = open_parts
        self.attachments = attachments
        self.task = task
        self.sender = sender
        self.to = task.requester if sender == task.assignee else task.assignee
        self.message = self._compose(desk, state, report, verified=verified)
        self.body = _encode(self.message).decode()
        self.size = len(self.body.encode())
        check_size(self.size, desk.limits)

    def _compose(self, desk: Desk, state: TaskState, report: Draft, *, verified: bool) -> Message:
        task = self.task
        fields: dict[str, Any] = {field: getattr(report, field) for field in _CARRIED}
        asked = desk.mail.get((task.message_id, task.mailbox))
        if fields["correlation_id"] is None and asked is not None:
            fields["correlation_id"] = asked.correlation_id  # whoever asked may be waiting for this mark
        goes_back = self.to == task.requester
        return Message(
            id=desk.clock.new_id(),
            sender=desk.boxes[self.sender].name,
            to=desk.boxes[self.to].name,
            created_at=desk.at,
            from_verified=verified,
            type=TASK_UPDATE,
            subject=task.subject,
            reply_to=task.message_id,
            priority=report.priority or desk.limits.priority,
            ttl=desk.limits.ttl,
            trace=(desk.boxes[self.sender].name,),
            task=TaskRef(
                task.id,
                state,
                None if task.deadline is None else moment(task.deadline),
                percent=None if report.task is None else report.task.percent,
                open_parts=self.open_parts,
            ),
            attachments=self.attachments,
            callback=msgspec.json.decode(task.callback) if goes_back and task.callback is not None else None,
            **fields,
        )

    def post(self, desk: Desk, *, settled: bool, moved: bool) -> None:
        """Put it into the other's mailbox. That the task moved shows that the two get on."""
        keep(desk, self.message, self.sender, self.body)
        thread = desk.threads.get(self.task.session_id or "")
        post(desk, self.message, self.body, self.sender, desk.boxes[self.to], thread, State.ACKED if settled else State.PENDING)
        if moved:
            refresh_talk(desk, self.task.requester, self.task.assignee)
        # The budget never refuses an update, and one written by hand refills it.
        if thread is not None and not self.message.automatic:
            thread.replies_left = desk.limits.automatic_replies
