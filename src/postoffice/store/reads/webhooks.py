"""What a store can be asked about webhooks."""

from collections.abc import Sequence

import msgspec

from postoffice.acts.rows import Row, WebhookRow
from postoffice.core.clock import moment
from postoffice.core.event import Event, Kind
from postoffice.core.message import Message
from postoffice.core.names import folded
from postoffice.core.webhook import Outgoing, Shape, Webhook, WebhookState
from postoffice.store.engine import Engine

_message = msgspec.json.Decoder(Message).decode
_OWN_COLUMNS = 15


class WebhookReads:
    """Who is told of events, and what is on its way."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def page(self, name: str | None = None) -> tuple[Webhook, ...]:
        """All of them, or the one of that name."""
        return tuple(map(_webhook, await self._engine.fetch("webhooks", webhook=name)))

    async def active(self) -> tuple[WebhookRow, ...]:
        """Those that are told of events."""
        return tuple(WebhookRow(*row) for row in await self._engine.fetch("webhook_rows"))

    async def due(self, webhook: str, limit: int) -> tuple[Outgoing, ...]:
        """What is to be sent now, by the webhook's id."""
        rows = await self._engine.fetch("webhook_posts_due", webhook=webhook, limit=limit)
        return tuple(Outgoing(webhook=webhook, number=row[0], id=row[1], body=row[2], attempts=row[3]) for row in rows)

    async def behind(self, events: Sequence[Event]) -> tuple[dict[str, Message], dict[tuple[str, str], str]]:
        """The messages of events by id, and their sessions by id and mailbox; for receipts and the like by id and reader."""
        ids = sorted({event.ref for event in events})
        agents = sorted({event.agent for event in events})
        messages = {id: _message(body) for id, body in await self._engine.fetch("webhook_messages", ids=ids)}
        sessions: dict[tuple[str, str], str] = {}
        for id, mailbox, sender, session in await self._engine.fetch("webhook_sessions", ids=ids, agents=agents):
            if session is not None:
                sessions[id, mailbox] = session
                sessions.setdefault((id, sender), session)
        return messages, sessions


def session_of(event: Event, sessions: dict[tuple[str, str], str]) -> str | None:
    """The session an event belongs to: its reader's where it tells of one, else its own agent's."""
    reader = folded(str(event.data.get("by", event.agent)))
    return sessions.get((event.ref, reader)) or sessions.get((event.ref, event.agent))


def _webhook(row: Row) -> Webhook:
    own, (waiting, failed, next_try_at) = WebhookRow(*row[:_OWN_COLUMNS]), row[_OWN_COLUMNS:]
    return Webhook(
        name=own.name,
        url=own.url,
        events=tuple(map(Kind, msgspec.json.decode(own.kinds))),
        agents=tuple(msgspec.json.decode(own.agents)),
        bodies=bool(own.bodies),
        shape=Shape(own.shape),
        state=WebhookState(own.state),
        since=moment(own.since),
        error=own.error,
        created_at=moment(own.created_at),
        delivered_at=None if own.delivered_at is None else moment(own.delivered_at),
        waiting=waiting,
        failed=failed,
        next_try_at=None if next_try_at is None else moment(next_try_at),
    )
