"""A group of acts, run on a desk in memory: their answers, and what is written."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec.structs import astuple

from postoffice.acts.act import Act
from postoffice.acts.desk import Desk
from postoffice.acts.rows import Box, DeliveryRow, Row
from postoffice.core.agent import Card
from postoffice.core.errors import DiskFull, MailError, Unavailable
from postoffice.store.engine import Write

_encode = msgspec.json.Encoder().encode
LAST = {
    "ask_long_talk",
    "assign_task",
    "begin_turn",
    "cancel_list_letter",
    "confirm_post",
    "count_gap",
    "count_list_unread",
    "delete_long_talks",
    "delete_webhook",
    "delete_webhook_posts",
    "drop_await",
    "drop_recurring",
    "end_logins_of",
    "forget_limits",
    "place_delivery",
    "put_pause",
    "resume_webhook_posts",
}
"""Statements that have the last word on rows another act of the group may have written."""


def run_acts(desk: Desk, acts: Sequence[Act[Any]]) -> list[Any]:
    """Each act's answer, or its refusal."""
    outcomes: list[Any] = []
    for act in acts:
        try:
            outcomes.append(act.run(desk))
        except DiskFull as refusal:  # which an act hears before it changes anything
            outcomes.append(refusal)
        except Unavailable:  # no refusal: a failure halfway undoes the group, and its acts are then done one by one
            raise
        except MailError as refusal:
            outcomes.append(refusal)
    return outcomes


def close_desk(desk: Desk) -> Iterator[Write]:
    """All that the acts changed, each row written once. An engine may run these writes in any order, except those that come last."""
    for name in sorted((name for name, rows in desk.writes.items() if rows), key=LAST.__contains__):
        yield Write(name, list(desk.writes[name].values()))
    if desk.new_agents:
        yield Write(
            "add_agent", [(b.agent, b.name, b.id, _text(b.card), b.has_key, b.acted, b.created_at, b.last_seen) for b in desk.new_agents]
        )
        yield Write("add_mailbox", [_counts(box) for box in desk.new_agents])
    new = {box.agent for box in desk.new_agents}
    if agents := [box for agent, box in desk.changed_agents.items() if agent not in new]:
        yield Write("update_agent", [_agent(box) for box in agents])
    if boxes := [box for agent, box in desk.changed_boxes.items() if agent not in new]:
        yield Write("update_mailbox", [_counts(box) for box in boxes])
    if desk.new_threads:
        yield Write("add_session", [astuple(thread) for thread in desk.new_threads.values()])
    threads = [thread for id, thread in desk.changed_threads.items() if id not in desk.new_threads]
    if grown := [thread for thread in threads if thread.last_at == desk.now]:
        yield Write("update_session", [(t.id, t.counted, t.unread_low, t.unread_high, t.replies_left, t.last_at) for t in grown])
    # SQLite writes every index again whose columns are named, also where they stay as they were.
    if read := [thread for thread in threads if thread.last_at != desk.now]:
        yield Write("update_unread", [(t.id, t.unread_low, t.unread_high) for t in read])
    if desk.posted:
        yield Write("add_delivery", [_delivery(row) for row in desk.posted])
    if desk.changed_mail:
        yield Write(
            "update_delivery",
            [
                (d.id, d.state, d.attempts, d.token, d.holder, d.due_at, d.leased_at, d.settled_at, d.reason, d.seen_at)
                for d in desk.changed_mail.values()
            ],
        )


def _delivery(d: DeliveryRow) -> Row:
    place = (d.session_id, d.session_number, d.correlation_id, d.created_at, d.settled_at, d.size, d.deliver_at, d.expires_at)
    return (d.id, d.message_id, d.mailbox, d.number, d.priority, d.state, d.sender, d.type, *place)


def _agent(box: Box) -> Row:
    return (box.agent, _text(box.card), box.has_key, box.acted, box.last_seen, box.forgotten)


def _counts(box: Box) -> Row:
    return (box.agent, box.counted, box.held, box.pending, box.leased, box.dead, box.waiting_bytes)


def _text(card: Card) -> str:
    return _encode(card).decode()
