"""Sending mail: a message, a reply, a task, or something passed on."""

from datetime import timedelta
from typing import Any

import msgspec
from msgspec import UNSET

from postoffice.core.agent import Caller
from postoffice.core.errors import Invalid
from postoffice.core.message import TASK, Draft, TaskRef
from postoffice.core.names import EVERYONE, folded
from postoffice.core.question import Ask
from postoffice.core.tools import mail
from postoffice.doors.mcp.request import McpRequest
from postoffice.doors.mcp.tools.receipt import Receipt, receipt
from postoffice.doors.mcp.tools.verb import Verb
from postoffice.doors.moments import now

_URGENT = 1


class Sent(Receipt, frozen=True, kw_only=True):
    """A message of a mind's, accepted."""

    def text(self) -> str:
        took = [str(to["recipient"]) for to in self.recipients if not to.get("refusal")]
        lines = [f"Sent to {', '.join(took) or 'nobody'}, as {self.message_id}.", *self.told()]
        if took:
            lines.append(f'To wait for the answer: mail_get(wait_seconds=…, answer_to="{self.message_id}").')
        return "\n".join(lines)


async def send(request: McpRequest, given: mail.Send) -> Sent:
    """Send what was written."""
    me = await request.caller(given.agent_id)
    if given.text is None and given.data is UNSET and given.forward is None:
        raise Invalid(what="text", why="a message has to say something; give text, data, or forward")
    draft = Draft(
        to=await _recipients(request, me, given),
        type=TASK if given.task else "message",
        subject=given.subject,
        content=given.text,
        payload=given.data,
        reply_to=given.reply_to,
        forward_of=given.forward,
        priority=_URGENT if given.urgent else None,
        task=TaskRef() if given.task else None,
        ask=None if given.ask is None else _ask(given.ask),
        by_model=True,
    )
    sent = receipt(await request.office.send(me, draft))
    return Sent(**{name: getattr(sent, name) for name in sent.__struct_fields__})


def _ask(given: dict[str, Any]) -> Ask:
    try:
        asking = msgspec.convert(given, mail.Asking, strict=False)
    except msgspec.ValidationError as error:
        raise Invalid(what="ask", why=str(error)) from None
    deadline = None if asking.deadline is None else now() + timedelta(minutes=asking.deadline)
    return Ask(choices=tuple(asking.choices), default=asking.default, deadline=deadline)


async def _recipients(request: McpRequest, me: Caller, given: mail.Send) -> str | tuple[str, ...]:
    """Whom it goes to: those named, or whoever wrote what it answers."""
    if given.to is not None:
        names = [name.strip() for name in (given.to.split(",") if isinstance(given.to, str) else given.to) if name.strip()]
        return names[0] if len(names) == 1 else tuple(names)
    if given.reply_to is None:
        raise Invalid(what="to", why=f"it says who gets the message: a name, names separated by commas, or {EVERYONE}")
    answered = (await request.office.status(me, given.reply_to)).message
    if answered is None:
        raise Invalid(what="to", why="what it answers is purged; give the name it goes to")
    return answered.to if folded(answered.sender) == folded(me.name) else answered.sender


VERBS = (Verb(mail.SEND, send, Sent),)
