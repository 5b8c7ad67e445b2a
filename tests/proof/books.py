"""The books of an office: what its tables say, read past the store, and whether they agree with each other."""

import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg

from postoffice.office import PostOffice

Rows = Sequence[tuple[Any, ...]]
_QUERIES = (
    "SELECT CAST(id AS text), client_id FROM messages",
    # What died before its time came is nobody's dead letter.
    """SELECT CAST(message_id AS text), mailbox, number, CASE WHEN state = 'dead' AND deliver_at IS NOT NULL THEN 'never came' ELSE state END,
              CAST(session_id AS text) FROM deliveries""",
    "SELECT agent, counted, held, pending, leased, dead FROM mailboxes",
    "SELECT CAST(id AS text), low, high, counted, unread_low, unread_high FROM sessions",
)
_SIZES = """SELECT agent, waiting_bytes, (SELECT sum({length}) FROM deliveries d JOIN messages m ON m.id = d.message_id
              WHERE d.mailbox = agent AND d.state IN ('held', 'pending', 'leased')) FROM mailboxes"""
_SEEN = "SELECT CAST(session_id AS text), mailbox, count(*) FROM deliveries WHERE state = 'pending' AND seen_at IS NOT NULL GROUP BY 1, 2"
_SQLITE = (*_QUERIES, _SIZES.format(length="length(CAST(m.body AS blob))"), _SEEN)
_POSTGRESQL = (*_QUERIES, _SIZES.format(length="octet_length(m.body::text)"), _SEEN)


@dataclass(frozen=True)
class Books:
    """Messages, deliveries, mailboxes and sessions as they are on disk."""

    messages: Rows
    deliveries: Rows
    mailboxes: Rows
    sessions: Rows
    sizes: Rows = ()
    seen: Rows = ()

    @property
    def ids(self) -> Counter[str]:
        """How often each message is there."""
        return Counter(id for id, _ in self.messages)

    def by_client_id(self) -> dict[str, list[str]]:
        """The messages that a sender's own id stands for."""
        found: dict[str, list[str]] = {}
        for id, client_id in self.messages:
            if client_id is not None:
                found.setdefault(client_id, []).append(id)
        return found

    def states(self) -> dict[tuple[str, str], str]:
        """Where each message stands with each recipient."""
        return {(message, mailbox): state for message, mailbox, _, state, _ in self.deliveries}


def sqlite_books(path: Path) -> Books:
    """The books of an SQLite file, whose every page is sound."""
    connection = sqlite3.connect(path)
    try:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return Books(*(connection.execute(query).fetchall() for query in _SQLITE))
    finally:
        connection.close()


async def postgres_books(url: str, schema: str = "postoffice") -> Books:
    """The books of a PostgreSQL database."""
    connection = await asyncpg.connect(url, server_settings={"search_path": schema})
    try:
        return Books(*[[tuple(row) for row in await connection.fetch(query)] for query in _POSTGRESQL])
    finally:
        await connection.close()


def check_books(books: Books) -> None:
    """Every count is what counting gives, and no number was given twice."""
    assert not [id for id, times in books.ids.items() if times > 1]
    deliveries = Counter((message, mailbox) for message, mailbox, *_ in books.deliveries)
    assert not [twice for twice, times in deliveries.items() if times > 1]
    numbers = Counter((mailbox, number) for _, mailbox, number, _, _ in books.deliveries)
    assert not [twice for twice, times in numbers.items() if times > 1]
    assert {message for message, *_ in books.deliveries} <= set(books.ids)
    states = Counter((mailbox, state) for _, mailbox, _, state, _ in books.deliveries)
    for agent, counted, *waiting in books.mailboxes:
        assert waiting == [states[agent, state] for state in ("held", "pending", "leased", "dead")], agent
        assert counted >= max((number for mailbox, number in numbers if mailbox == agent), default=0)
    for agent, waiting_bytes, counted_again in books.sizes:
        assert waiting_bytes == (counted_again or 0), agent
    in_session = Counter((session, mailbox, state) for _, mailbox, _, state, session in books.deliveries)
    spoken = Counter(session for *_, session in books.deliveries)
    seen = {(session, mailbox): number for session, mailbox, number in books.seen}
    for id, low, high, counted, *numbers_kept in books.sessions:
        unread = [in_session[id, member, "pending"] + in_session[id, member, "held"] - seen.get((id, member), 0) for member in (low, high)]
        assert numbers_kept == unread, id
        assert counted == spoken[id]


async def check_office(office: PostOffice, books: Books, names: Sequence[str]) -> None:
    """The office tells its agents the same numbers as its books."""
    states = Counter((mailbox, state) for _, mailbox, _, state, _ in books.deliveries)
    unread = Counter((session, mailbox) for _, mailbox, _, state, session in books.deliveries if state in ("pending", "held"))
    for name in names:
        caller = await office.identify(name=name)
        counts = await office.counts(caller)
        assert [counts.held, counts.pending, counts.leased, counts.dead] == [
            states[name, state] for state in ("held", "pending", "leased", "dead")
        ]
        page = await office.inbox(caller, limit=200, lines=0)
        assert page.cursor is None
        assert {thread.id: thread.unread for thread in page.items} == {
            id: unread[id, name] for id, low, high, *_ in books.sessions if name in (low, high)
        }
