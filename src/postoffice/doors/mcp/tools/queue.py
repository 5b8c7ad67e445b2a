"""The queue's tools: send, take, wait, ack, nack."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, ClassVar, Self

import msgspec
from msgspec import UNSET, UnsetType

from postoffice.core.agent import Caller
from postoffice.core.delivery import Ack, Leased, Nack, Settlement, State
from postoffice.core.delivery import Settled as Outcome
from postoffice.core.draft import Draft
from postoffice.core.errors import Invalid
from postoffice.core.fence import one_line
from postoffice.core.letter import Letter, letter
from postoffice.core.limits import bounded
from postoffice.core.message import TASK, TaskRef
from postoffice.core.span import span
from postoffice.core.tools import queue
from postoffice.doors.mcp.request import McpRequest
from postoffice.doors.mcp.tools.reading import ANSWER_TOKENS, Readable, fitting, ids_in, shorten
from postoffice.doors.mcp.tools.receipt import Confirmed, confirmed
from postoffice.doors.mcp.tools.result import Result
from postoffice.doors.mcp.tools.verb import Verb
from postoffice.doors.moments import now

_MILLISECOND = timedelta(milliseconds=1)
_HEAD_TOKENS = 300
"""Room for the text before the messages."""
_BECAME = {str(State.PENDING): "waits again", str(State.HELD): "comes again later"}
"""The word for mail that was given back: a holder would misread `held`."""


async def send(request: McpRequest, given: queue.Send) -> Confirmed:
    """Send a message, in any of the forms the arguments allow."""
    me = await request.caller(given.sender)
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
    return await confirmed(request, me, await request.office.send(me, draft))


def _instant(text: str | None) -> datetime | None:
    try:
        return None if text is None else datetime.fromisoformat(text)
    except ValueError:
        raise Invalid(what="deadline", why=f"{text!r} is not a time; write it like 2026-12-31T18:00:00Z") from None


class HeldLetter(Letter, frozen=True, kw_only=True, rename={"sender": "from"}):
    """A message that its taker holds."""

    status: str
    attempt: int
    leased_until: datetime | None


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """Messages taken, and what became of the acks that came with the call."""

    messages: tuple[HeldLetter, ...]
    acked: tuple[dict[str, Any], ...]
    more: bool | UnsetType = UNSET
    """True if more came than the answer has room for. The rest waits for the next call."""
    others: int | UnsetType = UNSET
    """How much other mail waits, if certain mail was asked for and none came."""


class Mail(Readable, frozen=True, kw_only=True):
    """The same to be read."""

    shape: ClassVar = Taken
    mail: Taken
    waiting: int = 0
    """How many more messages wait, if that was looked up."""

    def bare(self) -> Taken:
        return self.mail

    def text(self) -> str:
        messages = self.mail.messages
        lines = _outcome_lines(self.mail.acked)
        if self.mail.more is True:
            lines.append("There is more mail than fits into this answer: call again to take it.")
            if not messages:
                return "\n".join(lines)
        if not messages:
            return "\n".join([*lines, self._none()])
        ids = ", ".join(self.id(item.id) for item in messages)
        until = min((item.leased_until for item in messages if item.leased_until is not None), default=None)
        yours = f", yours for {span(until - now())}" if until else ""
        more = f"; {self.waiting} more wait{'' if self.waiting > 1 else 's'}" if self.waiting else ""
        lines.append(f"{len(messages)} message{'s' if len(messages) > 1 else ''}{yours}{more}. To ack: {ids}")
        return "\n".join([*lines, *self.letters(messages)])

    def _none(self) -> str:
        others = self.mail.others
        if not isinstance(others, int):
            return "No messages are waiting."
        return f"None of the messages asked for is waiting; {others or 'no'} other{' is' if others == 1 else 's are'}."

    async def smaller(self, request: McpRequest) -> Self | None:
        """The same with half of the mail, or with none if it was one message. The rest goes back and waits for the next call."""
        if not self.mail.messages:
            return None
        kept = len(self.mail.messages) // 2
        await request.give_back(beyond=kept)
        return msgspec.structs.replace(self, mail=msgspec.structs.replace(self.mail, messages=self.mail.messages[:kept], more=True))


async def receive(request: McpRequest, given: queue.Receive) -> Mail:
    """Take what waits."""
    me = await request.caller(given.agent_id)
    acks = [Ack(ref) for ref in given.ack]
    turned = await request.office.receive(me, given.limit, **_wish(given, acks))
    return await _mail(request, me, given, turned.leased, _outcomes(acks, turned.settled), turned.waiting)


async def wait(request: McpRequest, given: queue.Wait) -> Mail:
    """Wait for mail to take."""
    me = await request.caller(given.agent_id)
    acks = [Ack(ref) for ref in given.ack]
    turned = await request.office.wait(
        me,
        given.limit,
        within=_within(request, given),
        again=partial(request.again, given.agent_id),
        called_off=request.called_off,
        **_wish(given, acks),
    )
    return await _mail(request, me, given, turned.leased, _outcomes(acks, turned.settled), turned.waiting)


def _longest_wait(request: McpRequest, given: queue.Wait) -> timedelta:
    return _within(request, given) or request.office.rules.limits.wait


def _within(request: McpRequest, given: queue.Wait) -> timedelta | None:
    """How long to wait; None means the office's default. A refusal uses the caller's own argument and unit."""
    if given.timeout_ms is None:
        return None
    return bounded("timeout_ms", given.timeout_ms, 0, 0, request.office.rules.limits.wait_most // _MILLISECOND) * _MILLISECOND


def _wish(given: queue.Receive | queue.Wait, acks: Sequence[Settlement]) -> dict[str, Any]:
    return {"settle": acks, "correlation_id": given.correlation_id, "session_id": given.session_id}


async def _mail(
    request: McpRequest,
    me: Caller,
    given: queue.Receive | queue.Wait,
    leased: Sequence[Leased],
    acked: tuple[dict[str, Any], ...],
    waiting: int,
) -> Mail:
    request.leased += [(me, item) for item in leased]
    chosen = given.correlation_id is not None or given.session_id is not None
    others = waiting if chosen and not leased else UNSET
    mail = Taken(messages=tuple(map(_held, leased)), acked=acked, others=others)
    if not request.in_text or not leased:
        return Mail(mail=mail)
    count = fitting(mail.messages, ANSWER_TOKENS - _HEAD_TOKENS)
    given_back = await request.give_back(beyond=count)
    full = given_back > 0 or len(leased) == (given.limit or request.office.rules.limits.receive)
    waiting = waiting + given_back if full else 0
    messages = mail.messages[:count]
    short = await shorten(request, me, ids_in(messages))
    return Mail(mail=msgspec.structs.replace(mail, messages=messages), waiting=waiting, short=short, in_text=True)


def _held(leased: Leased) -> HeldLetter:
    shown = msgspec.structs.asdict(letter(leased.message, leased.session_id))
    return HeldLetter(**shown, status="leased", attempt=leased.attempt, leased_until=leased.leased_until)


class Became(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a settled message, or of each of several."""

    message_id: str | UnsetType = UNSET
    status: str | UnsetType = UNSET
    results: tuple[dict[str, Any], ...] | UnsetType = UNSET


class Settled(Result, frozen=True, kw_only=True):
    """The same as text, with the ids that the caller used."""

    shape: ClassVar = Became
    became: Became
    refs: tuple[str, ...]

    def bare(self) -> Became:
        return self.became

    def text(self) -> str:
        if isinstance(self.became.results, tuple):
            called = [item | {"message_id": ref} for ref, item in zip(self.refs, self.became.results, strict=True)]
            return "\n".join(_outcome_lines(called))
        return f"{one_line(self.refs[0])} {_BECAME.get(str(self.became.status), f'is {self.became.status}')}."


async def ack(request: McpRequest, given: queue.Ack) -> Settled:
    """Ack mail."""
    return await _settle(request, given.agent_id, [Ack(ref) for ref in _refs(given.message_id)], given.message_id)


async def nack(request: McpRequest, given: queue.Nack) -> Settled:
    """Nack mail."""
    delay = timedelta(milliseconds=given.delay_ms)
    back = [Nack(ref, delay=delay, reason=given.reason) for ref in _refs(given.message_id)]
    return await _settle(request, given.agent_id, back, given.message_id)


async def _settle(request: McpRequest, agent: str | None, asked: Sequence[Settlement], given: str | list[str]) -> Settled:
    me = await request.caller(agent)
    outcomes = await request.office.settle(me, asked)
    refs = tuple(item.ref for item in asked)
    if isinstance(given, list):
        return Settled(became=Became(results=_outcomes(asked, outcomes)), refs=refs)
    (outcome,) = outcomes
    if isinstance(outcome, Exception):
        raise outcome
    return Settled(became=Became(message_id=outcome.message_id, status=outcome.state), refs=refs)


def _refs(given: str | list[str]) -> list[str]:
    return [given] if isinstance(given, str) else given


def _outcomes(asked: Sequence[Settlement], outcomes: Sequence[Outcome | Exception]) -> tuple[dict[str, Any], ...]:
    return tuple(
        {"message_id": outcome.message_id, "status": outcome.state}
        if isinstance(outcome, Outcome)
        else {"message_id": item.ref, "status": None, "problem": str(outcome)}
        for item, outcome in zip(asked, outcomes, strict=True)
    )


def _outcome_lines(settled: Iterable[dict[str, Any]]) -> list[str]:
    """One line for each message. A refused one is named by the id that was given, which another agent may have chosen."""
    return [one_line(f"{item['message_id']}: {item.get('problem') or item['status']}") for item in settled]


VERBS = (
    Verb(queue.SEND, send, Confirmed),
    Verb(queue.RECEIVE, receive, Mail),
    Verb(queue.WAIT, wait, Mail, lasts=_longest_wait),
    Verb(queue.ACK, ack, Settled),
    Verb(queue.NACK, nack, Settled),
)
