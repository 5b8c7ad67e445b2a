"""A person's own mail. Opened mail is seen; then it is answered, done, kept unread, or snoozed."""

from datetime import UTC, datetime, timedelta, timezone

from starlette.responses import Response

from postoffice.core.agent import Caller
from postoffice.core.delivery import WAITING
from postoffice.core.errors import Invalid, NoSuchPath
from postoffice.core.message import TASK, Message
from postoffice.core.names import folded
from postoffice.core.session import Thread
from postoffice.doors.moments import now
from postoffice.doors.page.look import Look
from postoffice.office import PostOffice

_LINES_READ = 100
_HOUR = timedelta(hours=1)
_MORNING_HOUR = 8
_WIDEST_MINUTES = 14 * 60
_SAID = {"done": "done", "unread": "kept", "hour": "snoozed", "tomorrow": "snoozed"}


async def conclude(look: Look) -> Response:
    """Finish what waits for the visitor in a thread, keep it unread, or snooze it."""
    act = look.part("act")
    thread = await look.office.history(look.caller, look.part("session"), limit=_LINES_READ, peek=True)
    for id in waiting_in(look.caller, thread):
        await finish_one(look, id, act)
    # Not back into the thread, where it would be seen again at once.
    return look.back("/page/mail", {"of": look.caller.name if look.caller.owner else None, "said": _SAID.get(act)})


async def conclude_many(look: Look) -> Response:
    """The same for several threads."""
    act = (await look.form()).get("act", "")
    ids = [
        id
        for session in await look.picked("pick")
        for id in waiting_in(look.caller, await look.office.history(look.caller, session, limit=_LINES_READ, peek=True))
    ]
    if not ids:
        raise Invalid(what="pick", why="nothing waits for you in what was picked")
    for id in ids:
        await finish_one(look, id, act)
    return look.to("/page/mail", {"of": look.caller.name if look.caller.owner else None, "said": _SAID.get(act)})


async def conclude_one(look: Look) -> Response:
    """The same for one letter, question or task in the list *For you*."""
    act = look.part("act")
    await finish_one(look, look.part("id"), act)
    return look.to("/", {"said": _SAID[act]})


async def finish_one(look: Look, id: str, act: str) -> None:
    """Finish one matter."""
    match act:
        case "done":
            await look.office.done(look.caller, id)
        case "unread":
            await look.office.keep_unread(look.caller, id)
        case "hour":
            await look.office.snooze(look.caller, id, _HOUR)
        case "tomorrow":
            await look.office.snooze(look.caller, id, until=morning(now(), (await look.form()).get("zone", "")))
        case _:
            raise NoSuchPath(path=look.request.url.path)


async def answered(office: PostOffice, caller: Caller, thread: Thread) -> None:
    """A person who answers in a thread has finished the letters in it."""
    if await office.is_person(caller):
        for id in waiting_in(caller, thread):
            await office.done(caller, id)


def waiting_in(caller: Caller, thread: Thread) -> list[str]:
    """The mail in a thread that waits for the visitor."""
    me = folded(caller.name)
    return [line.message.id for line in thread.lines if line.to == me and line.state in WAITING and plain(line.message)]


def plain(message: Message) -> bool:
    """Whether it is a plain letter. Tasks and questions are finished in their own way."""
    return message.type != TASK and message.ask is None


def morning(at: datetime, zone: str) -> datetime:
    """The next morning at the reader's place, by their clock's offset from UTC in minutes; without one, at the office's."""
    minutes = int(zone) if zone.removeprefix("-").isdecimal() and zone.isascii() else None
    plausible = minutes is not None and abs(minutes) <= _WIDEST_MINUTES
    here = at.astimezone(timezone(timedelta(minutes=minutes or 0)) if plausible else None)
    return (here + timedelta(days=1)).replace(hour=_MORNING_HOUR, minute=0, second=0, microsecond=0).astimezone(UTC)
