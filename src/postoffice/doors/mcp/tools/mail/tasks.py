"""Reporting on a task."""

from typing import ClassVar

from postoffice.core.delivery import Ack
from postoffice.core.message import Draft
from postoffice.core.names import folded
from postoffice.core.task import FINAL, Task
from postoffice.core.tools import mail
from postoffice.doors.mcp.request import McpRequest
from postoffice.doors.mcp.tools.mail.reading import ForMind, keep, shorten
from postoffice.doors.mcp.tools.tasks import state_of
from postoffice.doors.mcp.tools.verb import Verb


class Reported(ForMind, frozen=True, kw_only=True):
    """A task as it stands now."""

    shape: ClassVar = Task
    task: Task
    told: str

    def text(self) -> str:
        return f"Task {self.id(self.task.message_id)} is {self.task.state}; {self.told} is told."

    def bare(self) -> Task:
        return self.task


async def update(request: McpRequest, given: mail.Update) -> Reported:
    """Move a task. One that has ended is done with as mail, too; one under way stays with whoever works on it."""
    me = await request.caller(given.agent_id)
    state = state_of(given.state)
    task = await request.office.update_task(me, given.id, state, Draft(to=me.name, content=given.text or ""))
    if task.state in FINAL:
        await request.office.settle(me, [Ack(task.message_id)])
    else:
        await keep(request, me, task.message_id)
    mine = folded(task.requester) == folded(me.name)
    short = await shorten(request, me, [task.message_id])
    return Reported(task=task, told=task.assignee if mine else task.requester, short=short)


VERBS = (Verb(mail.UPDATE, update, Reported),)
