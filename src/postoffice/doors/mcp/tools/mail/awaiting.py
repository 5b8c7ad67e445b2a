"""Waiting for the answer to one message: which message that is, what counts as its answer, and what prevents it."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from postoffice.core.agent import Caller
from postoffice.core.delivery import UNREAD, Collected
from postoffice.core.errors import Deadlock, Invalid, MailError, told
from postoffice.core.message import TaskRef
from postoffice.core.names import folded
from postoffice.core.reach import Way
from postoffice.core.task import UNDER_WAY
from postoffice.core.tools import mail
from postoffice.core.views import Proof
from postoffice.doors.mcp.request import McpRequest
from postoffice.doors.mcp.tools.reading import shorten

_RECIPIENTS_SHOWN = 3
"""For at most so many recipients the answer says whether they can be reached."""


async def awaited_by(request: McpRequest, me: Caller, ref: str) -> Proof:
    """The caller's message whose answer it waits for."""
    proof = await request.office.status(me, ref)
    if proof.message is None or folded(proof.message.sender) != folded(me.name):
        raise Invalid(what="answer_to", why=f"{ref!r} is not a message you sent; mail_find shows yours")
    return proof


def _wish(awaited: Proof) -> dict[str, Any]:
    """The wish that takes only its answers. If it went to several agents, the first answer with its mark will do."""
    if awaited.message is None:
        return {}
    if len(awaited.standings) == 1:
        return {"answer_to": awaited.message_id}
    mark = awaited.message.correlation_id
    return {"correlation_id": mark} if mark else {"session_id": awaited.standings[0].session_id if awaited.standings else None}


async def wait_for(request: McpRequest, me: Caller, given: mail.Get, awaited: Proof, **wish: Any) -> Collected:
    """Wait for that answer only."""
    wish |= _wish(awaited)
    try:
        return await request.office.wait(
            me, given.limit, again=partial(request.again, given.agent_id), called_off=request.called_off, **wish
        )
    except Deadlock as error:
        raise await _way_out(request, me, error) from None


async def _way_out(request: McpRequest, me: Caller, error: Deadlock) -> MailError:
    """The deadlock's error, with the message that this reader can answer to end it."""
    names = str(error.facts["names"])
    others = {folded(name) for name in names.split(" and ")} - {folded(me.name)}
    waiting = (await request.office.waiting(me)).items
    messages = [*(item.leased.message for item in await request.office.in_hand(me)), *waiting]
    question = next((message for message in messages if folded(message.sender) in others), None)
    if question is None:
        return error
    short = (await shorten(request, me, [question.id])).get(question.id, question.id)
    takes = ": mail_get() takes it" if question in waiting else ""
    return told(
        error.code,
        f"Deadlock: {names} wait for each other's answers, so none will come. {question.sender} waits for your answer to {short}{takes}. "
        f'Next: answer it by mail_send(reply_to="{short}", text=…), then wait again.',
    )


async def is_here(request: McpRequest, me: Caller, awaited: Proof) -> bool:
    """Whether its answer was taken already and is still held. A report that a task goes on does not count."""
    held = [item.leased.message for item in await request.office.in_hand(me)]
    return any(one.reply_to == awaited.message_id and not goes_on(one.task) for one in held)


def goes_on(task: object) -> bool:
    """Whether a report says that its task is still under way."""
    return isinstance(task, TaskRef) and task.state in UNDER_WAY


async def reached(request: McpRequest, me: Caller, awaited: Proof) -> Mapping[str, str]:
    """The reach of each recipient that has not taken it yet."""
    recipients = [one.recipient for one in awaited.standings if one.state in UNREAD][:_RECIPIENTS_SHOWN]
    texts = {}
    for name in recipients:
        reach = (await request.office.agent(name, me)).reach
        if reach is not None and reach.way is not Way.PAUSED:  # the standing already says that it is paused
            texts[name] = reach.text
    return texts
