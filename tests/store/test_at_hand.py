"""What a process remembers of PostgreSQL's rows: it spares loading them, and is never believed after somebody else has been at them."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from postoffice.acts.mail.dead import Release
from postoffice.acts.mail.send import Send
from postoffice.acts.mail.take_and_settle import TakeAndSettle
from postoffice.acts.people.agents import Appear, UpdateCard
from postoffice.core.delivery import Ack, Extend, GiveBack, Leased, Nack, Wish
from postoffice.core.draft import Draft
from postoffice.core.errors import IdConflict, LeaseLost, NoSuchSession, NotAdmitted, OutcomeUnknown
from postoffice.core.message import Accepted
from postoffice.store.engine import Loads
from postoffice.store.postgres import committer
from postoffice.store.postgres.committer import Committer
from postoffice.store.postgres.engine import PostgreSQL
from postoffice.store.store import Store
from tests.engines import PostgresEngine, PostgresServer
from tests.proof.patience import until

A_MINUTE = timedelta(minutes=1)
WISH = Wish(limit=1, visible_for=A_MINUTE)


@pytest.fixture
async def url(postgres: PostgresServer) -> AsyncIterator[str]:
    borrowed = await postgres.borrow()
    yield borrowed
    await postgres.give_back(borrowed)


@pytest.fixture
async def replicas(url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Store, Store]]:
    """Two that go by what they remember, whatever the other has just done."""
    monkeypatch.setattr(committer, "_DOUBT_NANOSECONDS", 0)
    first, second = Store(PostgreSQL(url)), Store(PostgreSQL(url))
    for store in (first, second):
        await store.open(lambda _: None)
    for name in ("alice", "bob"):
        await first.do(Appear(name))
    yield first, second
    for store in (first, second):
        await store.close()


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The queries by which groups of acts load what they need."""
    asked: list[str] = []
    fetch = Committer._fetch

    async def counted(self: Committer, loads: Loads) -> Any:
        asked.extend(loads)
        return await fetch(self, loads)

    monkeypatch.setattr(Committer, "_fetch", counted)
    return asked


async def send(store: Store, content: str = "hello", **fields: Any) -> Accepted:
    return await store.do(Send("alice", Draft(to="bob", content=content, priority=3, **fields), verified=False, strangers=True))


async def take(store: Store) -> list[Leased]:
    return list((await store.do(TakeAndSettle("bob", (), WISH))).leased)


async def ack(store: Store, leased: Leased) -> object:
    return (await store.do(TakeAndSettle("bob", (Ack(leased.message.id, leased.token),), None))).settled[0]


async def cycle(store: Store, content: str = "hello") -> None:
    await send(store, content)
    (leased,) = await take(store)
    assert leased.message.content == content
    assert not isinstance(await ack(store, leased), Exception)


async def test_a_second_letter_between_two_agents_is_sent_taken_and_acked_without_loading_anything(
    replicas: tuple[Store, Store], loaded: list[str]
) -> None:
    first, _ = replicas
    await cycle(first)
    loaded.clear()
    await cycle(first, "another")
    assert loaded == []


async def test_nothing_is_remembered_over_another_connection(replicas: tuple[Store, Store], url: str, loaded: list[str]) -> None:
    first, _ = replicas
    await cycle(first)
    operator = await asyncpg.connect(url)
    await operator.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    await operator.close()
    loaded.clear()
    await cycle(first, "another")
    assert "boxes" in loaded


@pytest.fixture
def trips(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a committer says to the server, by its first word."""
    said: list[str] = []
    fetch, execute = asyncpg.Connection.fetch, asyncpg.Connection.execute

    async def fetched(connection: Any, query: str, *arguments: Any, **options: Any) -> Any:
        said.append(query.split(maxsplit=1)[0])
        return await fetch(connection, query, *arguments, **options)

    async def executed(connection: Any, query: str, *arguments: Any, **options: Any) -> Any:
        said.append(query.split(maxsplit=1)[0])
        return await execute(connection, query, *arguments, **options)

    monkeypatch.setattr(asyncpg.Connection, "fetch", fetched)
    monkeypatch.setattr(asyncpg.Connection, "execute", executed)
    return said


async def test_a_letter_is_sent_taken_and_acked_by_one_statement_each(replicas: tuple[Store, Store], trips: list[str]) -> None:
    first, _ = replicas
    for _ in range(2):  # with the transaction that was begun ahead, and without
        await cycle(first)
    trips.clear()
    await cycle(first)
    await send(first, client_id="mine")
    assert trips == ["WITH"] * 4


async def test_looking_in_vain_is_one_statement_too(replicas: tuple[Store, Store], trips: list[str]) -> None:
    first, _ = replicas
    for _ in range(2):
        await cycle(first)
    trips.clear()
    assert await take(first) == []
    assert trips == ["WITH"]


async def test_a_senders_own_id_is_still_looked_up(replicas: tuple[Store, Store]) -> None:
    first, _ = replicas
    await cycle(first)
    sent = await send(first, client_id="mine")
    assert (await send(first, client_id="mine")).message_id == sent.message_id
    assert (await send(first)).message_id != sent.message_id
    with pytest.raises(IdConflict):
        await send(first, "something else", client_id="mine")


async def test_a_senders_own_id_that_was_used_at_another_replica_is_found(replicas: tuple[Store, Store]) -> None:
    first, second = replicas
    await cycle(first)
    sent = await send(second, client_id="mine")
    again = await send(first, client_id="mine")
    assert (again.message_id, again.duplicate) == (sent.message_id, True)


async def test_what_came_due_meanwhile_is_taken(replicas: tuple[Store, Store], url: str) -> None:
    first, _ = replicas
    for _ in range(2):
        await cycle(first)
    await send(first)
    (leased,) = await take(first)
    await PostgresEngine(url).advance(2 * A_MINUTE)
    assert [again.message.id for again in await take(first)] == [leased.message.id]


async def test_a_time_that_is_not_the_servers_any_more_is_not_gone_by(replicas: tuple[Store, Store], url: str) -> None:
    first, _ = replicas
    for _ in range(2):
        await cycle(first)
    before = await send(first)
    await PostgresEngine(url).advance(A_MINUTE)
    after = await send(first)
    assert after.created_at - before.created_at >= A_MINUTE


async def test_what_another_changes_while_its_mailbox_is_waited_for_is_noticed(replicas: tuple[Store, Store], url: str) -> None:
    first, _ = replicas
    for _ in range(2):
        await cycle(first)
    waits = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    async with asyncpg.create_pool(url, min_size=2, max_size=2) as others, others.acquire() as writer, others.acquire() as onlooker:
        async with writer.transaction():
            await writer.execute("UPDATE postoffice.mailboxes SET counted = counted + 1000 WHERE agent = 'bob'")
            sending = asyncio.create_task(send(first))
            await until(lambda: onlooker.fetchval(waits))
        await sending
    (leased,) = await take(first)
    assert leased.number > 1000


async def test_an_act_whose_only_statement_got_no_answer_may_be_done_or_not(
    replicas: tuple[Store, Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = replicas
    for _ in range(2):
        await cycle(first)
    fetch = asyncpg.Connection.fetch

    async def unheard(connection: Any, query: str, *arguments: Any, **options: Any) -> Any:
        await fetch(connection, query, *arguments, **options)
        connection.terminate()
        raise ConnectionResetError(104, "Connection reset by peer")

    monkeypatch.setattr(asyncpg.Connection, "fetch", unheard)
    with pytest.raises(OutcomeUnknown):
        await send(first, "once")
    monkeypatch.setattr(asyncpg.Connection, "fetch", fetch)
    (leased,) = await take(second)
    assert leased.message.content == "once"
    assert await take(second) == []


async def test_a_server_that_was_silent_for_long_is_asked_first_whether_it_is_there(
    replicas: tuple[Store, Store], trips: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = replicas
    for _ in range(2):
        await cycle(first)
    monkeypatch.setattr(committer, "_FRESH_NANOSECONDS", 0)
    trips.clear()
    await send(first)
    assert trips[0] == "BEGIN"


async def test_mail_that_another_replica_took_is_not_taken_again(replicas: tuple[Store, Store]) -> None:
    first, second = replicas
    await cycle(first)
    await send(first)
    (leased,) = await take(second)
    assert await take(first) == []
    assert not isinstance(await ack(second, leased), Exception)


async def test_mail_that_another_replica_accepted_comes_in_its_turn(replicas: tuple[Store, Store]) -> None:
    first, second = replicas
    await cycle(first)
    await send(first, "one")
    await send(second, "two")
    await send(first, "three")
    taken = [(await take(store))[0] for store in (first, first, second)]
    assert [leased.message.content for leased in taken] == ["one", "two", "three"]
    assert [leased.number for leased in taken] == sorted(leased.number for leased in taken)


Act = Callable[[Store, Leased], Awaitable[object]]


@pytest.mark.parametrize(
    "elsewhere",
    [
        ack,
        lambda store, leased: store.do(TakeAndSettle("bob", (Nack(leased.message.id, leased.token),), None)),
        lambda store, leased: store.do(TakeAndSettle("bob", (GiveBack(leased.message.id, leased.token),), WISH)),
    ],
    ids=["acked", "given back", "given back and taken again"],
)
async def test_a_lease_that_ended_at_another_replica_is_not_nacked_at_this_one(replicas: tuple[Store, Store], elsewhere: Act) -> None:
    first, second = replicas
    await cycle(first)
    await send(first)
    (leased,) = await take(first)
    await elsewhere(second, leased)
    settled = (await first.do(TakeAndSettle("bob", (Extend(leased.message.id, A_MINUTE, leased.token),), None))).settled[0]
    assert isinstance(settled, LeaseLost)


async def test_a_card_changed_at_another_replica_decides(replicas: tuple[Store, Store]) -> None:
    first, second = replicas
    await cycle(first)
    await second.do(UpdateCard("bob", {"allow_from": ()}))
    with pytest.raises(NotAdmitted):
        await send(first)


async def test_what_the_view_settles_is_settled(replicas: tuple[Store, Store], url: str) -> None:
    first, _ = replicas
    await cycle(first)
    await send(first)
    connection = await asyncpg.connect(url)
    try:
        await connection.execute("UPDATE postoffice.inbox SET processed = true WHERE to_agent = 'bob' AND NOT processed")
    finally:
        await connection.close()
    assert await take(first) == []


async def test_mail_that_somebody_holds_is_not_waited_for(replicas: tuple[Store, Store], url: str) -> None:
    first, _ = replicas
    await cycle(first)
    held = await send(first, "held")
    await send(first, "free")
    connection = await asyncpg.connect(url)
    try:
        async with connection.transaction():
            await connection.execute("SELECT 1 FROM postoffice.deliveries WHERE message_id = $1 FOR UPDATE", held.message_id)
            async with asyncio.timeout(20):
                (leased,) = await take(first)
    finally:
        await connection.close()
    assert leased.message.content == "free"


async def session(url: str, low: str, high: str) -> tuple[int, ...]:
    """How much was said in the session of the two, and what of it either has not read."""
    connection = await asyncpg.connect(url)
    try:
        return tuple(
            await connection.fetchrow(
                "SELECT counted, unread_low, unread_high FROM postoffice.sessions WHERE low = $1 AND high = $2", low, high
            )
        )
    finally:
        await connection.close()


async def test_what_the_office_itself_has_said_is_counted(replicas: tuple[Store, Store], url: str, loaded: list[str]) -> None:
    first, _ = replicas
    for told in (1, 2, 3):
        sent = await send(first, hold=True)
        await first.do(Release("bob", sent.message_id, "refused"))
        assert await session(url, "alice", "system") == (told, 1, 0)
        loaded.clear()
        (notice,) = (await first.do(TakeAndSettle("alice", (), WISH))).leased
        assert loaded == [] or told == 1
        assert await session(url, "alice", "system") == (told, 0, 0)
        await first.do(TakeAndSettle("alice", (Ack(notice.message.id, notice.token),), None))


async def test_a_session_of_others_that_somebody_named_is_not_remembered(replicas: tuple[Store, Store], url: str) -> None:
    first, second = replicas

    async def write(store: Store, sender: str, to: str) -> None:
        await store.do(Send(sender, Draft(to=to, content="hello"), verified=False, strangers=True))

    await cycle(first)
    for name in ("carol", "dave"):
        await second.do(Appear(name))
    await write(second, "carol", "dave")
    ((named,),) = [(await second.do(TakeAndSettle("dave", (), WISH))).leased]
    with pytest.raises(NoSuchSession):
        await send(first, session_id=named.session_id)
    await write(second, "carol", "dave")
    for name in ("carol", "dave"):
        await write(first, name, "alice")
    await write(first, "carol", "dave")
    assert await session(url, "carol", "dave") == (3, 0, 2)


async def test_while_others_work_on_the_same_mail_nothing_is_remembered(
    replicas: tuple[Store, Store], loaded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = replicas
    await cycle(first)
    monkeypatch.setattr(committer, "_DOUBT_NANOSECONDS", 3600 * 10**9)
    await cycle(second)
    await cycle(first)
    loaded.clear()
    await send(first)
    assert "boxes" in loaded


async def test_an_idle_process_holds_no_transaction(replicas: tuple[Store, Store], url: str) -> None:
    at_rest = "SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'"
    await cycle(replicas[0])
    connection = await asyncpg.connect(url)
    try:
        await until(lambda: connection.fetchval(at_rest))
    finally:
        await connection.close()
    await cycle(replicas[0], "and goes on")
