"""What waits for a person, as the page shows it: the office's ranked list, with what each row's buttons need."""

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from postoffice.core.agent import Caller
from postoffice.core.connection import Status
from postoffice.core.for_you import Matter, MatterKind
from postoffice.core.letter import text_of
from postoffice.core.task import Task, TaskState
from postoffice.doors.moments import now
from postoffice.doors.page.questions import talk_of
from postoffice.office import PostOffice

_MATTERS_READ = 100
"""More than anybody reads at once."""
_DUE_SOON_WITHIN = timedelta(hours=1)
_ONE_LINE_CHARACTERS = 160
"""A question up to this length without a subject is its own title."""
_NEXT = {
    TaskState.PENDING: (TaskState.ACCEPTED, TaskState.REJECTED),
    TaskState.ACCEPTED: (TaskState.WORKING, TaskState.FAILED),
    TaskState.WORKING: (TaskState.COMPLETED, TaskState.FAILED),
}
_KINDS = {"held": "stuck", "webhook": "stuck", "notify": "stuck", "dead": "stuck", "silent": "stuck"}
"""The kinds as notifications name them: all that is stuck is one kind."""


_Behind = tuple[Any, str, str | None]
"""The thing itself, its text, and the session it is about."""
_NOTHING: _Behind = (None, "", None)


class Need(NamedTuple):
    """One thing that waits for a person."""

    matter: Matter
    what: str
    text: str
    thing: Any = None
    """The question, task or request itself."""
    talk: str | None = None
    """The session that the office's own question is about."""

    @property
    def key(self) -> str:
        """The row's key. A message id is not enough, as a letter may be dead in several mailboxes."""
        return f"{self.matter.id}-{self.matter.whom}" if self.matter.kind is MatterKind.DEAD else self.matter.id

    @property
    def kind(self) -> str:
        """`question`, `task`, `consent`, `mail` or `stuck`."""
        return _KINDS.get(self.matter.kind, str(self.matter.kind))

    @property
    def href(self) -> str:
        """The address that shows it whole."""
        match self.matter:
            case Matter(kind=MatterKind.QUESTION):
                return f"/page/question/{self.matter.id}"
            case Matter(kind=MatterKind.CONSENT):
                return "/page/connections"
            case Matter(kind=MatterKind.WEBHOOK):
                return "/page/webhooks"
            case Matter(kind=MatterKind.NOTIFY):
                return "/page/settings#away"
            case Matter(kind=MatterKind.MAIL | MatterKind.HELD, session_id=str() as session):
                return f"/page/thread/{session}#latest"
            case _:
                return f"/page/letter/{self.matter.id}"

    @property
    def due(self) -> datetime | None:
        """Its deadline. A connection request merely expires, so it has none."""
        return None if self.matter.kind is MatterKind.CONSENT else self.matter.due

    @property
    def late(self) -> bool:
        """Whether its deadline has passed."""
        return self.due is not None and self.due <= now()

    @property
    def soon(self) -> bool:
        """Whether its deadline is near."""
        return self.due is not None and self.due - now() < _DUE_SOON_WITHIN


def moves_of(task: Task) -> tuple[TaskState, ...]:
    """The states its assignee may move it to."""
    return _NEXT.get(task.state, ())


async def needs(office: PostOffice, caller: Caller) -> tuple[list[Need], int]:
    """What waits for the visitor, the most pressing first, and its number in all."""
    waiting = await office.for_you(caller, _MATTERS_READ)
    things = await _things(office, caller, waiting.matters)
    shown = [_need(matter, *things.get((matter.kind, matter.id), _NOTHING)) for matter in waiting.matters]
    # Among rows of one rank, those with an end come first.
    return sorted(shown, key=lambda need: (need.matter.rank, need.due is None, need.due or need.matter.since)), waiting.count


async def _things(office: PostOffice, caller: Caller, matters: tuple[Matter, ...]) -> dict[tuple[MatterKind, str], _Behind]:
    """Load what rows need and the list does not have."""
    kinds = {matter.kind for matter in matters}
    things: dict[tuple[MatterKind, str], _Behind] = {}
    if MatterKind.QUESTION in kinds:
        questions = (await office.questions(caller, limit=_MATTERS_READ)).items
        for asked in questions:
            things[MatterKind.QUESTION, asked.id] = asked, asked.content, await talk_of(office, caller, asked)
    if MatterKind.CONSENT in kinds:
        requests = (await office.connections(caller, Status.PENDING, limit=_MATTERS_READ, everyone=caller.owner)).items
        things |= {(MatterKind.CONSENT, item.id): (item, item.note or "", None) for item in requests}
    for matter in matters:
        if matter.kind is MatterKind.TASK:
            message = (await office.status(caller, matter.id)).message
            things[matter.kind, matter.id] = await office.task(caller, matter.id), "" if message is None else text_of(message), None
    return things


def _need(matter: Matter, thing: Any, words: str, talk: str | None) -> Need:
    text = words or matter.text
    match matter.kind:
        case MatterKind.QUESTION if not matter.what or matter.what.strip() == text.strip():
            short = len(text) <= _ONE_LINE_CHARACTERS and "\n" not in text.strip()
            return Need(matter, text if short else "A question", "" if short else text, thing, talk)
        case MatterKind.HELD:
            return Need(matter, f"What {matter.who if matter.whom is None else f'{matter.who} and {matter.whom}'} said", text)
        case MatterKind.CONSENT:
            return Need(matter, f"To write to {matter.whom}", text, thing)
        case MatterKind.DEAD:
            return Need(matter, f"{matter.what or 'A letter'} did not reach {matter.whom}", text, thing)
        case MatterKind.SILENT:
            return Need(matter, f"{matter.what or 'A letter'} by {matter.whom} still waits", text, thing)
        case _:
            return Need(matter, matter.what or "No subject", text, thing, talk)
