"""Getting mail: first what is still held, then what is new, as much as one answer can show."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import ClassVar, Self

import msgspec

from postoffice.core.agent import Caller
from postoffice.core.delivery import Collected, InHand, Leased
from postoffice.core.fence import Fence
from postoffice.core.letter import Letter, letter
from postoffice.core.limits import bounded
from postoffice.core.message import NOTICE, TASK, TASK_UPDATE
from postoffice.core.pause import Pause
from postoffice.core.span import span
from postoffice.core.task import UNDER_WAY, Task
from postoffice.core.tools import mail
from postoffice.core.views import Proof
from postoffice.doors.mcp.request import McpRequest
from postoffice.doors.mcp.tools.mail.awaiting import awaited_by, goes_on, is_here, reached, wait_for
from postoffice.doors.mcp.tools.mail.standing import theirs
from postoffice.doors.mcp.tools.reading import ANSWER_TOKENS, ForMind, beginning, fitting, lease, shorten, whole
from postoffice.doors.mcp.tools.verb import Verb
from postoffice.doors.mcp.tools.work import paused_words

_SECOND = timedelta(seconds=1)
_HELD_TOKENS = 150
_GIST_TOKENS = 12
"""So many tokens of each held letter are shown again, if few are held and if many are."""
_HELD_SHOWN = 10
_HELD_SHOWN_AT_LENGTH = 3
_NO_ANSWER = frozenset({TASK_UPDATE, NOTICE})
"""What only reports."""


class Given(Letter, frozen=True, kw_only=True, rename={"sender": "from"}):
    """A message that its taker holds, and for how long."""

    attempt: int
    seconds_left: int


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """What a mind holds, what is new, and how many letters still wait."""

    held: tuple[Given, ...]
    messages: tuple[Given, ...]
    waiting: int
    tasks: tuple[Task, ...]
    """The tasks it has begun and not finished."""


class Mail(ForMind, frozen=True, kw_only=True):
    """The same for a mind."""

    shape: ClassVar = Held
    mail: Held
    waited: int
    """For how many seconds the call was to wait for mail."""
    paused: Pause | None
    awaited: Proof | None
    """The message whose answer was asked for, with its standing."""
    reach: Mapping[str, str] = {}
    """Whether the recipients that have not taken it can be reached."""

    def bare(self) -> Held:
        return self.mail

    def text(self) -> str:
        marks, mail = self.fence(), self.mail
        if self.awaited is not None and (self.paused is None or mail.messages):
            return "\n".join([*self._answer(marks, self.awaited.message_id), *self._others()])
        lines = self._still_held(marks)
        if mail.tasks:
            tasks = ", ".join(f"{self.id(task.message_id)} from {task.requester} ({task.state})" for task in mail.tasks)
            lines.append(f"Tasks you have not finished: {tasks}. mail_find(id=…) shows one.")
        if mail.messages:
            lines.append(f"New: {_messages(len(mail.messages))}, yours for {self._until()}{self._more()}.")
            lines += [whole(marks, item, self.id(item.id)) for item in mail.messages]
        else:
            lines.append(f"No new mail{self._within()}{self._more()}." if self.paused is None else paused_words(self.paused, marks))
        return "\n".join([*lines, *self._next()])

    def _still_held(self, marks: Fence) -> list[str]:
        """Mail taken earlier: its beginnings if there is little, only subjects if there is much."""
        held = self.mail.held
        if not held:
            return []
        tokens = _HELD_TOKENS if len(held) <= _HELD_SHOWN_AT_LENGTH else _GIST_TOKENS
        shown = [beginning(marks, item, tokens, f"yours for {span(item.seconds_left * _SECOND)}") for item in held[:_HELD_SHOWN]]
        more = [self.id(item.id) for item in held[_HELD_SHOWN:]]
        return [f"You still hold {_messages(len(held))}:", *shown, *([f"And {', '.join(more)}."] if more else [])]

    def _answer(self, marks: Fence, asked: str) -> list[str]:
        """The answer that was asked for, or else how the question stands."""
        came = self.mail.messages or tuple(item for item in self.mail.held if _answers(item, asked))[:1]
        if came:
            letters = [whole(marks, item, self.id(item.id)) for item in came]
            ids = ", ".join(f'"{self.id(item.id)}"' for item in came)
            then = f'; mail_get(answer_to="{self.id(asked)}") waits for the result' if goes_on(came[-1].task) else " if that settles it"
            return [f"Answer to {self.id(asked)}:", *letters, f"Next: mail_done(ids=[{ids}]){then}."]
        assert self.awaited is not None
        stands = "; ".join(f"{one.recipient}: {theirs(one)}{self._reach(one.recipient)}" for one in self.awaited.standings)
        later = f'Next: go on with other work; mail_get(answer_to="{self.id(asked)}") later.'
        return [f"No answer to {self.id(asked)}{self._within() or ' is here'}. {stands}.", later]

    def _reach(self, name: str) -> str:
        return f", {self.reach[name]}" if name in self.reach else ""

    def _others(self) -> list[str]:
        """How much other mail there is, which this call left alone."""
        question_id = None if self.awaited is None else self.awaited.message_id
        held = sum(not _answers(item, question_id) for item in self.mail.held)
        counts = [f"you hold {held} other{'' if held == 1 else 's'}"] if held else []
        counts += [f"{self.mail.waiting} wait{'' if self.mail.waiting > 1 else 's'}"] if self.mail.waiting else []
        return [f"Other mail: {', '.join(counts)}; mail_get() shows it."] if counts else []

    def _until(self) -> str:
        return span(min(item.seconds_left for item in self.mail.messages) * _SECOND)

    def _within(self) -> str:
        return f" came in {span(self.waited * _SECOND)}" if self.waited else ""

    def _more(self) -> str:
        waiting = self.mail.waiting
        return f"; {waiting} more wait{'' if waiting > 1 else 's'}" if waiting else ""

    def _next(self) -> list[str]:
        """The next step; new mail goes before held mail."""
        letters = (*self.mail.messages, *self.mail.held)
        plain = next((self.id(item.id) for item in letters if item.type not in _NO_ANSWER and item.type != TASK), None)
        task = next((self.id(item.id) for item in letters if item.type == TASK), None)
        read = ", ".join(f'"{self.id(item.id)}"' for item in letters[:_HELD_SHOWN] if item.type in _NO_ANSWER)
        steps = []
        if plain is not None:
            steps.append(
                f'to answer, mail_send(reply_to="{plain}", text=…), which also marks it done; without an answer, mail_done(ids=["{plain}"])'
            )
        if task is not None:
            steps.append(f'a task ends by task_update(id="{task}", state="completed", text=…)')
        if read:
            steps.append(f"mail_done(ids=[{read}]): reports need no answer")
        return [f"Next: {'; '.join(steps)}."] if steps else []

    async def smaller(self, request: McpRequest) -> Self | None:
        messages = self.mail.messages
        if not messages:
            return None
        kept = len(messages) // 2
        await request.give_back(beyond=kept)
        less = msgspec.structs.replace(self.mail, messages=messages[:kept], waiting=self.mail.waiting + len(messages) - kept)
        return msgspec.structs.replace(self, mail=less)


def _answers(item: Given, asked: str | None) -> bool:
    """Whether a letter is the answer, and not a report that a task goes on."""
    return item.reply_to == asked and not goes_on(item.task)


def _messages(count: int) -> str:
    return f"{count} message{'' if count == 1 else 's'}"


async def get(request: McpRequest, given: mail.Get) -> Mail:
    """Take what waits, or wait for mail."""
    me = await request.caller(given.agent_id)
    office, within = request.office, _within(request, given)
    turned: Collected | None
    awaited = None if given.answer_to is None else await awaited_by(request, me, given.answer_to)
    keeps = lease(request)
    if awaited is not None:
        here = await is_here(request, me, awaited)
        turned = None if here else await wait_for(request, me, given, awaited, within=within, visible_for=keeps)
    elif within:
        again = partial(request.again, given.agent_id)
        turned = await office.wait(me, given.limit, within=within, again=again, called_off=request.called_off, visible_for=keeps)
    else:
        turned = await office.receive(me, given.limit, visible_for=keeps)
    leased = () if turned is None else turned.leased
    request.leased += [(me, item) for item in leased]
    held = await _held(request, me, leased) if turned is None or turned.in_hand > len(leased) else ()
    new = tuple(_given(item, keeps) for item in leased)
    count = fitting(new, ANSWER_TOKENS - (_HELD_TOKENS + 100) * min(len(held), _HELD_SHOWN))
    given_back = await request.give_back(beyond=count)
    tasks = await _under_way(request, me, {item.id for item in (*held, *new)})
    if turned is None:
        counts = await office.counts(me)
        waiting, paused = counts.pending, counts.paused
    else:
        waiting, paused = turned.waiting + given_back, turned.paused
    shown = Held(held=held, messages=new[:count], waiting=waiting, tasks=tasks)
    letters = (*held, *shown.messages)
    ids = [*(item.id for item in letters), *(item.reply_to for item in letters), *(task.message_id for task in tasks)]
    reach: Mapping[str, str] = {}
    if awaited is not None:
        awaited = await office.status(me, awaited.message_id)  # its standing after the wait
        reach = {} if leased else await reached(request, me, awaited)
        ids.append(awaited.message_id)
    short = await shorten(request, me, ids)
    return Mail(mail=shown, short=short, waited=int(within.total_seconds()), paused=paused, awaited=awaited, reach=reach)


def _within(request: McpRequest, given: mail.Get) -> timedelta:
    most = request.office.rules.limits.wait_most // _SECOND
    return bounded("wait_seconds", given.wait_seconds, 0, 0, most) * _SECOND


async def _held(request: McpRequest, me: Caller, new: Sequence[Leased]) -> tuple[Given, ...]:
    """The mail taken before this call."""
    taken = {item.message.id for item in new}
    return tuple(_in_hand(item) for item in await request.office.in_hand(me) if item.leased.message.id not in taken)


def _in_hand(item: InHand) -> Given:
    return _given(item.leased, item.left)


def _given(item: Leased, left: timedelta) -> Given:
    shown = msgspec.structs.asdict(letter(item.message, item.session_id))
    return Given(**shown, attempt=item.attempt, seconds_left=max(0, left // _SECOND))


async def _under_way(request: McpRequest, me: Caller, shown: set[str]) -> tuple[Task, ...]:
    """Tasks that were begun and whose mail is no longer held. They are listed so that a mind that forgot them finds them."""
    page = await request.office.tasks(me, assignee=me.name)
    return tuple(task for task in page.items if task.state in UNDER_WAY and task.message_id not in shown)


VERBS = (Verb(mail.GET, get, Mail, lasts=_within),)
