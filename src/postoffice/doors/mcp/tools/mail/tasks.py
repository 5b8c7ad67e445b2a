"""Reporting on a task, or taking back one that was given."""

from typing import ClassVar

from postoffice.core.delivery import Ack
from postoffice.core.message import Draft
from postoffice.core.task import FINAL, Task
from postoffice.core.tools import mail
from postoffice.doors.mcp.request import McpRequest
from postoffice.doors.mcp.tools.mail.reading import ForMind, keep, shorten
from postoffice.doors.mcp.tools.tasks import state_of
from postoffice.doors.mcp.tools.verb import Verb

_TAKEN_BACK = frozenset({mail.Report.CANCELED, "cancelled", "cancel", "withdrawn"})


class Reported(ForMind, frozen=True, kw_only=True):
    """A task as it stands now."""

    shape: ClassVar = Task
    task: Task
    canceled: bool = False

    def text(self) -> str:
        id, task = self.id(self.task.message_id), self.task
        if self.canceled:
            return f"Task {id} is canceled; {task.assignee} had not taken it."
        return f"Task {id} is {task.state}; {task.requester} is told."

    def bare(self) -> Task:
        return self.task


async def update(request: McpRequest, given: mail.Update) -> Reported:
    """Move a task. One that has ended is done with as mail, too; one under way stays with whoever works on it."""
    me = await request.caller(given.agent_id)
    canceled = given.state.lower() in _TAKEN_BACK
    if canceled:
        id, _ = await request.office.cancel(me, given.id)
        task = await request.office.task(me, id)
    else:
        report = Draft(to=me.name, content=given.text or "")
        task = await request.office.update_task(me, given.id, state_of(given.state), report)
        if task.state in FINAL:
            await request.office.settle(me, [Ack(task.message_id)])
        else:
            await keep(request, me, task.message_id)
    return Reported(task=task, canceled=canceled, short=await shorten(request, me, [task.message_id]))


VERBS = (Verb(mail.UPDATE, update, Reported),)
