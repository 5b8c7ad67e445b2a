"""Conversations: a list, with one conversation beside it. Looking settles nothing."""

from typing import Any

import msgspec
from starlette.responses import PlainTextResponse, Response

from postoffice.core.agent import Key
from postoffice.core.delivery import WAITING
from postoffice.core.invisible import visible
from postoffice.core.letter import text_of
from postoffice.core.names import OWNER, folded
from postoffice.core.session import Line, Thread
from postoffice.core.talk import Aside
from postoffice.doors.moments import now
from postoffice.doors.page.compose import ways
from postoffice.doors.page.look import Look
from postoffice.doors.page.mine import waiting_in
from postoffice.doors.page.transcript import entries

_THREADS_SHOWN = 40
_LINES_SHOWN = 20
_LETTERS_SHOWN = 60
"""The most letters shown of all that two agents said to each other."""
_MAILBOXES_SHOWN = 200


async def mail(look: Look) -> Response:
    """A mailbox's threads. The owner sees everyone's unless they choose a mailbox."""
    return await _shown(look)


async def thread(look: Look) -> Response:
    """One conversation: its newest part, the part before a message, or the part that ends with a message."""
    before, at = look.asked("before"), look.asked("at")
    # Mail that a person opens in their own mailbox becomes seen, unless the tab is in the background. Others' mail never changes.
    looked = not look.fragments or "thread" in look.fragments
    seen = looked and await look.office.is_person(look.caller)
    shown = await look.office.history(look.caller, look.part("session"), before=before, limit=_LINES_SHOWN, peek=not seen)
    if at is not None and at in [line.message.id for line in shown.lines]:
        # Not this letter's own address: the reader would stay there and miss new letters once enough has followed.
        return look.to(look.request.url.path, {**look.request.query_params, "at": None}, f"#m-{at}")
    if at is not None:
        before, shown = at, await _up_to(look, at)
    return await _shown(
        look,
        thread=shown,
        entries=entries(shown.lines, await _asides(look, shown), newest=before is None),
        earlier=shown.lines[-1].message.id if len(shown.lines) == _LINES_SHOWN and shown.lines[-1].number > 1 else None,
        newest=before is None,
        ways=await ways(look, shown),
        once=look.once(),
        sides=_sides(shown),
        waits=bool(waiting_in(look.caller, shown)) and await look.office.is_person(look.caller),
    )


async def between(look: Look) -> Response:
    """All that two agents said to each other, on any subject."""
    one = (await look.office.agent(look.part("one"))).name
    other = (await look.office.agent(look.part("other"))).name
    lines = await look.office.between(look.caller, one, other, limit=_LETTERS_SHOWN)
    sides = {folded(name): name for name in (one, other)}
    return await _shown(look, pair=(one, other), entries=entries((), lines), sides=sides)


async def letter(look: Look) -> Response:
    """One message, with its standing with each recipient."""
    proof = await look.office.status(look.caller, look.part("id"))
    me = folded(look.caller.name)
    if any(folded(one.recipient) == me and one.state in WAITING for one in proof.standings) and await look.office.is_person(look.caller):
        await look.office.all_seen(look.caller, [proof.message_id])
    return await _shown(look, proof=proof)


async def cancel(look: Look) -> Response:
    """Take back what nobody has taken."""
    id, _ = await look.office.cancel(look.caller, look.part("id"))
    return look.to(f"/page/letter/{id}", {"said": "takenback"})


async def text(look: Look) -> Response:
    """A message's whole text, plain."""
    proof = await look.office.status(look.caller, look.part("id"))
    return PlainTextResponse("" if proof.message is None else visible(text_of(proof.message)))


async def _shown(look: Look, **facts: Any) -> Response:
    return await look.show("mail.html", **{"thread": None, "proof": None, "pair": None} | facts | await _list(look))


async def _up_to(look: Look, id: str) -> Thread:
    """The part of a conversation that ends with this message, if the newest part does not show it."""
    thread = await look.office.history(look.caller, look.part("session"), before=id, limit=_LINES_SHOWN - 1, peek=True)
    proof = await look.office.status(look.caller, id)
    standing = next((standing for standing in proof.standings if standing.session_id == thread.id), None)
    if proof.message is None or standing is None:
        return thread  # forgotten meanwhile
    number = thread.lines[0].number + 1 if thread.lines else 1
    line = Line(message=proof.message, to=folded(standing.recipient), state=standing.state, number=number, standing=standing)
    return msgspec.structs.replace(thread, lines=(line, *thread.lines))


async def _asides(look: Look, thread: Thread) -> tuple[Aside, ...]:
    """The owner's asides to the two of this conversation, which are shown in it."""
    members = [name for name in (thread.reader, thread.other) if name]
    if not look.caller.owner or not thread.subject or OWNER in map(folded, members):
        return ()
    pages = [await look.office.between(look.caller, OWNER, name, thread.subject, _LINES_SHOWN) for name in members]
    return tuple(aside for asides in pages for aside in asides)


async def _list(look: Look) -> dict[str, Any]:
    office, caller = look.office, look.caller
    of, unread, cursor = look.asked("of"), look.asked("unread"), look.asked("cursor")
    facts: dict[str, Any] = {
        "of": of,
        "unread": unread,
        "talks": None,
        "threads": None,
        "agent": None,
        "mailboxes": (),
        "mine": False,
        "keys": (),
    }
    if caller.owner:
        facts["mailboxes"] = (await office.roster(caller, limit=_MAILBOXES_SHOWN)).items
        facts["own"] = await office.counts(caller)
    if caller.owner and of is None:
        facts["talks"] = await office.talks(caller, cursor, _THREADS_SHOWN, waiting_only=unread is not None)
    else:
        facts["threads"] = await office.inbox(caller, cursor, _THREADS_SHOWN, unread_only=unread is not None, lines=1, of=of)
        facts["agent"] = await office.agent(of or caller.name)
        facts["keys"] = await _keys(look, of) if caller.owner and of is not None else ()
        facts["mine"] = folded(of or caller.name) == folded(caller.name) and await office.is_person(caller)
    return facts


async def _keys(look: Look, name: str) -> list[Key]:
    """An agent's keys that are still valid."""
    keys = await look.office.keys(look.caller, of=name) if folded(name) != OWNER else ()
    return [key for key in keys if key.revoked_at is None and (key.expires_at is None or key.expires_at > now())]


def _sides(thread: Thread) -> dict[str, str]:
    """The two names as written, by their folded form."""
    return {folded(name): name for name in (thread.reader or OWNER, thread.other)}
