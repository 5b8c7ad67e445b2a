"""A question to a person: what may be answered and by when, and what was answered."""

from datetime import datetime
from enum import StrEnum

import msgspec

from postoffice.core.clock import micros, moment
from postoffice.core.errors import BadMessage, NoAnswerGiven, NoSuchChoice
from postoffice.core.text import check_text

OPEN_OFFICE = "open"
"""Who answered on an open office, where any local program acts for the owner and nobody can tell who it was."""
DEFAULT = "default"
"""Who answered if nobody did in time and the asker had named a default."""
_MOST_CHOICES = 10
_CHOICE_CHARACTERS = 200
TEXT_CHARACTERS = 10_000


class QuestionState(StrEnum):
    """open → answered, expired or withdrawn; none of these changes again."""

    OPEN = "open"
    ANSWERED = "answered"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


class Ask(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a letter asks a person."""

    choices: tuple[str, ...] = ()
    text: bool = True
    """Whether the person may say something of their own, beside a choice or instead of one."""
    default: str | None = None
    """What counts if nobody has answered by the deadline; without it the question then expires."""
    deadline: datetime | None = None


class Answer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a question ended, as the letter says that tells its asker."""

    question: str
    state: QuestionState
    by: str | None = None
    """Who answered: a person's name, `open` where nobody can tell, or `default`; nobody if it expired."""
    choice: str | None = None
    text: str | None = None

    @property
    def in_words(self) -> str:
        """The same for whoever reads."""
        answer = "\n\n".join(part for part in (self.choice, self.text) if part)
        if self.state is QuestionState.EXPIRED:
            return "Nobody answered in time, and there is no default."
        if self.by == DEFAULT:
            return f"Nobody answered in time. The default counts: {answer}"
        return f"{answer}\n\n({ANYBODY})" if self.by == OPEN_OFFICE else answer


ANYBODY = "Answered at an open office, where any program on this machine may have done it."


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A question as it stands."""

    id: str
    asker: str
    person: str
    subject: str
    content: str
    """What is asked, as text."""
    choices: tuple[str, ...]
    text: bool
    default: str | None
    deadline: datetime | None
    priority: int
    state: QuestionState
    created_at: datetime
    session_id: str | None
    correlation_id: str | None = None
    by: str | None = None
    choice: str | None = None
    answer: str | None = None
    """What the person said of their own."""
    answer_id: str | None = None
    """The letter that told the asker."""
    via: str | None = None
    """The door at which it was answered."""
    closed_at: datetime | None = None

    @property
    def ask(self) -> Ask:
        """What may be answered."""
        return Ask(choices=self.choices, text=self.text, default=self.default, deadline=self.deadline)


def check_ask(ask: Ask) -> Ask:
    """What a letter asks, if a person can answer it."""
    if len(ask.choices) > _MOST_CHOICES:
        raise BadMessage(field="ask", why=f"it offers {len(ask.choices)} choices, more than {_MOST_CHOICES}")
    for choice in ask.choices:
        if not choice.strip() or len(choice) > _CHOICE_CHARACTERS:
            raise BadMessage(field="ask", why=f"each choice has 1 to {_CHOICE_CHARACTERS} characters")
        check_text(choice, "ask")
    if len({choice.casefold() for choice in ask.choices}) < len(ask.choices):
        raise BadMessage(field="ask", why="two of its choices are the same")
    if not ask.choices and not ask.text:
        raise BadMessage(field="ask", why="it offers no choices and takes no text")
    if ask.deadline is not None:
        _check_deadline(ask.deadline)
    elif ask.default is not None:
        raise BadMessage(field="ask", why="a default counts from a deadline on; give one")
    if ask.default is not None:
        check_text(ask.default, "ask")
        read_default(ask)
    return ask


def read_answer(ask: Ask, choice: str | None, text: str | None) -> tuple[str | None, str | None]:
    """What was chosen, as it was offered, and what was said besides."""
    chosen = None
    if choice:
        chosen = next((one for one in ask.choices if one.casefold() == choice.casefold()), None)
        if chosen is None:
            raise NoSuchChoice(choice=choice, choices=", ".join(map(repr, ask.choices)) or "none; answer in words")
    if text:
        check_text(text, "text")
        if not ask.text:
            raise NoSuchChoice(choice=text, choices=", ".join(map(repr, ask.choices)))
        if len(text) > TEXT_CHARACTERS:
            raise BadMessage(field="text", why=f"it has more than {TEXT_CHARACTERS} characters")
    if chosen is None and not (text and text.strip()):
        raise NoAnswerGiven
    return chosen, text or None


def read_default(ask: Ask) -> tuple[str | None, str | None]:
    """The default, as an answer: one of the choices, or else words."""
    assert ask.default is not None
    offered = {choice.casefold() for choice in ask.choices}
    if ask.default.casefold() in offered or not ask.text:
        return read_answer(ask, ask.default, None)
    return read_answer(ask, None, ask.default)


def _check_deadline(deadline: datetime) -> None:
    if deadline.tzinfo is None:
        raise BadMessage(field="ask", why="its deadline needs a time zone")
    try:
        moment(micros(deadline))
    except OverflowError:
        raise BadMessage(field="ask", why="its deadline is beyond the calendar") from None
