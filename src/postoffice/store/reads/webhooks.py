"""What a store can be asked about webhooks."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from postoffice.acts.rows import Row
from postoffice.acts.webhooks.rows import WebhookRow
from postoffice.core.clock import moment
from postoffice.core.event import Event, Kind
from postoffice.core.message import Message
from postoffice.core.names import folded
from postoffice.core.notify import AnswerLink, Manner, Notify, NotifyKind
from postoffice.core.webhook import Outgoing, Shape, Webhook, WebhookState
from postoffice.store.engine import Engine

_message = msgspec.json.Decoder(Message).decode
_manner = msgspec.json.Decoder(Manner).decode
_OWN_COLUMNS = 16


class WebhookReads:
    """Who is told of events, and what is on its way."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def page(self, name: str | None = None) -> tuple[Webhook, ...]:
        """All of them, or the one of that name."""
        return tuple(map(_webhook, await self._engine.fetch("webhooks", webhook=name, notify=0)))

    async def notify(self, name: str | None = None) -> tuple[Notify, ...]:
        """The same of notify addresses."""
        return tuple(map(_notify, await self._engine.fetch("webhooks", webhook=name, notify=1)))

    async def row(self, name: str) -> WebhookRow | None:
        """A notify address as it is stored."""
        rows = await self._engine.fetch("webhooks", webhook=name, notify=1)
        return WebhookRow(*rows[0][:_OWN_COLUMNS]) if rows else None

    async def link(self, hash: str) -> AnswerLink | None:
        """The link whose token has that hash, if it still opens its question."""
        rows = await self._engine.fetch("answer_link_by_hash", hash=hash)
        return _link(rows[0]) if rows else None

    async def links(self, limit: int) -> tuple[AnswerLink, ...]:
        """Every link that opens a question, the newest first."""
        return tuple(map(_link, await self._engine.fetch("answer_links", limit=limit)))

    async def now(self) -> datetime:
        """By the store's clock."""
        ((at,),) = await self._engine.fetch("now")
        return moment(at)

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


def _notify(row: Row) -> Notify:
    own, (waiting, *_) = WebhookRow(*row[:_OWN_COLUMNS]), row[_OWN_COLUMNS:]
    assert own.notify is not None
    manner = _manner(own.notify)
    return Notify(
        name=own.name,
        service=manner.service,
        kinds=tuple(map(NotifyKind, msgspec.json.decode(own.kinds))),
        quiet=manner.quiet,
        zone=manner.zone,
        bodies=bool(own.bodies),
        trusted=manner.trusted,
        state=WebhookState(own.state),
        since=moment(own.since),
        error=own.error,
        created_at=moment(own.created_at),
        told_at=None if own.delivered_at is None else moment(own.delivered_at),
        waiting=waiting,
    )


def _link(row: Row) -> AnswerLink:
    id, question, name, manner, created_at, expires_at = row
    return AnswerLink(
        id=id,
        question=question,
        name=name,
        trusted=_manner(manner).trusted,
        created_at=moment(created_at),
        expires_at=moment(expires_at),
    )
