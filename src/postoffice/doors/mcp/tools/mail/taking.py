"""Getting mail: what is still held, then what is new, as much as one answer can show."""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Any, ClassVar, Self

import msgspec

from postoffice.core.agent import Caller
from postoffice.core.delivery import InHand, Leased
from postoffice.core.errors import Invalid
from postoffice.core.letter import Letter, letter
from postoffice.core.limits import bounded
from postoffice.core.message import TASK
from postoffice.core.names import folded
from postoffice.core.pause import Pause
from postoffice.core.span import span
from postoffice.core.task import UNDER_WAY, Task
from postoffice.core.tools import mail
from postoffice.core.views import Proof
from postoffice.doors.mcp.request import McpRequest
from postoffice.doors.mcp.tools.mail.reading import ANSWER_TOKENS, ForMind, beginning, fitting, lease, shorten, whole
from postoffice.doors.mcp.tools.mail.standing import theirs
from postoffice.doors.mcp.tools.verb import Verb
from postoffice.doors.mcp.tools.work import paused_words

_SECOND = timedelta(seconds=1)
_NOW = timedelta(0)
_HELD_TOKENS = 150
"""So much is shown again of what is held."""
_HELD_SHOWN = 10


class Given(Letter, frozen=True, kw_only=True, rename={"sender": "from"}):
    """A message in its taker's hands, and for how long."""

    attempt: int
    seconds_left: int


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """What a mind holds, what is new, and how much more waits."""

    held: tuple[Given, ...]
    messages: tuple[Given, ...]
    waiting: int
    tasks: tuple[Task, ...]
    """Those it has begun and not finished."""


class Mail(ForMind, frozen=True, kw_only=True):
    """The same for a mind."""

    shape: ClassVar = Held
    mail: Held
    waited: int
    """How many seconds the call has waited for mail at most."""
    paused: Pause | None
    awaited: Proof | None
    """The message whose answer alone was asked for, and how it stands."""

    def bare(self) -> Held:
        return self.mail

    def text(self) -> str:
        marks, lines, mail = self.fence(), [], self.mail
        if mail.held:
            lines.append(f"You still hold {_messages(len(mail.held))}:")
            lines += [
                beginning(marks, item, _HELD_TOKENS, f"yours for {span(item.seconds_left * _SECOND)}") for item in mail.held[:_HELD_SHOWN]
            ]
            if more := [self.id(item.id) for item in mail.held[_HELD_SHOWN:]]:
                lines.append(f"And {', '.join(more)}.")
        if mail.tasks:
            told = ", ".join(f"{self.id(task.message_id)} from {task.requester} ({task.state})" for task in mail.tasks)
            lines.append(f"Tasks you have not finished: {told}. mail_find(id=…) shows one.")
        if mail.messages:
            until = span(min(item.seconds_left for item in mail.messages) * _SECOND)
            lines.append(f"New: {_messages(len(mail.messages))}, yours for {until}{self._more()}.")
            lines += [whole(marks, item, self.id(item.id)) for item in mail.messages]
        else:
            lines.append(self._nothing())
        return "\n".join([*lines, *self._next()])

    def _nothing(self) -> str:
        within = f" came in {span(self.waited * _SECOND)}" if self.waited else ""
        if self.paused is not None:
            return paused_words(self.paused, self.fence())
        if self.awaited is None:
            return f"No new mail{within}{self._more()}."
        stands = "; ".join(f"{one.recipient}: {theirs(one)}" for one in self.awaited.standings)
        others = self.mail.waiting
        more = f" Other mail waits: {_messages(others)}, which mail_get() takes." if others else ""
        return f"No answer to {self.id(self.awaited.message_id)}{within or ' is here'}. {stands}.{more}"

    def _more(self) -> str:
        waiting = self.mail.waiting
        return f"; {waiting} more wait{'' if waiting > 1 else 's'}" if waiting else ""

    def _next(self) -> list[str]:
        letters = (*self.mail.held, *self.mail.messages)
        plain = next((self.id(item.id) for item in letters if item.type != TASK), None)
        task = next((self.id(item.id) for item in letters if item.type == TASK), None)
        said = []
        if plain is not None:
            said.append(
                f'to answer, mail_send(reply_to="{plain}", text=…), which also marks it done; without an answer, mail_done(ids=["{plain}"])'
            )
        if task is not None:
            said.append(f'a task ends by task_update(id="{task}", state="completed", text=…)')
        return [f"Next: {'; '.join(said)}."] if said else []

    async def smaller(self, request: McpRequest) -> Self | None:
        messages = self.mail.messages
        if not messages:
            return None
        kept = len(messages) // 2
        await request.give_back(beyond=kept)
        less = msgspec.structs.replace(self.mail, messages=messages[:kept], waiting=self.mail.waiting + len(messages) - kept)
        return msgspec.structs.replace(self, mail=less)


def _messages(count: int) -> str:
    return f"{count} message{'' if count == 1 else 's'}"


async def get(request: McpRequest, given: mail.Get) -> Mail:
    """Take what waits, or wait for it."""
    me = await request.caller(given.agent_id)
    office, within = request.office, _within(request, given)
    awaited = None if given.answer_to is None else await _awaited(request, me, given.answer_to)
    keeps, wish = lease(request), _wish(awaited)
    patience = _NOW if await _is_here(request, me, awaited) else within
    if patience or wish:
        again = partial(request.again, given.agent_id)
        off = request.called_off
        turned = await office.wait(me, given.limit, within=patience, again=again, called_off=off, visible_for=keeps, **wish)
    else:
        turned = await office.receive(me, given.limit, visible_for=keeps)
    request.leased += [(me, item) for item in turned.leased]
    held = await _held(request, me, turned.leased)
    new = tuple(_given(item, keeps) for item in turned.leased)
    count = max(1, fitting(new, ANSWER_TOKENS - (_HELD_TOKENS + 100) * min(len(held), _HELD_SHOWN)))
    await request.give_back(beyond=count)
    tasks = await _under_way(request, me, {item.id for item in (*held, *new)})
    counts = await office.counts(me)
    shown = Held(held=held, messages=new[:count], waiting=counts.pending, tasks=tasks)
    letters = (*held, *shown.messages)
    ids = [*(item.id for item in letters), *(item.reply_to for item in letters), *(task.message_id for task in tasks)]
    if awaited is not None:
        awaited = await office.status(me, awaited.message_id)  # as it stands after the wait
        ids.append(awaited.message_id)
    return Mail(
        mail=shown, short=await shorten(request, me, ids), waited=int(within.total_seconds()), paused=counts.paused, awaited=awaited
    )


async def _awaited(request: McpRequest, me: Caller, ref: str) -> Proof:
    """The message whose answer is waited for."""
    proof = await request.office.status(me, ref)
    if proof.message is None or folded(proof.message.sender) != folded(me.name):
        raise Invalid(what="answer_to", why=f"{ref!r} is no message you sent; mail_find shows those that are")
    return proof


def _wish(awaited: Proof | None) -> dict[str, Any]:
    """What tells its answers from other mail. Where it went to several, any of theirs will do that carries its mark on."""
    if awaited is None or awaited.message is None:
        return {}
    if len(awaited.standings) == 1:
        return {"answer_to": awaited.message_id}
    mark = awaited.message.correlation_id
    return {"correlation_id": mark} if mark else {"session_id": awaited.standings[0].session_id if awaited.standings else None}


async def _is_here(request: McpRequest, me: Caller, awaited: Proof | None) -> bool:
    """Whether its answer has been taken already, and is still held."""
    if awaited is None:
        return False
    return any(item.leased.message.reply_to == awaited.message_id for item in await request.office.in_hand(me))


def _within(request: McpRequest, given: mail.Get) -> timedelta:
    most = request.office.house.limits.wait_most // _SECOND
    return bounded("wait_seconds", given.wait_seconds, 0, 0, most) * _SECOND


async def _held(request: McpRequest, me: Caller, new: Sequence[Leased]) -> tuple[Given, ...]:
    """What was taken before this call."""
    taken = {item.message.id for item in new}
    return tuple(_in_hand(item) for item in await request.office.in_hand(me) if item.leased.message.id not in taken)


def _in_hand(item: InHand) -> Given:
    return _given(item.leased, item.left)


def _given(item: Leased, left: timedelta) -> Given:
    shown = msgspec.structs.asdict(letter(item.message, item.session_id))
    return Given(**shown, attempt=item.attempt, seconds_left=max(0, left // _SECOND))


async def _under_way(request: McpRequest, me: Caller, shown: set[str]) -> tuple[Task, ...]:
    """Tasks begun whose mail is no longer held: a mind that has forgotten them finds them here."""
    page = await request.office.tasks(me, assignee=me.name)
    return tuple(task for task in page.items if task.state in UNDER_WAY and task.message_id not in shown)


VERBS = (Verb(mail.GET, get, Mail, lasts=_within),)
