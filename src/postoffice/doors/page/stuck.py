"""What is stuck, and why: tasks past their deadline, mail that waits longer than is its reader's custom, and dead letters."""

from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple

from markupsafe import Markup

from postoffice.core.task import TaskState
from postoffice.core.views import DeadLetter, Seat
from postoffice.doors.page.look import Look
from postoffice.doors.page.tasks import Card, card
from postoffice.doors.page.times import since, usual, when

_TASKS = 50
_DEAD = 5
_SHOWN = 8


class Stuck(NamedTuple):
    """One thing that is stuck."""

    key: str
    href: str
    what: str
    why: str
    how_long: Markup


class AllStuck(NamedTuple):
    """All that is stuck, the most pressing first."""

    shown: list[Stuck]
    left_out: int
    tasks: int
    more_tasks: bool
    """Whether there are more open tasks than were read."""


async def all_stuck(look: Look, late: Sequence[tuple[Seat, timedelta | None]]) -> AllStuck:
    """First what is past a deadline, then what waits too long, then what is dead, then tasks without any news."""
    cards, more = await _cards(look)
    dead = (await look.office.dead_letters(look.caller, None, _DEAD, everyone=look.caller.owner)).items
    stuck = [_task(one) for one in cards if one.late]
    stuck += [_late(seat, custom) for seat, custom in late]
    stuck += [_dead(one) for one in dead]
    stuck += [_task(one) for one in cards if not one.late]
    return AllStuck(stuck[:_SHOWN], max(len(stuck) - _SHOWN, 0), len(cards), more)


async def _cards(look: Look) -> tuple[list[Card], bool]:
    """The stuck ones among the longest open tasks, and whether there are more open tasks."""
    stuck: list[Card] = []
    more = False
    for state in (TaskState.PENDING, TaskState.ACCEPTED, TaskState.WORKING):
        page = await look.office.open_tasks(look.caller, state, limit=_TASKS)
        stuck += [shown for task in page.items if (shown := card(task)).stuck]
        more = more or page.cursor is not None
    return stuck, more


def _task(shown: Card) -> Stuck:
    task = shown.task
    what = f"{task.requester} asks {task.assignee}: {task.subject or task.id}"
    return Stuck(f"task-{task.message_id}", f"/page/letter/{task.message_id}", what, shown.stuck, when(task.created_at))


def _late(seat: Seat, custom: timedelta | None) -> Stuck:
    letters = "1 letter waits" if seat.unread == 1 else f"{seat.unread:,} letters wait"
    why = "longer than its mail usually waits" + ("" if custom is None else f" ({usual(custom)})")
    return Stuck(f"late-{seat.name}", f"/page/mail?of={seat.name}", f"{letters} for {seat.name}", why, since(seat.oldest_waiting))


def _dead(letter: DeadLetter) -> Stuck:
    message, standing = letter.message, letter.standing
    what = f"{message.sender} wrote to {standing.recipient}: {message.subject or 'no subject'}"
    key = f"dead-{message.id}-{standing.recipient}"
    return Stuck(key, f"/page/letter/{message.id}", what, f"dead: {standing.reason or 'no reason given'}", when(standing.settled_at))
