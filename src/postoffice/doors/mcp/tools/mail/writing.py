"""Sending mail: a message, a reply, a task, or a forward."""

from datetime import datetime, timedelta
from typing import Any, ClassVar

import msgspec
from msgspec import UNSET

from postoffice.core.agent import Caller
from postoffice.core.attachment import Attachment
from postoffice.core.clock import sender_id
from postoffice.core.draft import Draft
from postoffice.core.errors import Invalid, MailError, NotAdmitted, told
from postoffice.core.fence import one_line
from postoffice.core.letter import text_of
from postoffice.core.mailing_list import ToMembers
from postoffice.core.message import TASK, Message, TaskRef
from postoffice.core.names import EVERYONE, folded, is_list
from postoffice.core.question import Ask
from postoffice.core.reach import Way
from postoffice.core.times import When
from postoffice.core.tools import mail
from postoffice.doors.mcp.request import McpRequest
from postoffice.doors.mcp.tools.reading import ForMind, keep, shorten
from postoffice.doors.mcp.tools.receipt import Receipt, receipt
from postoffice.doors.mcp.tools.verb import Verb
from postoffice.doors.moments import now

_URGENT_PRIORITY = 1
_HEARS = frozenset({Way.WINDOW, Way.PROGRAM})
"""The ways of agents that may answer while the sender waits."""


class Sent(ForMind, frozen=True, kw_only=True):
    """An accepted message of a mind."""

    shape: ClassVar = Receipt
    receipt: Receipt
    answers: Message | None
    """The message it answers, if that was known before."""
    mine: bool
    """Whether the answered message was the sender's own."""
    awaits: str | None
    """What the sender may wait for, if anything."""
    asks: bool
    """Whether it asks a person, who may take long."""

    def bare(self) -> Receipt:
        return self.receipt

    def text(self) -> str:
        sent, id = self.receipt, self.id(self.receipt.message_id)
        took = [str(to["recipient"]) for to in sent.recipients if not to.get("refusal")]
        to = _members(sent.to_list) if isinstance(sent.to_list, ToMembers) else ", ".join(took) or "nobody"
        lines = [f"Sent to {to}, as {id}.", *sent.told()]
        if self.answers is not None and not self.mine:
            answered = self.id(self.answers.id)
            open_task = f"{answered} is a task: it ends by task_update, not by an answer."
            lines.append(open_task if self.answers.type == TASK else f"{answered}, which it answers, is done.")
            if is_list(self.answers.to) and sent.to_list is UNSET:
                lines.append(
                    f'Only {one_line(self.answers.sender)} gets it; to="{one_line(str(self.answers.to))}" answers all on that list.'
                )
        if any(to.get("near") for to in sent.recipients):
            lines.append(f'task_update(id="{id}", state="canceled") takes it back while nobody has it.')
        if self.awaits is not None and took:
            lines.append(self._next(id))
        return "\n".join(lines)

    def _next(self, id: str) -> str:
        """The next step: to wait if somebody can take it now, otherwise to go on with other work."""
        ways = [to["reach"]["way"] for to in self.receipt.recipients if to.get("reach")]
        if self.asks:
            return f'Next: go on with other work, it stays open; mail_get(answer_to="{id}") later shows {self.awaits}.'
        if not any(way in _HEARS for way in ways):
            return f'Next: go on with other work, nobody can take it now; mail_get(answer_to="{id}") later shows {self.awaits}.'
        return f'Next: mail_get(wait_seconds=…, answer_to="{id}") waits for {self.awaits}.'


def _members(to: ToMembers) -> str:
    return f"{one_line(to.name)}, which {to.delivered} of {to.delivered + to.refused} members get"


async def send(request: McpRequest, given: mail.Send) -> Sent:
    """Send a message."""
    me = await request.caller(given.agent_id)
    if given.text is None and given.data is UNSET and given.forward is None and not given.attachments:
        raise Invalid(what="text", why="the message is empty; give text, data, attachments, or forward")
    answers = None if given.reply_to is None else await _answered(request, me, given.reply_to)
    text = given.text if given.forward is None else await _commented(request, me, given.forward, given.text)
    to = _recipients(me, given, answers)
    draft = Draft(
        to=to,
        type="message" if given.task is False else TASK,
        subject=given.subject if given.subject or answers is None or not is_list(answers.to) or is_list(to) else answers.subject,
        content=text,
        payload=given.data,
        reply_to=given.reply_to,
        correlation_id=(given.id or sender_id())
        if given.reply_to is None
        else None,  # answers carry this mark, so that the sender can wait for them
        forward_of=given.forward,
        attachments=carried(given.attachments),
        priority=_URGENT_PRIORITY if given.urgent else None,
        task=_work(given.task),
        ask=None if given.ask is None else _ask(given.ask),
        deliver_at=_when("deliver_at", given.deliver_at),
        expires_at=_when("expires_at", given.expires_at),
        by_model=True,
        client_id=given.id,
    )
    try:
        sent = receipt(await request.office.send(me, draft))
    except NotAdmitted as error:
        raise _shut(error) from None
    if answers is not None and answers.type == TASK:
        await keep(request, me, answers.id)
    ids = [sent.message_id, None if answers is None else answers.id]
    mine = answers is not None and folded(answers.sender) == folded(me.name)
    short = await shorten(request, me, ids)
    return Sent(receipt=sent, answers=answers, mine=mine, awaits=_awaits(draft), asks=draft.ask is not None, short=short)


def carried(digests: list[str] | None) -> tuple[Attachment, ...]:
    """What it is to carry. A mind may say a name behind a digest; without one it is called as it was before."""
    pairs = [given.strip().partition(" ") for given in digests or ()]
    return tuple(Attachment(digest, name.strip()) for digest, _, name in pairs)


def _awaits(draft: Draft) -> str | None:
    """What to wait for. A reply, a forward and an announcement need no answer."""
    if draft.reply_to or draft.forward_of or not isinstance(draft.to, str) or draft.to == EVERYONE or is_list(draft.to):
        return None
    return "the result" if draft.task else "the answer"


def _shut(error: NotAdmitted) -> MailError:
    """The same refusal, with what a mind can do about it."""
    name = error.facts["recipient"]
    why = f'Not sent and not kept: {name} takes mail only after consent. Next: mail_connect(agent="{name}"), then send again.'
    return told(error.code, why)


def _when(field: str, given: float | str | None) -> When | None:
    """A time, given as minutes from now or as a date."""
    try:
        return None if given is None else timedelta(minutes=float(given))
    except (ValueError, OverflowError):
        pass
    try:
        return msgspec.convert(given, datetime)
    except msgspec.ValidationError:
        raise Invalid(what=field, why=f"{given!r} is neither a number of minutes nor a time like 2026-12-31T18:00Z") from None


def _ask(given: dict[str, Any]) -> Ask:
    try:
        asking = msgspec.convert(given, mail.Asking, strict=False)
    except msgspec.ValidationError as error:
        raise Invalid(what="ask", why=str(error)) from None
    deadline = None if asking.deadline is None else now() + timedelta(minutes=asking.deadline)
    return Ask(choices=tuple(asking.choices), default=asking.default, deadline=deadline)


async def _answered(request: McpRequest, me: Caller, ref: str) -> Message | None:
    try:
        return (await request.office.status(me, ref)).message
    except MailError:
        return None  # sending it will say what is wrong


async def _commented(request: McpRequest, me: Caller, ref: str, comment: str | None) -> str | None:
    """A comment with the forwarded message below it: a forward with words of its own carries nothing else."""
    if not comment:
        return None
    original = (await request.office.status(me, ref)).message
    return comment if original is None else f"{comment}\n\n{original.sender} wrote:\n{text_of(original)}"


def _work(asked: bool | mail.Linked) -> TaskRef | None:  # noqa: FBT001 - as the tool takes it
    """The task that is asked for, and what it belongs to."""
    if isinstance(asked, mail.Linked):
        return TaskRef(parent=asked.parent or None, blocked_by=tuple(filter(None, asked.blocked_by)))
    return TaskRef() if asked else None


def _recipients(me: Caller, given: mail.Send, answers: Message | None) -> str | tuple[str, ...]:
    """The recipients: those named, or else the sender of the answered message."""
    if given.to is not None:
        names = [name.strip() for name in (given.to.split(",") if isinstance(given.to, str) else given.to) if name.strip()]
        return names[0] if len(names) == 1 else tuple(names)
    if given.reply_to is None:
        raise Invalid(what="to", why=f"give a name, names separated by commas, or {EVERYONE}")
    if answers is None:
        raise Invalid(what="reply_to", why=f"{given.reply_to!r} is not a message you sent or got; mail_find looks for it")
    return answers.to if folded(answers.sender) == folded(me.name) else answers.sender


VERBS = (Verb(mail.SEND, send, Sent),)
