"""The tools for single messages: where one stands, finding one, and passing one on."""

from datetime import datetime
from typing import ClassVar

import msgspec

from postoffice.core.delivery import OnLedger, Rings, Standing
from postoffice.core.draft import Draft
from postoffice.core.letter import Letter, letter
from postoffice.core.tokens import about_tokens
from postoffice.core.tools import messages
from postoffice.doors.mcp.request import McpRequest
from postoffice.doors.mcp.tools.reading import ANSWER_TOKENS, Readable, beginning, ids_in, shorten
from postoffice.doors.mcp.tools.receipt import Confirmed, confirmed
from postoffice.doors.mcp.tools.verb import Verb

_STANDINGS_READ = 60
"""A model is shown at most so many recipients at once."""
_FOUND_TOKENS, _GIST_TOKENS, _HEADING_TOKENS = 600, 12, 70
"""The most and the least tokens shown of a message, and the room for the text around it."""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where a message stands with everyone it went to."""

    message_id: str
    standings: tuple[Standing, ...]
    purged_at: datetime | None


class Whereabouts(Readable, frozen=True, kw_only=True):
    """The same to be read."""

    shape: ClassVar = Place
    place: Place

    def bare(self) -> Place:
        return self.place

    def text(self) -> str:
        place, id = self.place, self.id(self.place.message_id)
        if place.purged_at is not None:
            return f"{id} was purged at {place.purged_at:%Y-%m-%d %H:%M} UTC."
        fence, lines = self.fence(), [f"{id}:"]
        shown = place.standings[:_STANDINGS_READ] if self.in_text else place.standings
        for item in shown:
            lines.append(
                f"{item.recipient}: {item.in_words}, {item.attempts} {'try' if item.attempts == 1 else 'tries'}{_rung(item)}{_on_ledger(item)}"
            )
            if item.reason:
                lines.append(fence.words(item.recipient, item.reason))
            if isinstance(item.ledger, OnLedger) and item.ledger.trouble:
                lines.append(fence.words("the ledger", item.ledger.trouble))
        if hidden := len(place.standings) - len(shown):
            lines.append(f"And {hidden} more recipients.")
        return "\n".join(lines)


def _rung(item: Standing) -> str:
    """How often it was rung for. Rung, turn begun and taken are three things."""
    rings = item.rung
    if not isinstance(rings, Rings):
        return ""
    turn = f", a turn began at {rings.turn_at:%H:%M:%S}" if rings.turn_at else ""
    return f"; rung {rings.times} times, last at {rings.last_at:%Y-%m-%d %H:%M:%S} UTC{turn}"


def _on_ledger(item: Standing) -> str:
    place = item.ledger
    if not isinstance(place, OnLedger):
        return ""
    if place.sequence is not None:
        return f"; on the ledger: topic {place.topic_id}, message {place.sequence}, at {place.consensus_at}"
    return f"; for topic {place.topic_id}"


async def status(request: McpRequest, given: messages.Status) -> Whereabouts:
    """Where a message stands."""
    me = await request.caller(given.agent_id)
    proof = await request.office.status(me, given.message_id)
    place = Place(message_id=proof.message_id, standings=proof.standings, purged_at=proof.purged_at)
    short = await shorten(request, me, [proof.message_id]) if request.in_text else {}
    return Whereabouts(place=place, short=short, in_text=request.in_text)


class Hits(msgspec.Struct, frozen=True, kw_only=True):
    """The messages that a search returned."""

    messages: tuple[Letter, ...]


class Found(Readable, frozen=True, kw_only=True):
    """The same to be read."""

    shape: ClassVar = Hits
    hits: Hits

    def bare(self) -> Hits:
        return self.hits

    def text(self) -> str:
        messages, marks = self.hits.messages, self.fence()
        if not messages:
            return "Nothing found."
        if not self.in_text:
            return marks.around(messages)
        each = max(_GIST_TOKENS, min(_FOUND_TOKENS, ANSWER_TOKENS // len(messages) - _HEADING_TOKENS))
        lines, left = list[str](), ANSWER_TOKENS
        for item in messages:
            line = beginning(marks, item, each)
            left -= about_tokens(line)
            if left < 0:
                lines.append(f"And {len(messages) - len(lines)} more: other words narrow it down.")
                break
            lines.append(line)
        return "\n".join(lines)


async def search(request: McpRequest, given: messages.Search) -> Found:
    """Messages by their words."""
    me = await request.caller(given.agent_id)
    page = await request.office.search(me, given.query, limit=given.limit)
    hits = Hits(messages=tuple(letter(hit.message) for hit in page.items))
    short = await shorten(request, me, ids_in(hits.messages)) if request.in_text else {}
    return Found(hits=hits, short=short, in_text=request.in_text)


async def forward(request: McpRequest, given: messages.Forward) -> Confirmed:
    """Pass a message on."""
    me = await request.caller(given.agent_id)
    draft = Draft(to=given.to, content=given.content or None, forward_of=given.message_id, client_id=given.id)
    return await confirmed(request, me, await request.office.send(me, draft))


VERBS = (Verb(messages.STATUS, status, Whereabouts), Verb(messages.SEARCH, search, Found), Verb(messages.FORWARD, forward, Confirmed))
