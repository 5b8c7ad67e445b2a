"""Single messages at work: where one stands, finding one, and passing one on."""

from datetime import datetime

from postoffice.core.delivery import OnLedger, Rings, Standing
from postoffice.core.draft import Draft
from postoffice.core.fence import Fence
from postoffice.core.letter import Letter, letter
from postoffice.core.tools import messages
from postoffice.doors.mcp.request import McpRequest
from postoffice.doors.mcp.tools.receipt import Receipt, receipt
from postoffice.doors.mcp.tools.result import Result
from postoffice.doors.mcp.tools.verb import Verb
from postoffice.doors.moments import now


class Whereabouts(Result, frozen=True, kw_only=True):
    """Where a message stands with everyone it went to."""

    message_id: str
    standings: tuple[Standing, ...]
    purged_at: datetime | None

    def text(self) -> str:
        if self.purged_at is not None:
            return f"{self.message_id} was purged at {self.purged_at:%Y-%m-%d %H:%M} UTC."
        fence, lines = Fence(now()), [f"{self.message_id}:"]
        for item in self.standings:
            lines.append(
                f"{item.recipient}: {item.in_words}, {item.attempts} {'try' if item.attempts == 1 else 'tries'}{_rung(item)}{_on_ledger(item)}"
            )
            if item.reason:
                lines.append(fence.words(item.recipient, item.reason))
            if isinstance(item.ledger, OnLedger) and item.ledger.trouble:
                lines.append(fence.words("the ledger", item.ledger.trouble))
        return "\n".join(lines)


def _rung(item: Standing) -> str:
    """Rung, turn begun and taken are three things."""
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
    proof = await request.office.status(await request.caller(given.agent_id), given.message_id)
    return Whereabouts(message_id=proof.message_id, standings=proof.standings, purged_at=proof.purged_at)


class Hits(Result, frozen=True, kw_only=True):
    """The messages that a search has met."""

    messages: tuple[Letter, ...]

    def text(self) -> str:
        return Fence(now()).around(self.messages) if self.messages else "Nothing found."


async def search(request: McpRequest, given: messages.Search) -> Hits:
    """Messages by their words."""
    page = await request.office.search(await request.caller(given.agent_id), given.query, limit=given.limit)
    return Hits(messages=tuple(letter(hit.message) for hit in page.items))


async def forward(request: McpRequest, given: messages.Forward) -> Receipt:
    """Pass a message on."""
    me = await request.caller(given.agent_id)
    draft = Draft(to=given.to, content=given.content or None, forward_of=given.message_id, client_id=given.id)
    return receipt(await request.office.send(me, draft))


VERBS = (Verb(messages.STATUS, status, Whereabouts), Verb(messages.SEARCH, search, Hits), Verb(messages.FORWARD, forward, Receipt))
