"""Reporting on a task, or taking back what was sent."""

from typing import ClassVar

import msgspec

from postoffice.core.agent import Caller
from postoffice.core.delivery import Ack, Recalled
from postoffice.core.draft import Draft
from postoffice.core.errors import Invalid
from postoffice.core.task import FINAL, Task, TaskState
from postoffice.core.tools import mail
from postoffice.doors.mcp.request import McpRequest
from postoffice.doors.mcp.tools.mail.reading import ForMind, keep, shorten
from postoffice.doors.mcp.tools.verb import Verb

_TAKEN_BACK = frozenset({mail.Report.CANCELED, "cancelled", "cancel", "withdrawn"})


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of it: a task as it stands now, or each recipient of what was taken back."""

    id: str
    task: Task | None = None
    recalled: tuple[Recalled, ...] = ()


class Reported(ForMind, frozen=True, kw_only=True):
    """The same for a mind."""

    shape: ClassVar = Outcome
    outcome: Outcome

    def bare(self) -> Outcome:
        return self.outcome

    def text(self) -> str:
        id, task = self.id(self.outcome.id), self.outcome.task
        if task is not None:
            return f"Task {id} is {task.state}; {task.requester} is told."
        spared = [one.recipient for one in self.outcome.recalled if one.canceled]
        late = [one.recipient for one in self.outcome.recalled if not one.canceled]
        return f"{id} is canceled; {', '.join(spared)} had not taken it." + (f" Too late for {', '.join(late)}." if late else "")


async def update(request: McpRequest, given: mail.Update) -> Reported:
    """Move a task, or take it back."""
    me = await request.caller(given.agent_id)
    if given.state.lower() in _TAKEN_BACK:
        id, recalled = await request.office.cancel(me, given.id)
        outcome = Outcome(id=id, recalled=recalled)
    else:
        outcome = await _move(request, me, given)
    return Reported(outcome=outcome, short=await shorten(request, me, [outcome.id]))


async def _move(request: McpRequest, me: Caller, given: mail.Update) -> Outcome:
    """One that has ended is done with as mail, too; one under way stays with whoever works on it."""
    try:
        state = TaskState(given.state)
    except ValueError:
        raise Invalid(what="state", why=f"it is {given.state!r}; use one of {', '.join(mail.Report)}") from None
    task = await request.office.update_task(me, given.id, state, Draft(to=me.name, content=given.text or ""))
    if task.state in FINAL:
        await request.office.settle(me, [Ack(task.message_id)])
    else:
        await keep(request, me, task.message_id)
    return Outcome(id=task.message_id, task=task)


VERBS = (Verb(mail.UPDATE, update, Reported),)
