"""The tools at work: each calls one verb of the office."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import msgspec

from postoffice.core import arguments as takes
from postoffice.core.agent import Caller
from postoffice.core.connection import Status
from postoffice.core.delivery import Ack, Leased, Nack, Settlement
from postoffice.core.delivery import Settled as Outcome
from postoffice.core.errors import Invalid
from postoffice.core.letter import letter, text_of
from postoffice.core.limits import bounded
from postoffice.core.message import TASK, Accepted, Draft, TaskRef
from postoffice.core.task import TaskState
from postoffice.core.tools import read_arguments
from postoffice.doors.listing import listing
from postoffice.doors.mcp import results as gives
from postoffice.doors.mcp.visit import Visit
from postoffice.doors.thread import history_view, inbox_view

Progress = Callable[[float, float], Awaitable[None]]
_EVERY = 10.0
_MOST = 200
_MILLISECOND = timedelta(milliseconds=1)


async def run_tool(visit: Visit, name: str, arguments: object, progress: Progress | None = None) -> gives.Result:
    """Run one tool; a refusal is a MailError that names the fix."""
    tool = visit.tool(name)
    given = read_arguments(tool, arguments)
    verb, _ = VERBS[name]
    if progress is None:
        return await verb(visit, given)
    lasts = _within(visit, given) or visit.office.house.limits.wait
    return await _with_progress(verb(visit, given), progress, lasts.total_seconds())


async def _with_progress(work: Awaitable[gives.Result], progress: Progress, lasts: float) -> gives.Result:
    """Tell a waiting client now and then that it is still being served."""
    task = asyncio.ensure_future(work)
    waited = 0.0
    try:
        while not (await asyncio.wait({task}, timeout=_EVERY))[0]:
            waited += _EVERY
            await progress(waited, max(lasts, waited))
        return task.result()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def fewer(visit: Visit, mail: gives.Mail) -> gives.Mail:
    """Half of the mail, or none of it where that was one message. The rest goes back and waits for the next call."""
    kept = len(mail.messages) // 2
    await visit.give_back(beyond=kept)
    return msgspec.structs.replace(mail, messages=mail.messages[:kept], more=True)


# Two tools, as the first of them were


async def send_to_agent(visit: Visit, given: takes.SendToAgent) -> gives.SentId:
    """Send by name."""
    me = await visit.caller()
    sent = await visit.office.send(me, Draft(to=given.name, content=given.msg, client_id=given.msg_id))
    unseen = next((posted.recipient for posted in sent.posted if posted.unseen), None)
    return gives.SentId(id=sent.client_id or sent.message_id, unseen=unseen)


async def check_mail(visit: Visit, _: takes.CheckMail) -> gives.Popped:
    """Pop the oldest."""
    taken = await visit.office.pop(await visit.caller())
    if not taken:
        return gives.Popped(message=None)
    message, whole = taken[0].message, letter(taken[0].message, taken[0].session_id)
    shown = gives.PoppedMail(
        id=message.client_id or message.id,
        sender=message.sender,
        content=text_of(message),
        from_verified=message.from_verified,
        parts=whole.parts,
        payload=whole.payload,
    )
    return gives.Popped(message=shown, letter=whole)


# The queue


async def send(visit: Visit, given: takes.Send) -> gives.Sent:
    """Send whatever shape was given."""
    me = await visit.caller(given.sender)
    kind = given.type or "message"
    if given.deadline is not None and kind != TASK:
        raise Invalid(what="deadline", why="only a task has one; give type `task` with it, or leave it out")
    draft = Draft(
        to=given.to if isinstance(given.to, str) else tuple(given.to),
        type=kind,
        subject=given.subject,
        content=given.content,
        parts=tuple(given.parts or ()),
        payload=given.payload,
        correlation_id=given.correlation_id,
        reply_to=given.reply_to,
        priority=given.priority,
        session_id=given.session_id,
        client_id=given.id,
        task=TaskRef(deadline=_instant(given.deadline)) if kind == TASK else None,
    )
    return _sent(await visit.office.send(me, draft))


async def receive(visit: Visit, given: takes.Receive) -> gives.Mail:
    """Take what waits."""
    me = await visit.caller(given.agent_id)
    acks = [Ack(ref) for ref in given.ack]
    turned = await visit.office.receive(me, given.limit, **_wish(given, acks))
    return _mail(visit, me, turned.leased, _outcomes(acks, turned.settled))


async def wait(visit: Visit, given: takes.Wait) -> gives.Mail:
    """Wait for something to take."""
    me = await visit.caller(given.agent_id)
    acks = [Ack(ref) for ref in given.ack]
    turned = await visit.office.wait(
        me,
        given.limit,
        within=_within(visit, given),
        again=partial(visit.again, given.agent_id),
        called_off=visit.called_off,
        **_wish(given, acks),
    )
    return _mail(visit, me, turned.leased, _outcomes(acks, turned.settled))


async def ack(visit: Visit, given: takes.Acked) -> gives.Result:
    """Done with it."""
    return await _settle(visit, given.agent_id, [Ack(ref) for ref in _refs(given.message_id)], given.message_id)


async def nack(visit: Visit, given: takes.Nacked) -> gives.Result:
    """Not done with it."""
    delay = timedelta(milliseconds=given.delay_ms)
    back = [Nack(ref, delay=delay, reason=given.reason) for ref in _refs(given.message_id)]
    return await _settle(visit, given.agent_id, back, given.message_id)


# The inbox


async def check(visit: Visit, given: takes.Check) -> gives.Overview:
    """Look into the mailbox."""
    return await overview(visit, await visit.caller(given.agent_id), given.cursor, unread_only=given.unread_only)


async def overview(visit: Visit, me: Caller, cursor: str | None = None, *, unread_only: bool = False) -> gives.Overview:
    """A mailbox at a glance, or where its sessions go on."""
    page = await visit.office.inbox(me, cursor, unread_only=unread_only)
    pending = await visit.office.connections(me, Status.PENDING, limit=_MOST)
    notes = await visit.office.waiting(me, outside=True)
    shown = msgspec.structs.asdict(inbox_view(page, pending.items, me))
    return gives.Overview(inbox=gives.WholeInbox(**shown, notes=tuple(map(letter, notes.items))), unread_only=unread_only)


async def connect(visit: Visit, given: takes.Connect) -> gives.Requested:
    """Ask for a connection."""
    me = await visit.caller(given.agent_id)
    made = await visit.office.request_connection(me, given.target_agent_name, given.message)
    return gives.Requested(connection_id=made.id, verification_code=made.code, target_agent_name=made.target, status=made.status)


async def approve(visit: Visit, given: takes.Approve) -> gives.Approved:
    """Give consent by a code."""
    made = await visit.office.approve_connection(await visit.caller(given.agent_id), given.code)
    return gives.Approved(connection_id=made.id, status=made.status, connected_agent_name=made.requester, assurance=made.assurance)


async def read(visit: Visit, given: takes.Read) -> gives.Conversation:
    """Read a conversation."""
    me = await visit.caller(given.agent_id)
    thread = await visit.office.history(me, given.session_id, before=given.before, limit=given.limit)
    return gives.Conversation(history=history_view(thread))


# Beyond


async def agents(visit: Visit, given: takes.Agents) -> gives.Directory:
    """Who is there."""
    if given.agent_id is not None:
        await visit.caller(given.agent_id)
    page = await visit.office.agents(given.cursor)
    return gives.Directory(agents=tuple(map(listing, page.items)), cursor=page.cursor)


async def task_update(visit: Visit, given: takes.TaskUpdate) -> gives.TaskResult:
    """Move a task."""
    me = await visit.caller(given.agent_id)
    state = _state(given.state)
    report = Draft(to=me.name, content=given.content or "", payload=given.payload, client_id=given.id)
    return gives.TaskResult(task=await visit.office.update_task(me, given.task_id, state, report))


async def tasks(visit: Visit, given: takes.Tasks) -> gives.TaskList:
    """Tasks of the caller's."""
    me = await visit.caller(given.agent_id)
    state = None if given.state is None else _state(given.state)
    asked_by, asked_of = (me.name, None) if given.asked_by_me else (None, me.name)
    page = await visit.office.tasks(me, assignee=asked_of, requester=asked_by, state=state, cursor=given.cursor)
    return gives.TaskList(tasks=page.items, cursor=page.cursor)


async def status(visit: Visit, given: takes.Status) -> gives.Whereabouts:
    """Where a message stands."""
    proof = await visit.office.status(await visit.caller(given.agent_id), given.message_id)
    return gives.Whereabouts(message_id=proof.message_id, standings=proof.standings, purged_at=proof.purged_at)


async def search(visit: Visit, given: takes.Search) -> gives.Hits:
    """Messages by their words."""
    page = await visit.office.search(await visit.caller(given.agent_id), given.query, limit=given.limit)
    return gives.Hits(messages=tuple(letter(found.message) for found in page.items))


async def forward(visit: Visit, given: takes.Forward) -> gives.Sent:
    """Pass a message on."""
    me = await visit.caller(given.agent_id)
    draft = Draft(to=given.to, content=given.content or None, forward_of=given.message_id, client_id=given.id)
    return _sent(await visit.office.send(me, draft))


async def send_message(visit: Visit, given: takes.SendMessage) -> gives.Sent:
    """Send a message about an entity."""
    me = await visit.caller(given.agent_id)
    draft = Draft(
        to=given.to_agent,
        type=given.message_type,
        subject=given.subject,
        content=given.subject if given.payload is msgspec.UNSET else None,
        payload=given.payload,
        ref_id=given.ref_id,
        ref_type=given.ref_type,
        priority=given.priority,
        client_id=given.id,
    )
    return _sent(await visit.office.publish(me, draft))


async def post_note(visit: Visit, given: takes.PostNote) -> gives.Sent:
    """Keep a note with an entity."""
    me = await visit.caller(given.agent_id)
    return _sent(await visit.office.note(me, given.entity_id, given.entity_type, given.note, given.notify, client_id=given.id))


VERBS: dict[str, tuple[Callable[[Visit, Any], Awaitable[gives.Result]], type[gives.Result]]] = {
    "send_to_agent": (send_to_agent, gives.SentId),
    "check_mail": (check_mail, gives.Popped),
    "mailbox_send": (send, gives.Sent),
    "mailbox_receive": (receive, gives.Mail),
    "mailbox_wait": (wait, gives.Mail),
    "mailbox_ack": (ack, gives.Settled),
    "mailbox_nack": (nack, gives.Settled),
    "mailbox_check": (check, gives.Overview),
    "mailbox_connect": (connect, gives.Requested),
    "mailbox_approve": (approve, gives.Approved),
    "mailbox_read": (read, gives.Conversation),
    "mailbox_agents": (agents, gives.Directory),
    "mailbox_task_update": (task_update, gives.TaskResult),
    "mailbox_tasks": (tasks, gives.TaskList),
    "mailbox_status": (status, gives.Whereabouts),
    "mailbox_search": (search, gives.Hits),
    "mailbox_forward": (forward, gives.Sent),
    "send_message": (send_message, gives.Sent),
    "post_note": (post_note, gives.Sent),
}
"""By tool: what runs it, and what it gives."""


def _within(visit: Visit, given: takes.Wait) -> timedelta | None:
    """How long to wait; None is as long as the office is set to. What is too long is told in the caller's own word and unit."""
    if given.timeout_ms is None:
        return None
    return bounded("timeout_ms", given.timeout_ms, 0, 0, visit.office.house.limits.wait_most // _MILLISECOND) * _MILLISECOND


def _wish(given: takes.Receive | takes.Wait, acks: Sequence[Settlement]) -> dict[str, Any]:
    return {"settle": acks, "tokenless": True, "correlation_id": given.correlation_id, "session_id": given.session_id}


def _mail(visit: Visit, me: Caller, leased: Sequence[Leased], acked: tuple[dict[str, Any], ...]) -> gives.Mail:
    visit.leased += [(me, item) for item in leased]
    return gives.Mail(messages=tuple(map(_held, leased)), acked=acked)


def _held(leased: Leased) -> gives.HeldLetter:
    shown = msgspec.structs.asdict(letter(leased.message, leased.session_id))
    return gives.HeldLetter(**shown, status="leased", attempt=leased.attempt, leased_until=leased.leased_until)


async def _settle(visit: Visit, agent: str | None, asked: Sequence[Settlement], given: str | list[str]) -> gives.Result:
    me = await visit.caller(agent)
    outcomes = await visit.office.settle(me, asked)
    if isinstance(given, list):
        return gives.Settled(results=_outcomes(asked, outcomes))
    (outcome,) = outcomes
    if isinstance(outcome, Exception):
        raise outcome
    return gives.Settled(message_id=outcome.message_id, status=outcome.state)


def _outcomes(asked: Sequence[Settlement], outcomes: Sequence[Outcome | Exception]) -> tuple[dict[str, Any], ...]:
    return tuple(
        {"message_id": outcome.message_id, "status": outcome.state}
        if isinstance(outcome, Outcome)
        else {"message_id": item.ref, "status": None, "problem": str(outcome)}
        for item, outcome in zip(asked, outcomes, strict=True)
    )


def _refs(given: str | list[str]) -> list[str]:
    return [given] if isinstance(given, str) else given


def _sent(accepted: Accepted) -> gives.Sent:
    return gives.Sent(
        id=accepted.client_id or accepted.message_id,
        message_id=accepted.message_id,
        session_id=accepted.session_id,
        status="pending",
        created_at=accepted.created_at,
        recipients=tuple(msgspec.to_builtins(posted) for posted in accepted.posted),
        duplicate=accepted.duplicate,
        ledger=accepted.ledger or msgspec.UNSET,
    )


def _state(word: str) -> TaskState:
    try:
        return TaskState(word)
    except ValueError:
        raise Invalid(what="state", why=f"it is {word!r}; use one of {', '.join(TaskState)}") from None


def _instant(text: str | None) -> datetime | None:
    try:
        return None if text is None else datetime.fromisoformat(text)
    except ValueError:
        raise Invalid(what="deadline", why=f"{text!r} is not a time; write it like 2026-12-31T18:00:00Z") from None
