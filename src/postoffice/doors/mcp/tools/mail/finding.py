"""Finding mail: one message whole, or the beginnings of several, each with how it stands."""

import re
from contextlib import suppress
from typing import ClassVar

import msgspec

from postoffice.core.agent import Caller
from postoffice.core.delivery import CANCELED, EXPIRED, Standing, State
from postoffice.core.errors import MailError, NoSuchMessage
from postoffice.core.fence import Fence
from postoffice.core.letter import Letter, letter
from postoffice.core.message import TASK, Message
from postoffice.core.names import folded
from postoffice.core.span import span
from postoffice.core.task import TaskState
from postoffice.core.tools import mail
from postoffice.core.views import Proof
from postoffice.doors.mcp.request import McpRequest
from postoffice.doors.mcp.tools.mail.standing import ANSWERED, theirs
from postoffice.doors.mcp.tools.reading import ForMind, beginning, fits, keep, shorten, whole
from postoffice.doors.mcp.tools.verb import Verb
from postoffice.doors.moments import now

_LETTERS_SHOWN = 10
"""At most so many messages, and so much of each that all fit into one answer."""
_FOUND_TOKENS = 600
_RECENT_SESSIONS = 20
_PAGES_READ = 5
_PART = re.compile(r"(.+)#([1-9][0-9]{0,3})")


class Placed(Letter, frozen=True, kw_only=True, rename={"sender": "from"}):
    """A message, and its standing with each recipient that the reader may know of."""

    standings: tuple[Standing, ...]
    counts: dict[str, int] | None
    """Of a letter to a list: with how many of its members it stands how."""
    mine: bool
    """Whether the reader wrote it."""
    task_state: TaskState | None
    """The state of the task it asks for."""
    task_said: str | None
    """What was said with that state."""


class Hits(msgspec.Struct, frozen=True, kw_only=True):
    """The messages that fit."""

    messages: tuple[Placed, ...]
    more: bool


class Found(ForMind, frozen=True, kw_only=True):
    """The same for a mind."""

    shape: ClassVar = Hits
    hits: Hits
    only: bool
    """Whether one message was asked for by its id."""
    part: int = 1

    def bare(self) -> Hits:
        return self.hits

    def text(self) -> str:
        if not self.hits.messages and self.hits.more:
            return "Nothing found in the latest mail. Words, or before:, look further back."
        if not self.hits.messages:
            return "Nothing found. Fewer or other words may find it; mail_find() shows the latest mail."
        marks, lines = self.fence(), []
        for item in self.hits.messages:
            if not self.only:
                lines.append(beginning(marks, item, _FOUND_TOKENS, _summary(item)))
                continue
            lines.append(whole(marks, item, self.id(item.id), _summary(item), part=self.part))
            lines += _at_length(marks, item)
        if self.hits.more:
            lines.append("There is more: other words, with, or before: narrow it down.")
        if not self.only and not all(fits(item, _FOUND_TOKENS) for item in self.hits.messages):
            lines.append("mail_find(id=…) shows one whole.")
        return "\n".join(lines)


def _summary(item: Placed) -> str:
    """Its standing in few words."""
    if not item.mine:
        return f"you got it: {_yours(item.standings[0])}" if item.standings else "you got it"
    if item.counts is not None:
        return f"you sent it: read by {item.counts.get(State.ACKED, 0)} of {sum(item.counts.values())}"
    if len(item.standings) == 1:
        (one,) = item.standings
        return f"you sent it to {one.recipient}: {theirs(one)}"
    read = sum(one.state is State.ACKED for one in item.standings)
    return f"you sent it: read by {read} of {len(item.standings)}"


def _at_length(marks: Fence, item: Placed) -> list[str]:
    """A line for each recipient of a message to several, with the reason if there is one."""
    lines = []
    for one in item.standings if item.mine else ():
        if len(item.standings) > 1:
            lines.append(f"{one.recipient}: {theirs(one)}.")
        if one.reason and one.reason not in (ANSWERED, CANCELED, EXPIRED):
            lines.append(marks.words(one.recipient, one.reason))
    if item.mine and item.counts is not None and (hidden := sum(item.counts.values()) - len(item.standings)) > 0:
        lines.append(f"And {hidden} more members.")
    if item.task_said and item.standings:
        by = item.sender if item.task_state is TaskState.CANCELED else item.standings[0].recipient
        lines.append(marks.clipped(by, item.task_said, _FOUND_TOKENS))
    return lines


def _yours(one: Standing) -> str:
    if one.state is State.HELD and one.due_at is not None:
        return f"you put it off, it comes again in {span(one.due_at - now())}"
    return {State.ACKED: "done", State.LEASED: "in your hands", State.DEAD: "refused or given up"}.get(one.state, "not taken yet")


async def find(request: McpRequest, given: mail.Find) -> Found:
    """Find one message by id, or all that fit."""
    me = await request.caller(given.agent_id)
    if given.id is not None:
        return await _one(request, me, given.id)
    if given.words is None and given.other is None:
        messages, more = await _latest(request, me)
    else:
        messages, more = await _searched(request, me, given.words or "", given.other)
    proofs = [await request.office.status(me, one.id) for one in messages[:_LETTERS_SHOWN]]
    return await _found(request, me, proofs, more=more or len(messages) > _LETTERS_SHOWN)


async def _searched(request: McpRequest, me: Caller, words: str, other: str | None) -> tuple[list[Message], bool]:
    """Find mail by its words: all mail, or what was written to or by one agent."""
    cursor, hits = None, list[Message]()
    for _ in range(_PAGES_READ):  # without words a page covers only part of everybody's mail, and may be empty
        page = await request.office.search(me, words, other=other, cursor=cursor, limit=_LETTERS_SHOWN)
        hits += [hit.message for hit in page.items]
        cursor = page.cursor
        if hits or cursor is None:
            break
    if other is None or words:
        return hits, cursor is not None
    # Their sessions are known without a search, however old they are.
    lately = (aside.line.message for aside in await request.office.between(me, me.name, other, limit=_LETTERS_SHOWN))
    newest = {message.id: message for message in (*hits, *lately)}
    return [newest[id] for id in sorted(newest, reverse=True)], cursor is not None


async def _latest(request: McpRequest, me: Caller) -> tuple[list[Message], bool]:
    """The newest mail of all conversations, and what waits outside any conversation."""
    page = await request.office.inbox(me, limit=_RECENT_SESSIONS, lines=_LETTERS_SHOWN)
    notes = (await request.office.waiting(me, outside=True)).items
    lines = [line.message for thread in page.items for line in thread.lines]
    newest = sorted({one.id: one for one in (*lines, *notes)}.values(), key=lambda one: one.id, reverse=True)
    return newest, page.cursor is not None


async def _one(request: McpRequest, me: Caller, ref: str) -> Found:
    part = 1
    try:
        proof = await request.office.status(me, ref)
    except NoSuchMessage:
        if (match := _PART.fullmatch(ref)) is None:
            raise
        proof, part = await request.office.status(me, match[1]), int(match[2])
    if proof.message is None:
        raise NoSuchMessage(name=me.name, ref=ref)
    await keep(request, me, proof.message.id)
    return await _found(request, me, [proof], only=True, part=part)


async def _found(request: McpRequest, me: Caller, proofs: list[Proof], *, more: bool = False, only: bool = False, part: int = 1) -> Found:
    placed = tuple([await _placed(request, me, proof.message, proof) for proof in proofs if proof.message is not None])
    ids = [*(item.id for item in placed), *(item.reply_to for item in placed)]
    return Found(hits=Hits(messages=placed, more=more), short=await shorten(request, me, ids), only=only, part=part)


async def _placed(request: McpRequest, me: Caller, message: Message, proof: Proof) -> Placed:
    task_state = task_said = None
    if message.type == TASK:
        with suppress(MailError):  # the message went to several, or never became a task
            task = await request.office.task(me, message.id)
            task_state, task_said = task.state, task.steps[-1].text if task.steps else None
    shown = msgspec.structs.asdict(letter(message))
    mine = folded(message.sender) == folded(me.name)
    return Placed(**shown, standings=proof.standings, counts=proof.counts, mine=mine, task_state=task_state, task_said=task_said)


VERBS = (Verb(mail.FIND, find, Found),)
