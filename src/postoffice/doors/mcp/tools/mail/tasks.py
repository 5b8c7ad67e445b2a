"""Reporting on a task, or taking back sent mail."""

from collections.abc import Iterable
from typing import ClassVar

import msgspec

from postoffice.core.agent import Caller
from postoffice.core.delivery import Ack, Recalled, State
from postoffice.core.draft import Draft
from postoffice.core.errors import Invalid, NoSuchTask
from postoffice.core.task import FINAL, Task, TaskState
from postoffice.core.tools import mail
from postoffice.doors.mcp.request import McpRequest
from postoffice.doors.mcp.tools.mail.writing import carried
from postoffice.doors.mcp.tools.reading import ForMind, keep, shorten
from postoffice.doors.mcp.tools.verb import Verb


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """The result: a task's new state, or what became of the mail with each recipient."""

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
        id, task, recalled = self.id(self.outcome.id), self.outcome.task, self.outcome.recalled
        if task is not None and not recalled:
            left = f" {task.open_parts} of its parts {'is' if task.open_parts == 1 else 'are'} not over." if task.open_parts else ""
            after = ", ".join(one.assignee for one in task.waits_for)
            return f"Task {id} is {task.state}; {task.requester} is told.{left}" + (f" It still waits for {after}." if after else "")
        spared = _names(one for one in recalled if one.canceled and one.state is State.DEAD)
        names = _names(one for one in recalled if one.canceled and one.state is not State.DEAD)
        late = _names(one for one in recalled if not one.canceled)
        sentences = [f"{spared} had not taken it" if spared else "", f"{names}, who had taken it, is told" if names else ""]
        return f"{id} is canceled; {''.join(sentences)}." + (f" Too late for {late}." if late else "")


def _names(some: Iterable[Recalled]) -> str:
    return ", ".join(one.recipient for one in some)


async def update(request: McpRequest, given: mail.Update) -> Reported:
    """Move a task, or cancel it."""
    me = await request.caller(given.agent_id)
    try:
        state = TaskState(given.state)
    except ValueError:
        raise Invalid(what="state", why=f"it is {given.state!r}; use one of {', '.join(mail.Report)}") from None
    work = _cancel if state is TaskState.CANCELED else _move
    outcome = await work(request, me, given, state, Draft(to=me.name, content=given.text or "", attachments=carried(given.attachments)))
    return Reported(outcome=outcome, short=await shorten(request, me, [outcome.id]))


async def _cancel(request: McpRequest, me: Caller, given: mail.Update, state: TaskState, report: Draft) -> Outcome:
    """Cancel a task, even if it was taken; of other mail, only what nobody has taken."""
    try:
        task = await request.office.update_task(me, given.id, state, report)
    except NoSuchTask:
        id, recalled = await request.office.cancel(me, given.id)
        return Outcome(id=id, recalled=recalled)
    (standing,) = (await request.office.status(me, task.message_id)).standings
    return Outcome(id=task.message_id, task=task, recalled=(Recalled(standing.recipient, standing.state, canceled=True),))


async def _move(request: McpRequest, me: Caller, given: mail.Update, state: TaskState, report: Draft) -> Outcome:
    """Move a task. One that ends is also settled as mail; one under way stays with its assignee."""
    task = await request.office.update_task(me, given.id, state, report, percent=given.percent)
    if task.state in FINAL:
        await request.office.settle(me, [Ack(task.message_id)])
    else:
        await keep(request, me, task.message_id)
    return Outcome(id=task.message_id, task=task)


VERBS = (Verb(mail.UPDATE, update, Reported),)
