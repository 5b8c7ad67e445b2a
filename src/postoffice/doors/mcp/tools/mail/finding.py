"""Finding mail: one message whole, or the beginnings of several, each with how it stands."""

import re
from datetime import datetime

import msgspec

from postoffice.core.agent import Caller
from postoffice.core.delivery import Standing, State
from postoffice.core.errors import NoSuchMessage
from postoffice.core.fence import Fence
from postoffice.core.letter import Letter, letter
from postoffice.core.message import Message
from postoffice.core.names import check_name, folded
from postoffice.core.span import ago
from postoffice.core.tools import mail
from postoffice.core.views import Proof
from postoffice.doors.mcp.request import McpRequest
from postoffice.doors.mcp.tools.mail.reading import beginning, fence, keep, whole
from postoffice.doors.mcp.tools.result import Result
from postoffice.doors.mcp.tools.verb import Verb
from postoffice.doors.moments import now

_FOUND = 10
"""So many at most, and of each so much as all of them fit into one answer."""
_FOUND_TOKENS = 600
_RECENT_SESSIONS = 20
_PART = re.compile(r"(.+)#([1-9][0-9]{0,3})")


class Placed(Letter, frozen=True, kw_only=True, rename={"sender": "from"}):
    """A message, and how it stands with those it went to, as far as the reader may know."""

    standings: tuple[Standing, ...]
    mine: bool
    """Whether the reader wrote it."""


class Found(Result, frozen=True, kw_only=True):
    """What was found."""

    messages: tuple[Placed, ...]
    more: bool = False
    only: bool = False
    """Whether one message was asked for, by its id."""
    part: int = 1

    def text(self) -> str:
        if not self.messages:
            return "Nothing found. Fewer or other words may find it; mail_find() shows the latest mail."
        marks, lines = fence(), []
        for item in self.messages:
            if self.only:
                lines.append(whole(marks, item, _summary(item), part=self.part))
            else:
                lines.append(beginning(marks, item, _FOUND_TOKENS, _summary(item)))
            lines += _at_length(marks, item) if self.only else []
        if self.more:
            lines.append("There is more: other words, with, or before: narrow it down.")
        if not self.only:
            lines.append("mail_find(id=…) shows one whole.")
        return "\n".join(lines)


def _summary(item: Placed) -> str:
    """How it stands, in few words."""
    if not item.mine:
        return f"you got it: {_yours(item.standings[0])}" if item.standings else "you got it"
    if len(item.standings) == 1:
        (one,) = item.standings
        return f"you sent it to {one.recipient}: {_theirs(one)}"
    read = sum(one.state is State.ACKED for one in item.standings)
    return f"you sent it: read by {read} of {len(item.standings)}"


def _at_length(marks: Fence, item: Placed) -> list[str]:
    """Each recipient of what went to several, and why, where somebody said why."""
    lines = []
    for one in item.standings:
        if len(item.standings) > 1:
            lines.append(f"{one.recipient}: {_theirs(one)}.")
        if one.reason and item.mine:
            lines.append(marks.words(one.recipient, one.reason))
    return lines


def _yours(one: Standing) -> str:
    return {State.ACKED: "done", State.LEASED: "in your hands", State.DEAD: "refused or given up"}.get(one.state, "not taken yet")


def _theirs(one: Standing) -> str:
    """What its sender wants to know: whether it was read."""
    match one.state:
        case State.ACKED:
            return f"read and done{_when(one.settled_at)}"
        case State.LEASED:
            return f"taken{_when(one.leased_at)}, not done yet"
        case State.DEAD:
            return f"not delivered after {one.attempts} {'try' if one.attempts == 1 else 'tries'}"
        case _ if one.attempts:
            return f"not done, though taken {one.attempts} {'time' if one.attempts == 1 else 'times'}"
        case _:
            return f"not read yet{'' if one.in_words in ('pending', 'held') else f' ({one.in_words})'}"


def _when(at: datetime | None) -> str:
    return "" if at is None else f" {ago(now() - at)}"


async def find(request: McpRequest, given: mail.Find) -> Found:
    """One message, or those that fit."""
    me = await request.caller(given.agent_id)
    if given.id is not None:
        return await _one(request, me, given.id)
    if given.words is not None:
        recipient_or_sender = None if given.other is None else folded(check_name(given.other))
        page = await request.office.search(me, given.words, limit=request.office.house.limits.page)
        messages = [hit.message for hit in page.items]
        if recipient_or_sender is not None:
            messages = [one for one in messages if _is_with(one.sender, one.to, recipient_or_sender)]
        more = page.cursor is not None or len(messages) > _FOUND
    else:
        messages, more = await _latest(request, me, given.other)
    proofs = [await request.office.status(me, one.id) for one in messages[:_FOUND]]
    return Found(messages=tuple(_placed(me, proof) for proof in proofs if proof.message is not None), more=more)


def _is_with(sender: str, to: str | tuple[str, ...], agent: str) -> bool:
    return agent in {folded(name) for name in (sender, *((to,) if isinstance(to, str) else to))}


async def _latest(request: McpRequest, me: Caller, other: str | None) -> tuple[list[Message], bool]:
    """The newest mail, of all conversations or of those with one agent."""
    limits = request.office.house.limits
    page = await request.office.inbox(me, limit=_RECENT_SESSIONS if other is None else limits.page_most, lines=_FOUND)
    threads = [thread for thread in page.items if other is None or folded(thread.other) == folded(other)]
    notes = (await request.office.waiting(me, outside=True)).items if other is None else ()
    lines = [line.message for thread in threads for line in thread.lines]
    newest = sorted({one.id: one for one in (*lines, *notes)}.values(), key=lambda one: one.id, reverse=True)
    return newest, len(newest) > _FOUND


async def _one(request: McpRequest, me: Caller, ref: str) -> Found:
    part = 1
    try:
        proof = await request.office.status(me, ref)
    except NoSuchMessage:
        if (asked := _PART.fullmatch(ref)) is None:
            raise
        proof, part = await request.office.status(me, asked[1]), int(asked[2])
    if proof.message is None:
        raise NoSuchMessage(name=me.name, ref=ref)
    await keep(request, me, proof.message.id)
    return Found(messages=(_placed(me, proof),), only=True, part=part)


def _placed(me: Caller, proof: Proof) -> Placed:
    message = proof.message
    assert message is not None
    shown = msgspec.structs.asdict(letter(message))
    return Placed(**shown, standings=proof.standings, mine=folded(message.sender) == folded(me.name))


VERBS = (Verb(mail.FIND, find, Found),)
