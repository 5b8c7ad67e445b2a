"""What waits for a person: one ranked list of everything that asks for an act of theirs."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from postoffice.core.agent import Caller
from postoffice.core.connection import Status
from postoffice.core.delivery import CANCELED
from postoffice.core.letter import text_of
from postoffice.core.question import Question
from postoffice.core.task import Task, TaskState
from postoffice.core.views import DeadLetter
from postoffice.doors.moments import now
from postoffice.office import PostOffice

_READ = 100
"""Of each kind of thing that waits: more than anybody looks through."""
_SOON = timedelta(hours=1)
_URGENT = 2
"""The priority from which on a question is pressing."""
_TEXT_CHARACTERS = 280
_ONE_LINE_CHARACTERS = 160
"""A question that is no longer and has no subject is its own title."""


_NEXT = {
    TaskState.PENDING: (TaskState.ACCEPTED, TaskState.REJECTED),
    TaskState.ACCEPTED: (TaskState.WORKING, TaskState.FAILED),
    TaskState.WORKING: (TaskState.COMPLETED, TaskState.FAILED),
}


class Need(NamedTuple):
    """One thing that waits for a person."""

    key: str
    kind: str
    """`question`, `task`, `consent`, `mail` or `stuck`."""
    who: str
    what: str
    text: str
    since: datetime
    href: str
    thing: Any
    """What it is about, as the office tells it."""
    rank: int
    due: datetime | None = None
    moves: tuple[TaskState, ...] = ()

    @property
    def sort(self) -> str:
        """Its kind, where a dead letter is told from other things that are stuck."""
        return "dead" if isinstance(self.thing, DeadLetter) else self.kind

    @property
    def late(self) -> bool:
        """Whether its time is over."""
        return self.due is not None and self.due <= now()

    @property
    def soon(self) -> bool:
        """Whether its time is nearly over."""
        return self.due is not None and self.due - now() < _SOON


def moves_of(task: Task) -> tuple[TaskState, ...]:
    """Where whoever was asked may move it."""
    return _NEXT.get(task.state, ())


async def needs(office: PostOffice, caller: Caller, *, told: bool = False) -> list[Need]:
    """What waits for whoever looks, the most pressing first; told at length, or only to be counted."""
    found = [
        *await _questions(office, caller),
        *await _unheard(office, caller),
        *await _tasks(office, caller, told=told),
        *await _consent(office, caller),
        *await _mail(office, caller),
        *await _dead(office, caller),
    ]
    return sorted(found, key=lambda need: (need.rank, need.due is None, need.due or need.since))


async def _questions(office: PostOffice, caller: Caller) -> Sequence[Need]:
    page = await office.questions(caller, limit=_READ)
    return [question_of(question) for question in page.items]


def question_of(question: Question) -> Need:
    """A question in the list of what waits."""
    pressing = question.priority <= _URGENT or (question.deadline is not None and question.deadline - now() < _SOON)
    what, asked = question.subject, question.content
    if not what or what.strip() == asked.strip():
        what, asked = (asked, "") if len(asked) <= _ONE_LINE_CHARACTERS and "\n" not in asked.strip() else ("", asked)
    href = f"/page/question/{question.id}"
    rank = 0 if pressing else 1
    return Need(question.id, "question", question.asker, what, asked, question.created_at, href, question, rank, question.deadline)


async def _unheard(office: PostOffice, caller: Caller) -> Sequence[Need]:
    """Agents that were rung for a letter, and did not come."""
    if not caller.owner:
        return ()
    return [
        Need(
            f"rung-{item.message.id}-{item.recipient}",
            "stuck",
            item.recipient,
            f"{item.message.subject or 'A letter'} waits, after {item.times} rings",
            f"{item.message.sender} wrote it",
            item.told_at,
            f"/page/letter/{item.message.id}",
            item,
            5,
        )
        for item in await office.rung_and_silent(caller, _READ)
    ]


async def _tasks(office: PostOffice, caller: Caller, *, told: bool) -> Sequence[Need]:
    found = []
    for state in (TaskState.PENDING, TaskState.ACCEPTED, TaskState.WORKING):
        page = await office.tasks(caller, assignee=caller.name, state=state, limit=_READ)
        found += [_task(task, await _asked(office, caller, task) if told else "") for task in page.items]
    return found


async def _asked(office: PostOffice, caller: Caller, task: Task) -> str:
    """What is asked for, in the words of whoever asks."""
    message = (await office.status(caller, task.message_id)).message
    return "" if message is None else text_of(message)


def _task(task: Task, asked: str) -> Need:
    pressing = task.deadline is not None and task.deadline - now() < _SOON
    href = f"/page/letter/{task.message_id}"
    rank = 0 if pressing else 3
    what = task.subject or task.id
    return Need(task.message_id, "task", task.requester, what, asked, task.created_at, href, task, rank, task.deadline, moves_of(task))


async def _consent(office: PostOffice, caller: Caller) -> Sequence[Need]:
    page = await office.connections(caller, Status.PENDING, limit=_READ, everyone=caller.owner)
    mine = caller.name.lower()
    asked = [item for item in page.items if item.requester.lower() != mine]
    return [
        Need(
            item.id,
            "consent",
            item.requester,
            f"To write to {item.target}",
            item.note or "",
            item.created_at,
            "/page/connections",
            item,
            2,
        )
        for item in asked
    ]


async def _mail(office: PostOffice, caller: Caller) -> Sequence[Need]:
    page = await office.inbox(caller, limit=_READ, unread_only=True, lines=1)
    found = []
    for thread in page.items:
        if not thread.lines or thread.lines[0].message.type in ("task", "question"):
            continue
        message = thread.lines[0].message
        text = text_of(message)[:_TEXT_CHARACTERS]
        rank = 0 if message.priority == 1 else 4
        href = f"/page/thread/{thread.id}#latest"
        found.append(Need(thread.id, "mail", thread.other, thread.subject or "no subject", text, message.created_at, href, thread, rank))
    return found


async def _dead(office: PostOffice, caller: Caller) -> Sequence[Need]:
    page = await office.dead_letters(caller, None, _READ, everyone=caller.owner)
    return [
        Need(
            f"{item.message.id}-{item.standing.recipient}",
            "stuck",
            item.message.sender,
            f"{item.message.subject or 'A letter'} did not reach {item.standing.recipient}",
            item.standing.reason or "",
            item.standing.settled_at or item.message.created_at,
            f"/page/letter/{item.message.id}",
            item,
            6,
        )
        for item in page.items
        if item.standing.reason != CANCELED  # it is over: whoever sent it wanted it so
    ]
