"""The first two tools: send by name, and pop the oldest message."""

from typing import Any, ClassVar

import msgspec
from msgspec import UNSET, UnsetType

from postoffice.core.draft import Draft
from postoffice.core.fence import Fence, one_line
from postoffice.core.letter import Letter, letter, text_of
from postoffice.core.tools import fifo
from postoffice.doors.mcp.request import McpRequest
from postoffice.doors.mcp.tools.reading import Readable, ids_in, shorten
from postoffice.doors.mcp.tools.receipt import unseen
from postoffice.doors.mcp.tools.result import Result
from postoffice.doors.mcp.tools.verb import Verb
from postoffice.doors.moments import now


class SentId(Result, frozen=True, kw_only=True):
    """The id of a message sent."""

    wraps: ClassVar = {"type": "string"}
    id: str
    unseen: str | None = None
    """The recipient, if no agent of that name has called yet."""
    near: str | None = None
    """The nearest name among agents that have."""
    reach: str | None = None
    """Whether the recipient can take it now."""

    def text(self) -> str:
        note = unseen(self.unseen, self.near) if self.unseen else self.reach
        return f"Sent: id {one_line(self.id)}." + (f"\n{note}" if note else "")

    def bare(self) -> str:
        return self.id


async def send_to_agent(request: McpRequest, given: fifo.SendToAgent) -> SentId:
    """Send by name."""
    me = await request.caller()
    sent = await request.office.send(me, Draft(to=given.name, content=given.msg, client_id=given.msg_id))
    stranger = next((posted for posted in sent.posted if posted.unseen), None)
    id = sent.client_id or sent.message_id
    if stranger is not None:
        return SentId(id=id, unseen=stranger.recipient, near=stranger.near)
    reach = [f"{to.recipient}: {to.reach.text}." for to in sent.posted if to.reach]
    return SentId(id=id, reach=reach[0] if len(reach) == 1 else None)


class PoppedMail(msgspec.Struct, frozen=True, kw_only=True, rename={"sender": "from"}):
    """A message taken out of a mailbox."""

    id: str
    sender: str
    content: str
    """Always text."""
    parts: tuple[dict[str, Any], ...] | UnsetType = UNSET
    payload: Any | UnsetType = UNSET
    """The message as sent. It will not be given out again."""


class Popped(Readable, frozen=True, kw_only=True):
    """The oldest message, or null."""

    wraps: ClassVar = {"anyOf": [{"type": "object", "additionalProperties": True}, {"type": "null"}]}
    message: PoppedMail | None
    letter: Letter | None = None
    """The same message with all its fields, for the text."""

    def fence(self) -> Fence:
        # An agent with only these two tools has no use for sessions and marks.
        return Fence(now(), self.id, brief=self.in_text)

    def text(self) -> str:
        return "null: the mailbox is empty." if self.letter is None else "\n".join(self.letters([self.letter]))

    def bare(self) -> PoppedMail | None:
        return self.message


async def check_mail(request: McpRequest, _: fifo.CheckMail) -> Popped:
    """Pop the oldest."""
    me = await request.caller()
    taken = await request.office.pop(me)
    if not taken:
        return Popped(message=None)
    message, whole = taken[0].message, letter(taken[0].message, taken[0].session_id)
    shown = PoppedMail(
        id=message.client_id or message.id,
        sender=message.sender,
        content=text_of(message),
        parts=whole.parts,
        payload=whole.payload,
    )
    short = await shorten(request, me, ids_in([whole])) if request.in_text else {}
    return Popped(message=shown, letter=whole, short=short, in_text=request.in_text)


VERBS = (Verb(fifo.SEND_TO_AGENT, send_to_agent, SentId), Verb(fifo.CHECK_MAIL, check_mail, Popped))
