"""On SQLite news and lines are put into their indexes some at a time; whoever reads them does not notice."""

import sqlite3
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from postoffice.acts.mail.send import Send
from postoffice.acts.mail.take_and_settle import TakeAndSettle
from postoffice.acts.people.agents import Appear
from postoffice.acts.upkeep.indexing import IndexSearch
from postoffice.core.delivery import Wish
from postoffice.core.draft import Draft
from postoffice.core.message import Accepted
from postoffice.store.sqlite import transactions as sqlite
from postoffice.store.sqlite.engine import SQLite
from postoffice.store.store import Store
from tests.engines import sqlite_of

LETTERS = 12
OLD = """
DROP INDEX events_mailbox; DROP INDEX deliveries_session; DROP INDEX agents_look;
ALTER TABLE events DROP COLUMN filed; ALTER TABLE deliveries DROP COLUMN filed;
CREATE UNIQUE INDEX events_mailbox ON events (mailbox, number);
CREATE INDEX deliveries_session ON deliveries (session_id, session_number) WHERE session_id IS NOT NULL;
DROP INDEX deliveries_scheduled; DROP INDEX deliveries_expiring; DROP INDEX deliveries_never_came;
ALTER TABLE deliveries DROP COLUMN deliver_at; ALTER TABLE deliveries DROP COLUMN expires_at;
DROP INDEX deliveries_seen; ALTER TABLE deliveries DROP COLUMN seen_at; ALTER TABLE deliveries DROP COLUMN holder;
DROP TABLE windows; DROP TABLE window_names; DROP TABLE window_sessions; DROP TABLE machine_keys; DROP TABLE rings;
DROP TABLE questions; DROP TABLE memories; DROP TABLE long_talks; DROP TABLE awaits;
DROP TABLE webhooks; DROP TABLE webhook_posts; DROP TABLE hooks; DROP TABLE answer_links;
DROP TABLE attachments; DROP TABLE attachment_blobs; DROP TABLE attachment_holdings; DROP TABLE attachment_uploads; DROP TABLE attachment_parts; DROP TABLE attachment_rubbish;
ALTER TABLE sessions DROP COLUMN gaps; DROP TABLE mail_roles; DROP TABLE role_staff; DROP TABLE role_sessions; DROP TABLE role_takes; ALTER TABLE tasks DROP COLUMN role;
DROP TABLE lists; DROP TABLE list_members; DROP TABLE list_letters;
DROP TABLE recurring; DROP TABLE reservations; DROP TABLE reservation_bids; DROP TABLE task_links; DROP INDEX tasks_parent; DROP INDEX tasks_blocked;
ALTER TABLE tasks DROP COLUMN parent; ALTER TABLE tasks DROP COLUMN percent; ALTER TABLE tasks DROP COLUMN blocked; ALTER TABLE tasks DROP COLUMN gone;
ALTER TABLE agents DROP COLUMN forgotten; DROP INDEX mailboxes_paused; ALTER TABLE mailboxes DROP COLUMN paused_at;
ALTER TABLE mailboxes DROP COLUMN paused_until; ALTER TABLE mailboxes DROP COLUMN paused_by; ALTER TABLE mailboxes DROP COLUMN pause_reason;
ALTER TABLE deliveries DROP COLUMN size; ALTER TABLE mailboxes DROP COLUMN waiting_bytes;
ALTER TABLE duties RENAME TO roles; ALTER TABLE roles RENAME COLUMN duty TO role;
DELETE FROM cursors WHERE name LIKE 'filed%'; UPDATE alembic_version SET version_num = '0009';
"""
"""What makes the file one of the schema before this was done."""


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = Store(SQLite(tmp_path / "mailbox.db"))
    await opened.open(lambda _: None)
    yield opened
    await opened.close()


async def write(store: Store, letters: int) -> Accepted:
    for name in ("alice", "bob", "carol"):
        await store.do(Appear(name))
    for number in range(1, letters + 1):
        for sender in ("alice", "carol"):
            draft = Draft(to="bob", content=f"{sender} {number}", priority=3)
            accepted = await store.do(Send(sender, draft, verified=False, strangers=True))
    return accepted


def unfiled(store: Store) -> tuple[int, int]:
    connection = sqlite3.connect(sqlite_of(store).path)
    counts = tuple(connection.execute(f"SELECT count(*) FROM {table} WHERE filed = 0").fetchone()[0] for table in ("events", "deliveries"))
    connection.close()
    return counts[0], counts[1]


async def check(store: Store, letters: int) -> None:
    """Everything is told once, in order, page by page."""
    expected = [f"{sender} {number}" for number in range(1, letters + 1) for sender in ("alice", "carol")]
    told: list[str | None] = []
    after = 0
    while page := await store.log.of("bob", after, 5):
        told += [event.message.content for event in page if event.message is not None]
        after = int(page[-1].cursor)
    assert told == expected
    threads = (await store.sessions.inbox("bob", None, 10, unread_only=False, lines=3)).items
    assert [[line.message.content for line in thread.lines] for thread in threads] == [
        [f"{sender} {number}" for number in range(letters, letters - 3, -1)] for sender in ("carol", "alice")
    ]
    for sender, thread in zip(("carol", "alice"), threads, strict=True):
        said: list[str | None] = []
        before = None
        while lines := (await store.sessions.peek("bob", thread.id, before, 5)).lines:
            said += [line.message.content for line in lines]
            before = lines[-1].message.id
        assert said == [f"{sender} {number}" for number in range(letters, 0, -1)]


@pytest.mark.parametrize("at_once", [1, 2, 5, 7, 1000])
async def test_news_and_sessions_read_the_same_however_much_of_them_is_filed(
    store: Store, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "_NEWS_FILED_AT_ONCE", at_once)
    await write(store, LETTERS)
    assert (min(unfiled(store)) > 0) == (at_once > 1)
    await check(store, LETTERS)


async def test_what_was_not_filed_is_after_a_restart(store: Store, tmp_path: Path) -> None:
    await write(store, LETTERS)
    assert min(unfiled(store)) > 0
    await store.close()
    again = Store(SQLite(tmp_path / "mailbox.db"))
    await again.open(lambda _: None)
    await check(again, LETTERS)
    await again.do(Appear("dave"))
    await again.do(Appear("erin"))
    await again.do(Send("erin", Draft(to="dave", content="whoever comes first", priority=3), verified=False, strangers=True))
    assert unfiled(again) == (0, 0)
    await check(again, LETTERS)
    await again.close()


async def test_a_file_made_before_is_filed_whole(store: Store, tmp_path: Path) -> None:
    await write(store, LETTERS)
    await store.close()
    connection = sqlite3.connect(tmp_path / "mailbox.db")
    connection.executescript(OLD)
    connection.close()
    newer = Store(SQLite(tmp_path / "mailbox.db"))
    await newer.open(lambda _: None)
    assert unfiled(newer) == (0, 0)
    await check(newer, LETTERS)
    await newer.close()


async def test_old_news_are_forgotten_filed_or_not(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "_NEWS_FILED_AT_ONCE", 5)
    await write(store, LETTERS)
    assert 0 < unfiled(store)[0] < 2 * LETTERS
    await store.do(IndexSearch())  # until then the index is made from them
    assert await store.sweeps.forget_events(timedelta(0)) == 2 * LETTERS - 1  # the newest stays
    assert [event.cursor for event in await store.log.of("bob", 0, 100)] == [str(2 * LETTERS)]


async def test_mail_sent_after_all_was_purged_does_not_pass_for_filed(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "_NEWS_FILED_AT_ONCE", 1)
    await write(store, LETTERS)
    await store.do(TakeAndSettle("bob", (), Wish(limit=100, visible_for=None, pop=True)))
    assert await store.sweeps.purge(timedelta(0)) == 2 * LETTERS
    await store.close()
    monkeypatch.setattr(sqlite, "_NEWS_FILED_AT_ONCE", 1000)
    again = Store(SQLite(tmp_path / "mailbox.db"))
    await again.open(lambda _: None)
    sqlite_of(again)._transactions._unfiled = 0
    accepted = await write(again, 1)
    assert unfiled(again)[1] == 2
    assert len((await again.sessions.peek("bob", accepted.session_id or "", None, 10)).lines) == 1
    await again.close()
