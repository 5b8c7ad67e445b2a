"""Writing, as a person: a letter, a task, or an answer. People are agents too."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from hashlib import blake2b
from http import HTTPStatus
from typing import NamedTuple

from starlette.responses import Response

from postoffice.core.draft import Draft
from postoffice.core.errors import IdConflict, Invalid, NoSuchMessage
from postoffice.core.mailing_list import Place
from postoffice.core.message import TASK, Accepted, TaskRef
from postoffice.core.names import EVERYONE, OWNER, SYSTEM, folded, is_list
from postoffice.core.session import Thread
from postoffice.core.views import Seat
from postoffice.doors.moments import now
from postoffice.doors.page.files import carried
from postoffice.doors.page.look import Look
from postoffice.doors.page.mine import answered as done_by_answer
from postoffice.doors.page.names import Known, doubts

_DUE = {"1h": timedelta(hours=1), "4h": timedelta(hours=4), "1d": timedelta(days=1), "1w": timedelta(weeks=1)}
_AGENTS = 200
_FIELDS = ("to", "subject", "as", "kind", "due", "content", "deliver_at", "expires_at")
_JOIN = ">"  # no name contains it


class Way(NamedTuple):
    """One way that an answer may go: from whom, to whom."""

    sender: str
    recipient: str
    inside: bool
    """Whether it stays in the conversation it answers."""

    @property
    def value(self) -> str:
        """The way as a value in a form."""
        return f"{self.sender}{_JOIN}{self.recipient}"


async def compose(look: Look) -> Response:
    """An empty form."""
    return await _sheet(look, {name: look.asked(name) or "" for name in _FIELDS})


async def _sheet(look: Look, given: dict[str, str], status: int = HTTPStatus.OK, doubtful: Sequence[Known] = ()) -> Response:
    agents: tuple[Seat, ...] = ()
    if look.caller.owner:
        agents = (await look.office.roster(look.caller, limit=_AGENTS)).items
    names = await look.office.names("", _AGENTS)
    lists = (await look.office.lists.all(look.caller, limit=_AGENTS)).items
    voices = [look.caller.name, *(seat.name for seat in agents if not seat.has_key)]
    once = given.get("once") or look.once()
    return await look.show("compose.html", status, names=names, lists=lists, voices=voices, given=given, once=once, doubtful=doubtful)


async def send(look: Look) -> Response:
    """Send a letter and show it. First ask about an unknown name, as it may be mistyped."""
    form = await look.form()
    to = _addressed(form.get("to", ""))
    doubtful = await doubts(look, (to,) if isinstance(to, str) else to)
    if doubtful and form.get("new") != _joined(doubtful):
        return await _sheet(look, dict.fromkeys(_FIELDS, "") | form, HTTPStatus.UNPROCESSABLE_ENTITY, doubtful)
    voice = await look.office.speak_as(look.caller, form.get("as") or None)
    task = form.get("kind") == TASK
    due = _DUE.get(form.get("due", ""))
    brought = await carried(look, voice, await look.picked("attachment"))
    draft = Draft(
        to=to,
        attachments=brought,
        subject=form.get("subject") or None,
        content=form["content"] if brought and not form.get("content", "").strip() else _said(form),
        type=TASK if task else "message",
        task=TaskRef(deadline=now() + due) if task and due is not None else None,
        deliver_at=_time(form, "deliver_at"),
        expires_at=_time(form, "expires_at"),
        client_id=_id(form),
    )
    try:
        accepted = await look.office.send(voice, draft)
    except IdConflict:  # the same form was sent twice: only its deadline differs, which counts from now
        sent = await look.office.status(voice, draft.client_id or "")
        return look.to(f"/page/letter/{sent.message_id}", {"said": "sent"})
    if accepted.session_id is not None and (len(accepted.posted) == 1 or await _reads(look, accepted)):
        return look.to(f"/page/thread/{accepted.session_id}", {"said": "sent"}, "#latest")
    return look.to(f"/page/letter/{accepted.message_id}", {"said": "sent"})


async def _reads(look: Look, accepted: Accepted) -> bool:
    """Whether it went to a list whose conversation is open to whoever looks."""
    if accepted.to_list is None:
        return False
    return look.caller.owner or (await look.office.lists.show(look.caller, accepted.to_list.name)).you is Place.MEMBER


async def reply(look: Look) -> Response:
    """Answer in a conversation. The owner, who is not in it, writes to one of the two under the same subject, in a session of their own."""
    form = await look.form()
    thread = await look.office.history(look.caller, look.part("session"), limit=1, peek=True)
    way = next((way for way in await ways(look, thread) if way.value == form.get("way")), None)
    if way is None:
        raise Invalid(what="way", why="no answer can go that way; open the conversation again")
    voice = await look.office.speak_as(look.caller, way.sender)
    answered = form.get("reply_to") or None
    accepted = await look.office.send(
        voice,
        Draft(
            to=way.recipient,
            content=_said(form),
            subject=None if way.inside else thread.subject,
            session_id=thread.id if way.inside else None,
            correlation_id=await _mark(look, way, answered),
            reply_to=answered,
            answers_elsewhere=not way.inside or is_list(way.recipient),
            client_id=_id(form),
        ),
    )
    if way.inside and folded(way.sender) == folded(look.caller.name):
        await done_by_answer(look.office, look.caller, await look.office.history(look.caller, thread.id, limit=_AGENTS, peek=True))
    # An owner's aside has the same subject and is shown in the conversation it is about.
    here = thread.id if thread.subject else accepted.session_id
    return look.to(f"/page/thread/{here}", {"said": "sent", "of": look.asked("of")}, "#latest")


async def ways(look: Look, thread: Thread) -> list[Way]:
    """The ways an answer can go in this conversation, the likeliest first."""
    if is_list(thread.other):
        return [Way(look.caller.name, thread.other, inside=True), *_to_author(look, thread)]
    members = [name for name in (thread.reader, thread.other) if name]
    if not look.caller.owner:
        return [] if folded(thread.other) == SYSTEM else [Way(look.caller.name, thread.other, inside=True)]
    latest = folded(thread.lines[0].message.sender) if thread.lines else ""
    members.sort(key=lambda name: folded(name) != latest)
    others = [name for name in members if folded(name) not in (SYSTEM, OWNER)]
    mine = len(others) < len(members) and OWNER in map(folded, members)
    found_ways = [Way(OWNER, name, inside=mine) for name in others]
    if not mine and len(others) == len(members):
        for speaker, hearer in (members, reversed(members)):
            if not (await look.office.agent(speaker)).has_key:
                found_ways.append(Way(speaker, hearer, inside=True))
    return found_ways


def _to_author(look: Look, thread: Thread) -> list[Way]:
    """Of a list's letters the last is also answered to its author alone."""
    authors = [line.message.sender for line in thread.lines[:1] if folded(line.message.sender) != folded(look.caller.name)]
    return [Way(look.caller.name, author, inside=False) for author in authors if folded(author) not in (SYSTEM, OWNER)]


async def _mark(look: Look, way: Way, answered: str | None) -> str | None:
    """The mark of the answered letter, even if more was said since: its writer may be waiting for an answer with that mark."""
    if answered is not None and way.inside:
        with suppress(NoSuchMessage):
            message = (await look.office.status(look.caller, answered)).message
            if message is not None and folded(message.sender) == folded(way.recipient):
                return message.correlation_id
    return None


def _joined(doubtful: Sequence[Known]) -> str:
    return ", ".join(one.name for one in doubtful)


def _id(form: dict[str, str]) -> str | None:
    """An id made from the form's content: sent twice it is one letter; changed and sent again it is another."""
    if not form.get("once"):
        return None
    fields = sorted((name, value) for name, value in form.items() if name != "new")
    return f"{form['once']}-{blake2b(repr(fields).encode(), digest_size=8).hexdigest()}"


def _addressed(text: str) -> str | tuple[str, ...]:
    names = tuple(name for part in text.split(",") if (name := part.strip()))
    if not names:
        raise Invalid(what="to", why="it is empty; give an agent, several with commas between them, or ALL")
    return EVERYONE if names == (EVERYONE,) else names[0] if len(names) == 1 else names


def _time(form: dict[str, str], name: str) -> datetime | None:
    """A time in a form. Scripts send it in UTC; without scripts it is read by the office's clock."""
    try:
        return datetime.fromisoformat(form[name]).astimezone() if form.get(name) else None
    except ValueError:
        raise Invalid(what=name, why=f"{form[name]!r} is no time") from None


def _said(form: dict[str, str]) -> str:
    if not form.get("content", "").strip():
        raise Invalid(what="message", why="it is empty; write something")
    return form["content"].replace("\r\n", "\n")
