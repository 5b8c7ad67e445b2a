"""Settling mail: done, put off, or refused."""

from datetime import timedelta
from typing import ClassVar

import msgspec

from postoffice.core.agent import Caller
from postoffice.core.delivery import Ack, Nack, Refuse, Settled, Settlement, State
from postoffice.core.draft import Draft
from postoffice.core.errors import Invalid, MailError
from postoffice.core.fence import one_line
from postoffice.core.span import span
from postoffice.core.task import FINAL, Task, TaskState
from postoffice.core.tools import mail
from postoffice.doors.mcp.request import McpRequest
from postoffice.doors.mcp.tools.reading import ForMind, shorten
from postoffice.doors.mcp.tools.verb import Verb

_MESSAGES_TOLD_SINGLY = 3
"""Beyond so many messages, one sentence says what became of all."""


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one message."""

    id: str
    state: State | None = None
    problem: str | None = None
    task: TaskState | None = None
    """The state of the task it asks for."""


class Results(msgspec.Struct, frozen=True, kw_only=True):
    """What became of each message, in the order they were named."""

    results: tuple[Ended, ...]


class Done(ForMind, frozen=True, kw_only=True):
    """The same for a mind."""

    shape: ClassVar = Results
    ended: tuple[Ended, ...]
    later_minutes: int | None
    refused: bool

    def bare(self) -> Results:
        return Results(results=self.ended)

    def text(self) -> str:
        alike: dict[tuple[str, str], list[str]] = {}
        for item in self.ended:
            if item.problem is None:
                alike.setdefault(self._became(item), []).append(self.id(item.id))
        lines = []
        for (one, many), ids in alike.items():
            lines += [f"{len(ids)} messages {many}"] if len(ids) > _MESSAGES_TOLD_SINGLY else [f"{id} {one}" for id in ids]
        return "\n".join(lines + [f"{one_line(item.id)}: {one_line(item.problem)}" for item in self.ended if item.problem is not None])

    def _became(self, item: Ended) -> tuple[str, str]:
        """The sentence for one message, and for several with the same outcome."""
        if self.later_minutes is not None:
            again = f"again in {span(timedelta(minutes=self.later_minutes))}, unless mail_done ends"
            return f"comes {again} it before.", f"come {again} them before."
        if self.refused:
            state = "refused" if item.task is None else item.task
            return f"is {state}; its sender is told.", f"are {state}; their senders are told."
        if item.task is None or item.task in FINAL:
            return "is done; its sender sees that it was read, and gets no letter.", "are done; their senders see that, and get no letter."
        ends = f"still {item.task}, which is all that its sender hears: task_update says how it ends."
        return f"is done. The task it asks for is {ends}", f"are done. The task each asks for is {ends}"


async def done(request: McpRequest, given: mail.Done) -> Done:
    """Settle mail."""
    me = await request.caller(given.agent_id)
    ids = [given.ids] if isinstance(given.ids, str) else given.ids
    if not ids:
        raise Invalid(what="ids", why="it names the messages you are done with; mail_get shows those you hold")
    refusing = given.reason is not None and given.later_minutes is None
    ended: dict[str, Ended] = {}
    if refusing:
        tasks = {id: await _task(request, me, id) for id in ids}
        ended = {id: await _reject(request, me, task, given.reason or "") for id, task in tasks.items() if task and task.state not in FINAL}
    rest = [id for id in ids if id not in ended]
    outcomes = await request.office.settle(me, [_settlement(id, given) for id in rest]) if rest else ()
    ended |= {id: await _ended(request, me, id, outcome) for id, outcome in zip(rest, outcomes, strict=True)}
    short = await shorten(request, me, [item.id for item in ended.values()])
    return Done(ended=tuple(ended[id] for id in ids), later_minutes=given.later_minutes, refused=refusing, short=short)


def _settlement(id: str, given: mail.Done) -> Settlement:
    if given.later_minutes is not None:
        return Nack(id, delay=timedelta(minutes=given.later_minutes), reason=given.reason, untried=True)
    return Ack(id) if given.reason is None else Refuse(id, None, given.reason)


async def _ended(request: McpRequest, me: Caller, id: str, outcome: Settled | MailError) -> Ended:
    if isinstance(outcome, MailError):
        return Ended(id=id, problem=str(outcome))
    task = await _task(request, me, outcome.message_id)
    return Ended(id=outcome.message_id, state=outcome.state, task=None if task is None else task.state)


async def _task(request: McpRequest, me: Caller, id: str) -> Task | None:
    """The task that a message asks of this agent; None if it asks for none."""
    try:
        return await request.office.task(me, id)
    except MailError:
        return None  # if the id itself is wrong, settling it will say so


async def _reject(request: McpRequest, me: Caller, task: Task, reason: str) -> Ended:
    """Refuse a task as a task, so that its requester sees it end. One that was begun fails."""
    state = TaskState.REJECTED if task.state is TaskState.PENDING else TaskState.FAILED
    try:
        moved = await request.office.update_task(me, task.message_id, state, Draft(to=me.name, content=reason))
    except MailError as error:
        return Ended(id=task.message_id, problem=str(error))
    await request.office.settle(me, [Ack(moved.message_id)])
    return Ended(id=moved.message_id, state=State.ACKED, task=moved.state)


VERBS = (Verb(mail.DONE, done, Done),)
