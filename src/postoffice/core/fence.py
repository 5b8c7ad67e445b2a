"""Other agents' words as a model may read them: marked off, attributed, and with nothing hidden in them."""

import secrets
from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import islice

from msgspec import UNSET

from postoffice.core.attachment import Attachment
from postoffice.core.clock import is_id
from postoffice.core.invisible import visible
from postoffice.core.letter import Letter
from postoffice.core.message import NOTICE, Forwarded, TaskRef
from postoffice.core.names import is_list, is_role
from postoffice.core.span import ago, span
from postoffice.core.task import FINAL, TaskState
from postoffice.core.text import render
from postoffice.core.tokens import parts

_USUAL_TYPES = frozenset({"message", "task", "task_update", "question", "answer"})
_URGENT_PRIORITY = 2
"""This priority and better."""


def _as_it_is(id: str) -> str:
    return id


class Fence:
    """One answer's fence. Its boundary is random, so nothing written before could contain it."""

    def __init__(self, now: datetime | None = None, short: Callable[[str], str] = _as_it_is, *, brief: bool = False) -> None:
        self._boundary = secrets.token_hex(6)
        self._now = now
        """With it, it is told how long ago things were."""
        self._short = short
        """How an id of the office's is written to this reader."""
        self._brief = brief
        """Whether what only programs go by is left out."""

    def around(self, letters: Sequence[Letter]) -> str:
        """Messages, each within its own marks."""
        return "\n".join(map(self.letter, letters))

    def words(self, who: str, text: str) -> str:
        """Something said outside a message, such as the note of a request."""
        return f"=== {self._boundary} words of {one_line(who)} ===\n{visible(text)}\n=== {self._boundary} end ==="

    def clipped(self, who: str, text: str, tokens: int) -> str:
        """The beginning of such words, where that will do."""
        begin, *more = islice(parts(text, tokens), 2)
        return self.words(who, f"{begin} …" if more else begin)

    def letter(self, letter: Letter, words: str | None = None, *facts: str) -> str:
        """A message, or some of its words. Its heading holds nothing that its sender chose: even an id could be made to read like a heading."""
        proof = "" if getattr(letter, "mine", False) else f" ({_proof(verified=letter.from_verified)})"  # who reads its own knows
        head = ", ".join([f"message {self._short(letter.id)} from {one_line(letter.sender)}{proof}", *self._known(letter), *facts])
        said = visible(said_in(letter)) if words is None else words
        return "\n".join([f"=== {self._boundary} {head} ===", *self._given(letter), "", said, f"=== {self._boundary} end ==="])

    def _known(self, letter: Letter) -> list[str]:
        """What the office knows of it."""
        facts = [] if self._now is None else [ago(self._now - letter.created_at)]
        facts += _to(letter)
        if isinstance(letter.reply_to, str) and is_id(letter.reply_to):
            facts.append(f"answers {self._short(letter.reply_to)}")
        if isinstance(letter.forwarded_from, Forwarded):
            first = letter.forwarded_from
            facts.append(f"forwards what {one_line(first.sender)} ({_proof(verified=first.from_verified)}) wrote")
        if letter.ask:
            facts.append("question to a person")
        if letter.answer:
            facts.append(f"answer by {one_line(letter.answer.by)}" if letter.answer.by else "no answer came")
        if letter.priority <= _URGENT_PRIORITY:
            facts.append("urgent")
        if (attempt := getattr(letter, "attempt", 0)) > 1:  # of what is in its taker's hands
            facts.append(f"delivery {attempt}")
        if letter.task:
            said = letter.task.state if letter.task.state in set(TaskState) else TaskState.PENDING
            state = getattr(letter, "task_state", None) or said  # as it is now, where that was looked up
            facts.append(f"task {state}" if letter.task.percent is None else f"task {state}, {letter.task.percent} %")
            facts += self._linked(letter.task)
            if self._now is not None and letter.task.deadline is not None and state not in FINAL:
                left = letter.task.deadline - self._now
                facts.append(f"due in {span(left)}" if left.total_seconds() > 0 else f"was due {ago(-left)}")
        return facts

    def _linked(self, task: TaskRef) -> list[str]:
        """What it is part of, what it waited for when it was asked, and what it leaves open."""
        facts = [f"part of {self._short(task.parent)}"] if task.parent is not None and is_id(task.parent) else []
        if blockers := [self._short(id) for id in task.blocked_by if is_id(id)]:
            facts.append(f"to be done after {', '.join(blockers)}")
        return facts + ([f"{task.open_parts} of its parts not over"] if task.open_parts else [])

    def _given(self, letter: Letter) -> list[str]:
        """What its sender chose, a line each."""
        about: dict[str, object] = {"subject": letter.subject, "type": letter.type}
        if not self._brief:
            about |= {"sender's id": letter.client_id, "session": letter.session_id, "correlation": letter.correlation_id}
        if letter.type in _USUAL_TYPES:
            del about["type"]  # the heading says as much
        if isinstance(letter.reply_to, str) and not is_id(letter.reply_to):
            about["answers"] = letter.reply_to
        lines = [f"{name}: {one_line(value)}" for name, value in about.items() if isinstance(value, str) and value]
        return lines + [_attached(one) for one in letter.attachments or ()]


def _attached(one: Attachment) -> str:
    """Of bytes a model sees only what they are."""
    return f"attachment: {one_line(one.name)} ({one_line(one.type)}, {one.size} bytes), {one.digest}"


def _to(letter: Letter) -> list[str]:
    """Whom it is to, where that is not its reader alone."""
    if is_list(letter.to):
        return [f"by the list {one_line(str(letter.to))}"]
    to = letter.to if isinstance(letter.to, tuple) else (letter.to,) if is_role(letter.to) else ()
    return [f"to {', '.join(map(one_line, to))}"] if to else []


def _proof(*, verified: bool) -> str:
    return "verified" if verified else "not verified"


def one_line(text: str) -> str:
    """The same, for a heading: nothing in it can begin a line of its own."""
    return visible(text).replace("\n", "\\n").replace("\t", " ")


def said_in(letter: Letter) -> str:
    """All that a message says, one after the other: its content, its parts, its payload."""
    given = letter.parts if isinstance(letter.parts, tuple) else ()
    payload = None if letter.payload is UNSET or letter.type == NOTICE else letter.payload  # a notice says the same in words
    return "\n\n".join(filter(None, [letter.content, render(None, given), render(None, (), payload), _asked(letter)]))


def _asked(letter: Letter) -> str:
    """What a question may be answered."""
    if not letter.ask:
        return ""
    ask = letter.ask
    choices = [f"Choices: {', '.join(map(repr, ask.choices))}{'; or in words' if ask.text else ''}."] if ask.choices else ["In words."]
    ends = [] if ask.deadline is None else [f"By {ask.deadline.isoformat(timespec='minutes')}; then {ask.default or 'it expires'}."]
    return "\n".join(choices + ends)
