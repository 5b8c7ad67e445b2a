"""The inbox as a table: programs that only speak SQL read, settle and send through the view, by the office's own rules."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest

from postoffice.core.delivery import State
from postoffice.core.draft import Draft
from postoffice.core.errors import LeaseLost
from postoffice.core.event import Kind
from postoffice.office import OfficeRules, PostOffice
from postoffice.store.migrations.upgrade import run_alembic
from postoffice.store.postgres.engine import PostgreSQL
from postoffice.store.store import Store
from postoffice.wake.local import LocalWake
from postoffice.wake.postgres import PostgresWake
from tests.engines import PostgresServer
from tests.proof.books import check_books, postgres_books
from tests.proof.patience import BOUND, until

_COLUMNS = [
    ("id", "uuid"),
    ("to_agent", "text"),
    ("from_agent", "text"),
    ("message_type", "text"),
    ("subject", "text"),
    ("payload", "jsonb"),
    ("context", "jsonb"),
    ("ref_id", "text"),
    ("ref_type", "text"),
    ("priority", "integer"),
    ("processed", "boolean"),
    ("processed_at", "timestamp with time zone"),
    ("processed_by_session", "uuid"),
    ("created_at", "timestamp with time zone"),
]


class Desk:
    """An office, and beside it somebody with nothing but SQL."""

    def __init__(self, url: str, office: PostOffice, sql: Any) -> None:
        self.url = url
        self.office = office
        self.sql = sql

    async def check(self) -> None:
        """Whatever was done through the view, the books are right."""
        check_books(await postgres_books(self.url))


@asynccontextmanager
async def _connected(url: str, **options: Any) -> AsyncIterator[Any]:
    connection = await asyncpg.connect(url, server_settings={"search_path": "postoffice"}, **options)
    await connection.set_type_codec("jsonb", encoder=json.dumps, decoder=json.loads, schema="pg_catalog")
    try:
        yield connection
    finally:
        await connection.close()


@pytest.fixture
async def desk(postgres: PostgresServer) -> AsyncIterator[Desk]:
    url = await postgres.borrow()
    # The office never looks by itself here: whoever is woken was woken by a notification.
    async with PostOffice(Store(PostgreSQL(url)), PostgresWake(url), OfficeRules(tick=3600)) as office, _connected(url) as sql:
        await until(lambda: office.wake.healthy)
        desk = Desk(url, office, sql)
        yield desk
        await desk.check()
    await postgres.give_back(url)


# What it shows


async def test_the_view_has_exactly_the_columns_that_were_promised(desk: Desk) -> None:
    rows = await desk.sql.fetch(
        "SELECT column_name, data_type FROM information_schema.columns "
        "WHERE table_schema = 'postoffice' AND table_name = 'inbox' ORDER BY ordinal_position"
    )
    assert [tuple(row) for row in rows] == _COLUMNS


async def test_a_message_of_an_agent_appears_as_it_was_sent(desk: Desk) -> None:
    alice = await desk.office.identify(name="alice")
    payload = {"step": 3, "empty": None, "nested": {"none": None, "list": [1, None, "drei", 4.5]}, "text": 'ü\n"x"'}
    context = {"branch": "main", "nothing": None}
    before = datetime.now(UTC)
    await desk.office.send(
        alice,
        Draft(
            to="bob",
            type="review.request",
            subject="Please look",
            payload=payload,
            context=context,
            ref_id="0.0.42",
            ref_type="task",
            priority=2,
        ),
    )
    (row,) = await desk.sql.fetch("SELECT * FROM inbox")
    shown = dict(row)
    assert isinstance(shown.pop("id"), UUID)
    assert abs(shown.pop("created_at") - before) < timedelta(minutes=1)
    assert shown == {
        "to_agent": "bob",
        "from_agent": "alice",
        "message_type": "review.request",
        "subject": "Please look",
        "payload": payload,
        "context": context,
        "ref_id": "0.0.42",
        "ref_type": "task",
        "priority": 2,
        "processed": False,
        "processed_at": None,
        "processed_by_session": None,
    }


async def test_a_message_without_payload_subject_or_context_appears_too(desk: Desk) -> None:
    await desk.office.send(await desk.office.identify(name="alice"), Draft(to="bob", content="Only words."))
    (row,) = await desk.sql.fetch("SELECT subject, payload, context, ref_id, ref_type, priority FROM inbox")
    assert tuple(row) == ("", {"content": "Only words."}, None, None, None, 3)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ({"content": "Words."}, {"content": "Words."}),
        ({"content": "Words.", "payload": {"a": None}}, {"content": "Words.", "a": None}),
        ({"content": "Words.", "payload": {"content": "its own"}}, {"content": "its own"}),
        ({"content": "Words.", "payload": ["a list"]}, ["a list"]),
        ({"payload": None}, None),
        ({"parts": ({"type": "data", "data": {"none": None}},)}, {"parts": [{"type": "data", "data": {"none": None}}]}),
    ],
)
async def test_the_payload_tells_what_was_said(desk: Desk, said: dict[str, Any], shown: object) -> None:
    await desk.office.send(await desk.office.identify(name="alice"), Draft(to="bob", **said))
    assert await desk.sql.fetchval("SELECT payload FROM inbox") == shown


async def test_a_note_is_read_by_whom_it_notifies(desk: Desk) -> None:
    quinn = await desk.office.identify(name="quinn")
    await desk.office.send(quinn, Draft(to=("mindy",), type="task.note", ref_id="0.0.7", ref_type="task", content="**done**"))
    (row,) = await desk.sql.fetch("SELECT to_agent, message_type, payload FROM inbox")
    assert tuple(row) == ("mindy", "task.note", {"content": "**done**"})


async def test_a_note_that_sql_inserts_is_kept_with_its_entity_and_stands_in_no_session(desk: Desk) -> None:
    mindy = await desk.office.identify(name="mindy")
    insert = (
        "INSERT INTO inbox (to_agent, message_type, subject, payload, ref_id, ref_type) VALUES ('mindy', 'task.note', '', '{}', $1, 'task')"
    )
    for about in (None, ""):
        with pytest.raises(asyncpg.CheckViolationError, match="a note names its entity"):
            await desk.sql.execute(insert, about)
    for _ in range(2):
        await desk.sql.execute(insert, "0.0.7")
    assert [one.session_id for one in (await desk.office.receive(mindy, 10)).leased] == [None, None]
    assert (await desk.office.inbox(mindy)).items == ()
    ((entity,), notes) = (await desk.office.entities()).items, (await desk.office.notes("0.0.7")).items
    assert (entity.id, entity.type, entity.notes, len(notes)) == ("0.0.7", "task", 2, 2)
    await desk.check()


async def test_mail_that_sql_inserts_stands_where_its_time_puts_it(desk: Desk) -> None:
    alice = await desk.office.identify(name="alice")
    for number in range(0, 6, 2):
        await desk.sql.execute("INSERT INTO inbox (to_agent, message_type, subject) VALUES ('alice', 'fyi', $1)", str(number))
        await asyncio.sleep(0.002)
        await desk.office.send(alice, Draft(to="bob", subject=str(number + 1), content="By a door."))
        await asyncio.sleep(0.002)
    newest_first = (await desk.office.glances(desk.office.owner())).items
    assert [glance.message.subject for glance in newest_first] == ["5", "4", "3", "2", "1", "0"]


async def test_a_message_to_many_is_one_row_for_each(desk: Desk) -> None:
    await desk.office.send(await desk.office.identify(name="alice"), Draft(to=("bob", "cy"), content="To both."))
    rows = await desk.sql.fetch("SELECT id, to_agent FROM inbox ORDER BY to_agent")
    assert [row["to_agent"] for row in rows] == ["bob", "cy"]
    assert len({row["id"] for row in rows}) == 2


async def test_what_an_agent_settles_is_processed_in_the_view(desk: Desk) -> None:
    alice, bob = await desk.office.identify(name="alice"), await desk.office.identify(name="bob")
    await desk.office.send(alice, Draft(to="bob", content="Settle me."))
    (leased,) = (await desk.office.receive(bob)).leased
    assert await desk.sql.fetchval("SELECT processed FROM inbox") is False
    await desk.office.ack(bob, leased.message.id, leased.token)
    (row,) = await desk.sql.fetch("SELECT processed, processed_at FROM inbox")
    assert row["processed"] is True
    assert row["processed_at"] is not None


# Marking as processed


async def test_marking_a_row_processed_settles_it_as_the_office_does(desk: Desk) -> None:
    office = desk.office
    alice, bob = await office.identify(name="alice"), await office.identify(name="bob")
    accepted = await office.send(alice, Draft(to="bob", subject="Work", content="Settle me."))
    kept = await office.send(alice, Draft(to="bob", subject="Work", content="Keep me."))
    session = uuid4()
    done = await desk.sql.execute(
        "UPDATE inbox SET processed = true, processed_at = now(), processed_by_session = $1 "
        "WHERE to_agent = 'bob' AND NOT processed AND created_at = (SELECT min(created_at) FROM inbox)",
        session,
    )
    assert done == "UPDATE 1"

    (standing,) = (await office.status(alice, accepted.message_id)).standings
    assert standing.state is State.ACKED
    assert standing.settled_at is not None
    assert (await office.counts(bob)).pending == 1
    (thread,) = (await office.inbox(bob)).items
    assert thread.unread == 1
    receipts = [event for event in await office.news(alice) if event.kind is Kind.RECEIPT]
    assert [(event.ref, event.data) for event in receipts] == [(accepted.message_id, {"by": "bob"})]
    assert [leased.message.id for leased in (await office.receive(bob)).leased] == [kept.message_id]
    rows = await desk.sql.fetch("SELECT processed, processed_at, processed_by_session FROM inbox ORDER BY created_at, id")
    assert [(row["processed"], row["processed_at"] is not None) for row in rows] == [(True, True), (False, False)]
    assert rows[0]["processed_by_session"] == session


async def test_what_a_person_has_seen_is_counted_once_when_it_is_marked(desk: Desk) -> None:
    office = desk.office
    alice, hanna = await office.identify(name="alice"), await office.identify(name="hanna")
    await office.update_card(office.owner(), {"person": True}, of="hanna")
    for content in ("Seen.", "Not seen."):
        accepted = await office.send(alice, Draft(to="hanna", subject="Work", content=content))
        if content == "Seen.":
            await office.seen(hanna, accepted.message_id)
    await desk.check()
    await desk.sql.execute("UPDATE inbox SET processed = true")
    await desk.check()
    assert (await office.inbox(hanna)).items[0].unread == 0


async def test_marking_it_again_is_harmless(desk: Desk) -> None:
    office = desk.office
    alice, bob = await office.identify(name="alice"), await office.identify(name="bob")
    await office.send(alice, Draft(to="bob", content="Settle me."))
    first: Any = None
    for _ in range(3):
        await desk.sql.execute("UPDATE inbox SET processed = true")
        (row,) = await desk.sql.fetch("SELECT * FROM inbox")
        first = first or row
        assert row == first
    assert (await office.counts(bob)).pending == 0
    assert len([event for event in await office.news(alice) if event.kind is Kind.RECEIPT]) == 1


async def test_everything_waiting_can_be_marked_at_once(desk: Desk) -> None:
    office = desk.office
    alice, bob, cy = [await office.identify(name=name) for name in ("alice", "bob", "cy")]
    for number in range(6):
        await office.send((alice, bob, cy)[number % 3], Draft(to=("bob", "cy", "alice")[number % 3], subject=f"S{number % 2}", content="x"))
    assert await desk.sql.execute("UPDATE inbox SET processed = true WHERE NOT processed") == "UPDATE 6"
    for caller in (alice, bob, cy):
        assert (await office.counts(caller)).pending == 0
        assert not (await office.inbox(caller, unread_only=True)).items
        assert not (await office.receive(caller)).leased


async def test_a_waiting_consumer_does_not_get_what_was_marked(desk: Desk) -> None:
    office = desk.office
    alice, bob = await office.identify(name="alice"), await office.identify(name="bob")
    marker = await asyncpg.connect(desk.url, server_settings={"search_path": "postoffice"})
    try:
        await office.send(alice, Draft(to="bob", content="Marked first."))
        async with marker.transaction():
            await marker.execute("UPDATE inbox SET processed = true")
            # The mark is not committed yet: the row is neither given out nor waited for.
            waiter = asyncio.create_task(office.wait(bob, within=timedelta(seconds=30)))
            await asyncio.sleep(0.2)
            assert not waiter.done()
        wanted = await office.send(alice, Draft(to="bob", content="Not marked."))
        async with asyncio.timeout(BOUND):
            turned = await waiter
    finally:
        await marker.close()
    assert [leased.message.id for leased in turned.leased] == [wanted.message_id]


async def test_the_sender_hears_of_the_mark_at_once(desk: Desk) -> None:
    office = desk.office
    alice = await office.identify(name="alice")
    accepted = await office.send(alice, Draft(to="bob", content="Settle me."))
    listener = asyncio.create_task(office.news(alice, within=timedelta(seconds=60)))
    await asyncio.sleep(0.1)
    await desk.sql.execute("UPDATE inbox SET processed = true")
    async with asyncio.timeout(BOUND):
        (event,) = await listener
    assert (event.kind, event.ref) == (Kind.RECEIPT, accepted.message_id)


async def test_a_processed_message_stays_processed(desk: Desk) -> None:
    await desk.office.send(await desk.office.identify(name="alice"), Draft(to="bob", content="Settle me."))
    await desk.sql.execute("UPDATE inbox SET processed = true")
    for value in ("false", "NULL"):
        with pytest.raises(asyncpg.CheckViolationError, match="stays processed"):
            await desk.sql.execute(f"UPDATE inbox SET processed = {value}")
    assert await desk.sql.fetchval("SELECT processed FROM inbox") is True


@pytest.mark.parametrize(
    "change",
    [
        "id = gen_random_uuid()",
        "to_agent = 'cy'",
        "from_agent = 'mallory'",
        "message_type = 'other'",
        "subject = 'Other'",
        "subject = NULL",
        "payload = '{\"x\": 1}'",
        "payload = NULL",
        "context = '[]'",
        "ref_id = 'r'",
        "ref_type = 'task'",
        "priority = 1",
        "created_at = now() + interval '1 hour'",
        "processed = true, subject = 'Other'",
    ],
)
async def test_nothing_else_can_be_changed(desk: Desk, change: str) -> None:
    alice, bob = await desk.office.identify(name="alice"), await desk.office.identify(name="bob")
    await desk.office.send(alice, Draft(to="bob", subject="As it is", payload={"a": 1}))
    (before,) = await desk.sql.fetch("SELECT * FROM inbox")
    with pytest.raises(asyncpg.CheckViolationError, match="never changes"):
        await desk.sql.execute(f"UPDATE inbox SET {change}")
    (after,) = await desk.sql.fetch("SELECT * FROM inbox")
    assert after == before
    assert (await desk.office.counts(bob)).pending == 1


async def test_rows_cannot_be_deleted(desk: Desk) -> None:
    await desk.office.send(await desk.office.identify(name="alice"), Draft(to="bob", content="Keep me."))
    with pytest.raises(asyncpg.PostgresError):
        await desk.sql.execute("DELETE FROM inbox")
    assert await desk.sql.fetchval("SELECT count(*) FROM inbox") == 1


async def test_a_leased_message_is_its_holders_and_cannot_be_marked(desk: Desk) -> None:
    office = desk.office
    alice, bob = await office.identify(name="alice"), await office.identify(name="bob")
    await office.send(alice, Draft(to="bob", content="Mine."))
    (leased,) = (await office.receive(bob)).leased
    with pytest.raises(asyncpg.ObjectInUseError, match="leased"):
        await desk.sql.execute("UPDATE inbox SET processed = true")
    assert (await office.ack(bob, leased.message.id, leased.token)).state is State.ACKED


async def test_a_message_held_back_is_not_there_yet(desk: Desk) -> None:
    office = desk.office
    alice = await office.identify(name="alice")
    await office.send(alice, Draft(to="bob", content="Not yet.", hold=True))
    await desk.sql.execute("UPDATE inbox SET processed = true")
    assert await desk.sql.fetch("SELECT id FROM inbox") == []
    assert (await office.counts(office.owner(), of="bob")).held == 1


async def test_a_message_that_waits_for_another_try_cannot_be_marked(desk: Desk) -> None:
    office = desk.office
    alice, bob = await office.identify(name="alice"), await office.identify(name="bob")
    await office.send(alice, Draft(to="bob", content="Later."))
    (leased,) = (await office.receive(bob)).leased
    await office.nack(bob, leased.message.id, leased.token, delay=timedelta(hours=1))
    with pytest.raises(asyncpg.ObjectInUseError, match="held"):
        await desk.sql.execute("UPDATE inbox SET processed = true")
    assert (await office.counts(office.owner(), of="bob")).held == 1


@pytest.mark.parametrize(
    ("question", "index"),
    [
        ("to_agent = 'bob' AND NOT processed ORDER BY created_at", "deliveries_unprocessed"),
        ("to_agent = 'bob' AND processed = false", "deliveries_unprocessed"),
        ("ref_id = '0.0.7'", "messages_ref"),
        ("from_agent = 'alice' ORDER BY created_at DESC", "messages_sender"),
    ],
)
async def test_the_seeds_indexes_stand_on_the_tables_below(desk: Desk, question: str, index: str) -> None:
    await desk.sql.execute("SET enable_seqscan = off")
    plan = "\n".join(row[0] for row in await desk.sql.fetch(f"EXPLAIN SELECT * FROM inbox WHERE {question}"))
    await desk.sql.execute("RESET enable_seqscan")
    assert index in plan


async def test_what_was_marked_cannot_be_acked_by_a_token_that_never_was(desk: Desk) -> None:
    office = desk.office
    alice, bob = await office.identify(name="alice"), await office.identify(name="bob")
    accepted = await office.send(alice, Draft(to="bob", content="Settle me."))
    await desk.sql.execute("UPDATE inbox SET processed = true")
    for token in ("0" * 32, None):
        with pytest.raises(LeaseLost):
            await office.ack(bob, accepted.message_id, token)


async def test_marking_and_taking_at_the_same_time_settles_each_message_once(desk: Desk) -> None:
    office = desk.office
    alice, bob = await office.identify(name="alice"), await office.identify(name="bob")
    await asyncio.gather(*(office.send(alice, Draft(to="bob", subject=f"S{number % 3}", content=str(number))) for number in range(200)))
    ids = [row["id"] for row in await desk.sql.fetch("SELECT id FROM inbox")]
    taken: list[str] = []

    async def take() -> None:
        for _ in range(200):
            leased = await office.pop(bob, 2)
            if not leased:
                return
            taken.extend(one.message.id for one in leased)

    async def mark() -> int:
        marked = 0
        for id in ids:
            before = await desk.sql.fetchval("SELECT processed FROM inbox WHERE id = $1", id)
            await desk.sql.execute("UPDATE inbox SET processed = true WHERE id = $1", id)
            marked += not before
        return marked

    async with asyncio.timeout(BOUND):
        await asyncio.gather(take(), mark())
    assert len(set(taken)) == len(taken)
    assert (await office.counts(bob)).pending == 0
    receipts: list[str] = []
    after = 0
    for _ in range(50):
        events = await office.news(alice, after)
        if not events:
            break
        receipts += [event.ref for event in events if event.kind is Kind.RECEIPT]
        after = events[-1].number
    assert len(receipts) == len(set(receipts)) == 200


# Inserting


async def test_an_inserted_row_is_mail_from_the_office_itself(desk: Desk) -> None:
    office = desk.office
    bob = await office.identify(name="Bob")
    payload = {"task": "0.0.7", "list": [1, 2, {"deep": True}], "text": "ü"}
    id = await desk.sql.fetchval(
        "INSERT INTO inbox (to_agent, from_agent, message_type, subject, payload, context, ref_id, ref_type, priority) "
        "VALUES ('bob', 'system', 'task.blocked', 'Blocked', $1, $2, '0.0.7', 'task', 1) RETURNING id",
        payload,
        {"phase": 2},
    )
    (leased,) = (await office.receive(bob)).leased
    message = leased.message
    assert (message.sender, message.type, message.subject, message.priority) == ("system", "task.blocked", "Blocked", 1)
    assert (message.payload, message.context, message.ref_id, message.ref_type) == (payload, {"phase": 2}, "0.0.7", "task")
    assert message.from_verified
    assert message.id == str(id)
    assert abs(message.created_at - datetime.now(UTC)) < timedelta(minutes=1)
    await office.ack(bob, message.id, leased.token)
    (row,) = await desk.sql.fetch("SELECT processed, payload FROM inbox WHERE id = $1", id)
    assert tuple(row) == (True, payload)


async def test_nothing_within_an_inserted_payload_or_context_is_lost(desk: Desk) -> None:
    bob = await desk.office.identify(name="bob")
    payload = {"none": None, "nested": {"none": None, "list": [None, {"none": None}]}}
    await desk.sql.execute(
        "INSERT INTO inbox (to_agent, message_type, subject, payload, context) VALUES ('bob', 'fyi', 'Nulls', $1, $1)", payload
    )
    (leased,) = (await desk.office.receive(bob)).leased
    assert leased.message.payload == payload
    assert leased.message.context == payload


async def test_a_row_with_only_the_needed_columns_gets_the_seeds_defaults(desk: Desk) -> None:
    bob = await desk.office.identify(name="bob")
    before = datetime.now(UTC)
    await desk.sql.execute("INSERT INTO inbox (to_agent, message_type, subject) VALUES ('bob', 'fyi', 'Short')")
    (row,) = await desk.sql.fetch("SELECT from_agent, priority, processed, created_at FROM inbox")
    assert tuple(row)[:3] == ("system", 3, False)
    assert abs(row["created_at"] - before) < timedelta(minutes=1)
    (leased,) = (await desk.office.receive(bob)).leased
    assert leased.message.subject == "Short"


@pytest.mark.parametrize("to", ["bob", "ALL"])
async def test_a_row_inserted_or_changed_is_given_back_as_it_is(desk: Desk, to: str) -> None:
    await desk.office.identify(name="bob")
    inserted = dict(await desk.sql.fetchrow("INSERT INTO inbox (to_agent, message_type, subject) VALUES ($1, 'fyi', 'S') RETURNING *", to))
    row = dict(await desk.sql.fetchrow("SELECT * FROM inbox"))
    assert abs(inserted.pop("created_at") - row.pop("created_at")) < timedelta(seconds=10)
    assert inserted | {"to_agent": "bob", "id": None} == row | {"id": None}
    changed = await desk.sql.fetchrow("UPDATE inbox SET processed = true RETURNING *")
    assert changed["processed_at"] is not None
    assert changed == await desk.sql.fetchrow("SELECT * FROM inbox")


async def test_a_row_to_all_reaches_everyone(desk: Desk) -> None:
    office = desk.office
    callers = [await office.identify(name=name) for name in ("alice", "bob", "cy")]
    await desk.sql.execute("INSERT INTO inbox (to_agent, message_type, subject, payload) VALUES ('ALL', 'fyi', 'Hello', '{\"n\": 1}')")
    taken = [(await office.receive(caller)).leased for caller in callers]
    assert [[(leased.message.subject, leased.message.payload) for leased in mail] for mail in taken] == [[("Hello", {"n": 1})]] * 3
    assert len({mail[0].message.id for mail in taken}) == 1
    assert await desk.sql.fetchval("SELECT count(*) FROM inbox WHERE from_agent = 'system'") == 3


async def test_several_rows_inserted_at_once_arrive_by_priority_and_then_in_order(desk: Desk) -> None:
    bob = await desk.office.identify(name="bob")
    await desk.sql.execute(
        "INSERT INTO inbox (to_agent, message_type, subject, priority) "
        "VALUES ('bob', 'fyi', 'second', 3), ('bob', 'fyi', 'third', 3), ('bob', 'fyi', 'first', 1)"
    )
    assert [leased.message.subject for leased in (await desk.office.receive(bob)).leased] == ["first", "second", "third"]


async def test_rows_of_one_subject_share_a_session_and_count_there(desk: Desk) -> None:
    office = desk.office
    bob = await office.identify(name="bob")
    for subject in ("Build", "build ", "Other"):
        await desk.sql.execute("INSERT INTO inbox (to_agent, message_type, subject) VALUES ('bob', 'fyi', $1)", subject)
    threads = (await office.inbox(bob)).items
    assert {(thread.subject, thread.other, thread.unread) for thread in threads} == {("Build", "system", 2), ("Other", "system", 1)}
    build = next(thread for thread in threads if thread.subject == "Build")
    await office.history(bob, build.id)
    assert (await office.counts(bob)).pending == 1


async def test_an_inserted_row_is_addressed_as_its_recipient_spells_itself(desk: Desk) -> None:
    bob = await desk.office.identify(name="Bob")
    await desk.sql.execute("INSERT INTO inbox (to_agent, message_type, subject) VALUES ('BOB', 'fyi', 'Hello')")
    (leased,) = (await desk.office.receive(bob)).leased
    assert leased.message.to == "Bob"


async def test_an_inserted_row_wakes_a_waiter(desk: Desk) -> None:
    bob = await desk.office.identify(name="bob")
    waiter = asyncio.create_task(desk.office.wait(bob, within=timedelta(seconds=60)))
    await asyncio.sleep(0.1)
    await desk.sql.execute("INSERT INTO inbox (to_agent, message_type, subject) VALUES ('bob', 'fyi', 'Wake up')")
    async with asyncio.timeout(BOUND):
        turned = await waiter
    assert [leased.message.subject for leased in turned.leased] == ["Wake up"]


async def test_an_inserted_row_is_found_by_a_search(desk: Desk) -> None:
    bob = await desk.office.identify(name="bob")
    await desk.sql.execute("INSERT INTO inbox (to_agent, message_type, subject) VALUES ('bob', 'fyi', 'Zanzibar calling')")
    assert [found.message.subject for found in (await desk.office.search(bob, "zanzibar")).items] == ["Zanzibar calling"]


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ("'bob', 'alice', 'fyi', 'S', 3", asyncpg.InsufficientPrivilegeError),
        ("'bob', 'owner', 'fyi', 'S', 3", asyncpg.InsufficientPrivilegeError),
        ("'nobody', 'system', 'fyi', 'S', 3", asyncpg.ForeignKeyViolationError),
        ("'system', 'system', 'fyi', 'S', 3", asyncpg.ForeignKeyViolationError),
        ("'bob', 'system', 'fyi', 'S', 0", asyncpg.CheckViolationError),
        ("'bob', 'system', 'fyi', 'S', 6", asyncpg.CheckViolationError),
        ("NULL, 'system', 'fyi', 'S', 3", asyncpg.CheckViolationError),
        ("'bob', 'system', NULL, 'S', 3", asyncpg.CheckViolationError),
        ("'bob', 'system', 'fyi', NULL, 3", asyncpg.CheckViolationError),
        ("'bob', 'system', 'task', 'S', 3", asyncpg.CheckViolationError),
        ("'bob', 'system', 'task_update', 'S', 3", asyncpg.CheckViolationError),
        ("'bob', 'system', repeat('t', 256), 'S', 3", asyncpg.CheckViolationError),
        ("'bob', 'system', 'fyi', repeat('s', 256), 3", asyncpg.CheckViolationError),
    ],
)
async def test_a_row_that_is_no_mail_of_the_office_is_refused(desk: Desk, values: str, error: type[Exception]) -> None:
    bob = await desk.office.identify(name="bob")
    await desk.office.identify(name="alice")
    with pytest.raises(error):
        await desk.sql.execute(f"INSERT INTO inbox (to_agent, from_agent, message_type, subject, priority) VALUES ({values})")
    assert await desk.sql.fetchval("SELECT count(*) FROM messages") == 0
    assert (await desk.office.counts(bob)).pending == 0


async def test_a_row_too_large_for_a_door_is_too_large_here(desk: Desk) -> None:
    await desk.office.identify(name="bob")
    with pytest.raises(asyncpg.CheckViolationError, match="1 MiB"):
        await desk.sql.execute("INSERT INTO inbox (to_agent, message_type, subject, payload) VALUES ('bob', 'fyi', 'S', $1)", "x" * 2**20)
    assert await desk.sql.fetchval("SELECT count(*) FROM messages") == 0


async def test_the_same_id_twice_is_refused_and_there_is_one_message(desk: Desk) -> None:
    bob = await desk.office.identify(name="bob")
    id = uuid4()
    insert = "INSERT INTO inbox (id, to_agent, message_type, subject) VALUES ($1, 'bob', 'fyi', 'Once')"
    await desk.sql.execute(insert, id)
    with pytest.raises(asyncpg.UniqueViolationError):
        await desk.sql.execute(insert, id)
    assert [leased.message.id for leased in (await desk.office.receive(bob)).leased] == [str(id)]


async def test_a_rolled_back_insert_was_never_there(desk: Desk) -> None:
    bob = await desk.office.identify(name="bob")
    transaction = desk.sql.transaction()
    await transaction.start()
    await desk.sql.execute("INSERT INTO inbox (to_agent, message_type, subject) VALUES ('bob', 'fyi', 'Never')")
    await transaction.rollback()
    assert not (await desk.office.receive(bob)).leased
    assert not await desk.office.news(bob)


# Whose rights count


async def _execute_as(sql: Any, role: str, statement: str) -> None:
    async with sql.transaction():
        await sql.execute(f"SET LOCAL ROLE {role}")
        await sql.execute(statement)


async def test_the_view_gives_nobody_more_than_they_have(postgres: PostgresServer) -> None:
    url = await postgres.copy()
    role = f"reader_{uuid4().hex[:8]}"
    try:
        async with PostOffice(Store(PostgreSQL(url)), LocalWake(), OfficeRules(tick=3600)) as office, _connected(url) as sql:
            options = await sql.fetchval("SELECT reloptions FROM pg_class WHERE oid = 'postoffice.inbox'::regclass")
            assert "security_invoker=true" in options
            await office.send(await office.identify(name="alice"), Draft(to="bob", content="Private."))
            await sql.execute(f"CREATE ROLE {role}")
            try:
                await sql.execute(f"GRANT USAGE ON SCHEMA postoffice TO {role}; GRANT SELECT, INSERT, UPDATE ON postoffice.inbox TO {role}")
                for statement in (
                    "SELECT * FROM inbox",
                    "UPDATE inbox SET processed = true",
                    "INSERT INTO inbox (to_agent, message_type, subject) VALUES ('bob', 'fyi', 'S')",
                ):
                    with pytest.raises(asyncpg.InsufficientPrivilegeError):
                        await _execute_as(sql, role, statement)
                # With the tables' rights they can, and no more than rights on tables was needed.
                await sql.execute(f"GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA postoffice TO {role}")
                async with sql.transaction():
                    await sql.execute(f"SET LOCAL ROLE {role}")
                    assert await sql.fetchval("SELECT count(*) FROM inbox") == 1
                    await sql.execute("UPDATE inbox SET processed = true")
                    await sql.execute("INSERT INTO inbox (to_agent, message_type, subject) VALUES ('bob', 'fyi', 'S')")
                bob = await office.identify(name="bob")
                assert [leased.message.subject for leased in (await office.receive(bob)).leased] == ["S"]
            finally:
                await sql.execute(f"DROP OWNED BY {role}; DROP ROLE {role}")
        check_books(await postgres_books(url))
    finally:
        await postgres.drop(url)


# Whatever the database speaks


async def test_subjects_are_the_same_in_any_case_whatever_the_databases_locale(postgres: PostgresServer) -> None:
    name = f"plain_{uuid4().hex[:8]}"
    async with _connected(postgres.url("postgres")) as admin:
        await admin.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'")
    url = postgres.url(name)
    try:
        await asyncio.to_thread(run_alembic, url, schema="postoffice", inbox_schema="postoffice")
        async with PostOffice(Store(PostgreSQL(url)), LocalWake(), OfficeRules(tick=3600)) as office, _connected(url) as sql:
            bob = await office.identify(name="bob")
            for subject in ("Ärger", "ÄRGER", "ärger"):
                await sql.execute("INSERT INTO inbox (to_agent, message_type, subject) VALUES ('bob', 'fyi', $1)", subject)
            assert [(thread.subject, thread.unread) for thread in (await office.inbox(bob)).items] == [("Ärger", 3)]
    finally:
        await postgres.drop(url)
