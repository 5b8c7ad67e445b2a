"""Search by words and filters. Everything is in the address."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from markupsafe import Markup, escape
from starlette.responses import Response

from postoffice.core.delivery import State
from postoffice.core.errors import Invalid
from postoffice.core.invisible import visible
from postoffice.core.message import Message
from postoffice.core.query import WHAT_TO_ASK, Term, read_query, words_of
from postoffice.core.views import Found
from postoffice.doors.page.look import Look
from postoffice.doors.page.stationery import plainly

FILTERS = ("q", "sender", "recipient", "type", "state", "since", "until")
_HITS_SHOWN = 30
_PAGES_READ = 20
"""So many of the hits are searched for a state."""
_EVER = datetime(1970, 1, 1, tzinfo=UTC)
_STATES = {
    "waiting": (State.PENDING, State.HELD),
    "unread": (State.PENDING,),
    "in-hand": (State.LEASED,),
    "acked": (State.ACKED,),
    "done": (State.ACKED,),
    "dead": (State.DEAD,),
}
"""The states for `is:`, besides `is:task`."""
_WORD = re.compile(r'(?<!\S)(is|type):("[^"]*"|\S+)', re.IGNORECASE)
_RUN = re.compile(r"\S+")


class Hit(NamedTuple):
    """A hit, and its state."""

    message: Message
    subject: Markup
    excerpt: Markup
    waiting: bool
    leased: bool
    dead: bool


async def search(look: Look) -> Response:
    """The hits; without words and filters, only the form."""
    filters = {name: look.asked(name) for name in FILTERS}
    text, typed = _apart(filters["q"] or "")
    kind, state = filters["type"] or typed.get("type"), filters["state"] or typed.get("is")
    if state == "task":
        kind, state = "task", None
    if state is not None and state not in _STATES:
        raise Invalid(what="is:", why=f"{state!r} is no state; there are task, {', '.join(_STATES)}")
    has_filters = any(value is not None for value in filters.values())
    terms = read_query(text).terms
    people = (filters["sender"], filters["recipient"])
    since, until = _day("since", filters["since"]), _day("until", filters["until"], after=timedelta(days=1))
    if state is not None and not (text or kind or since or until or any(people)):
        since = _EVER  # a state alone searches all mail
    hits: list[Hit] = []
    cursor = look.asked("cursor")
    for _ in range(_PAGES_READ if has_filters else 0):
        page = await look.office.search(
            look.caller,
            text,
            sender=people[0],
            recipient=people[1],
            type=kind,
            since=since,
            until=until,
            cursor=cursor,
            limit=_HITS_SHOWN,
            everyone=look.caller.owner,
        )
        hits += [hit for item in page.items if (hit := await _hit(look, item, terms, state))]
        cursor = page.cursor
        if cursor is None or len(hits) >= _HITS_SHOWN or state is None:
            break
    filtered = any(filters[name] for name in FILTERS[1:])
    facts: dict[str, Any] = {
        "given": filters,
        "hits": hits,
        "cursor_on": cursor if has_filters else None,
        "filtered": filtered,
        "asked": has_filters,
        "states": list(_STATES),
    }
    return await look.show("search.html", what_to_ask=f"{WHAT_TO_ASK} type:task, is:dead.", **facts)


def _apart(text: str) -> tuple[str, dict[str, str]]:
    """Split a query into the part for the office and the filters that this page handles itself."""
    typed = {word[1].lower(): word[2].strip('"').lower() for word in _WORD.finditer(text)}
    return " ".join(_WORD.sub(" ", text).split()), typed


async def _hit(look: Look, item: Found, terms: Sequence[Term], state: str | None) -> Hit | None:
    """A hit, if it is in the wanted state."""
    states = [standing.state for standing in (await look.office.status(look.caller, item.message.id)).standings]
    if state is not None and not any(one in _STATES[state] for one in states):
        return None
    subject = item.message.subject or ""
    excerpt = item.excerpt.removeprefix(subject).lstrip() if subject else item.excerpt
    waits = any(one in _STATES["waiting"] for one in states)
    return Hit(item.message, marked(subject, terms), marked(plainly(excerpt), terms), waits, State.LEASED in states, State.DEAD in states)


def marked(text: str, terms: Sequence[Term]) -> Markup:
    """A text with the searched words marked."""

    def mark(run: re.Match[str]) -> str:
        shown = escape(run[0])
        return Markup("<mark>{}</mark>").format(shown) if any(_begins(term, run[0]) for term in terms) else shown

    return Markup(_RUN.sub(mark, visible(text)))  # noqa: S704 - each run is escaped, and between them is space


def _begins(term: Term, run: str) -> bool:
    last = len(term.words) - 1
    return any(
        word == wanted or (term.prefix and place == last and word.startswith(wanted))
        for place, wanted in enumerate(term.words)
        for word in words_of(run)
    )


def _day(what: str, text: str | None, after: timedelta = timedelta(0)) -> datetime | None:
    if text is None:
        return None
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC) + after
    except (ValueError, OverflowError):
        raise Invalid(what=what, why=f"{text!r} is not a day; write 2026-02-28") from None
