"""Decision 11: retention purges what is settled or dead and leaves a tombstone; waiting mail never goes."""

import asyncio
import functools
import itertools
import sqlite3
from datetime import timedelta

import asyncpg
import pytest

from postoffice.acts.act import Act
from postoffice.acts.upkeep.forgetting import Purge
from postoffice.acts.upkeep.indexing import IndexSearch
from postoffice.core.agent import Card
from postoffice.core.clock import Clock
from postoffice.core.delivery import State
from postoffice.core.errors import NoSuchMessage, NoSuchTask
from postoffice.core.task import TaskState
from postoffice.office import PostOffice, upkeep
from tests.engines import Engine, PostgresEngine, SQLiteEngine
from tests.mail import ask, kill, office_with, people, standing, take, taken, write

WEEK = timedelta(days=7)
DAY = timedelta(days=1)


async def purge(office: PostOffice) -> None:
    """What upkeep does every so often; its first sweep, before any tick, purges."""
    await office.upkeep.sweep()


async def _indexed(engine: Engine) -> int:
    """How many texts are in the search index."""
    if isinstance(engine, PostgresEngine):
        connection = await asyncpg.connect(engine.url)
        try:
            return int(await connection.fetchval("SELECT count(*) FROM postoffice.search"))
        finally:
            await connection.close()
    assert isinstance(engine, SQLiteEngine)
    file = sqlite3.connect(engine.path)
    try:
        return int(file.execute("SELECT count(*) FROM search").fetchone()[0])
    finally:
        file.close()


class TestDecision11Retention:
    async def test_by_default_everything_is_kept(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        accepted = await write(office, alice, "bob")
        await office.pop(bob)
        await engine.advance(timedelta(days=3650))
        await purge(office)
        assert (await office.status(alice, accepted.message_id)).message is not None

    async def test_settled_mail_is_purged_and_leaves_a_tombstone(self, engine: Engine) -> None:
        async with office_with(engine, retention=WEEK) as office:
            alice, bob = await people(office, "alice", "bob")
            accepted = await write(office, alice, "bob")
            await office.pop(bob)
            await engine.advance(WEEK + DAY)
            await purge(office)
            proof = await office.status(alice, accepted.message_id)
            assert (proof.message, proof.standings) == (None, ())
            assert proof.purged_at is not None

    async def test_purged_mail_is_in_no_list(self, engine: Engine) -> None:
        async with office_with(engine, retention=WEEK) as office:
            alice, bob = await people(office, "alice", "bob")
            accepted = await write(office, alice, "bob", "find me")
            await office.pop(bob)
            assert len((await office.search(bob, "find")).items) == 1
            await engine.advance(WEEK + DAY)
            await purge(office)
            assert (await office.history(bob, accepted.session_id or "")).lines == ()
            assert (await office.search(bob, "find")).items == ()

    async def test_mail_whose_id_tells_no_time_is_purged_with_the_rest(self, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
        async with office_with(engine, retention=WEEK) as office:
            alice, bob = await people(office, "alice", "bob")
            random = (f"f0000000-0000-4000-8000-{n:012}" for n in itertools.count())
            monkeypatch.setattr(Clock, "new_id", lambda _: next(random))
            accepted = await write(office, alice, "bob")
            await office.pop(bob)
            await purge(office)
            assert (await office.status(alice, accepted.message_id)).purged_at is None
            await engine.advance(WEEK + DAY)
            await purge(office)
            assert (await office.status(alice, accepted.message_id)).purged_at is not None

    async def test_dead_mail_is_purged_and_no_longer_counted(self, engine: Engine) -> None:
        async with office_with(engine, retention=WEEK, max_attempts=1) as office:
            alice, bob = await people(office, "alice", "bob")
            accepted = await write(office, alice, "bob")
            await kill(office, bob)
            await engine.advance(WEEK + DAY)
            await purge(office)
            assert (await office.status(alice, accepted.message_id)).message is None
            assert (await office.counts(bob)).dead == 0
            assert (await office.dead_letters(bob)).items == ()

    async def test_mail_settled_within_the_retention_stays(self, engine: Engine) -> None:
        async with office_with(engine, retention=WEEK) as office:
            alice, bob = await people(office, "alice", "bob")
            accepted = await write(office, alice, "bob")
            await engine.advance(WEEK + DAY)
            await office.pop(bob)
            await purge(office)
            assert (await office.status(alice, accepted.message_id)).message is not None

    @pytest.mark.parametrize("state", [State.PENDING, State.HELD, State.LEASED])
    async def test_waiting_mail_is_never_purged(self, engine: Engine, state: State) -> None:
        async with office_with(engine, retention=WEEK) as office:
            alice, bob = await people(office, "alice", "bob")
            accepted = await write(office, alice, "bob", hold=state is State.HELD)
            await engine.advance(timedelta(days=3650))
            if state is State.LEASED:
                await take(office, bob)
            await purge(office)
            assert (await standing(office, alice, accepted.message_id)).state is state

    async def test_a_message_stays_until_its_last_recipient_is_done_with_it(self, engine: Engine) -> None:
        async with office_with(engine, retention=WEEK) as office:
            alice, bob, carol = await people(office, "alice", "bob", "carol")
            accepted = await write(office, alice, ("bob", "carol"))
            await office.pop(bob)
            await engine.advance(WEEK + DAY)
            await purge(office)
            assert len((await office.status(alice, accepted.message_id)).standings) == 2
            assert await taken(office, carol) == ["hello"]

    async def test_an_unfinished_task_is_never_purged(self, engine: Engine) -> None:
        async with office_with(engine, retention=WEEK) as office:
            alice, bob = await people(office, "alice", "bob")
            asked = await ask(office, alice, "bob")
            await office.update_task(bob, asked.message_id, TaskState.WORKING)
            await office.pop(alice)
            await engine.advance(WEEK + DAY)
            await purge(office)
            assert (await office.task(alice, asked.message_id)).state is TaskState.WORKING
            assert (await office.update_task(bob, asked.message_id, TaskState.COMPLETED)).state is TaskState.COMPLETED

    async def test_much_to_purge_holds_up_nothing_else(self, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
        async with office_with(engine, retention=WEEK) as office:
            alice, bob = await people(office, "alice", "bob")
            old = [await write(office, alice, "bob") for _ in range(3)]
            await office.pop(bob, 3)
            await engine.advance(WEEK + DAY)
            monkeypatch.setattr(upkeep, "_PURGE_NANOSECONDS", 0)
            monkeypatch.setattr(office.store.sweeps, "purge", functools.partial(office.store.sweeps.purge, limit=1))
            await purge(office)
            for left in (2, 1, 0, 0):
                proofs = [await office.status(alice, sent.message_id) for sent in old]
                assert sum(proof.message is not None for proof in proofs) == left
                await write(office, alice, "bob")
                await take(office, bob)
                await engine.advance(timedelta(minutes=1))
                await office.upkeep.tick()
                assert (await office.counts(bob)).leased == 0, "what ran out is back"

    async def test_a_task_stays_for_as_long_after_its_end_as_mail_does(self, engine: Engine) -> None:
        async with office_with(engine, retention=WEEK) as office:
            alice, bob = await people(office, "alice", "bob")
            asked = await ask(office, alice, "bob")
            await office.update_task(bob, asked.message_id, TaskState.WORKING)
            await engine.advance(WEEK + DAY)
            await office.update_task(bob, asked.message_id, TaskState.COMPLETED)
            await purge(office)
            assert (await office.task(alice, asked.message_id)).state is TaskState.COMPLETED
            await engine.advance(WEEK + DAY)
            await purge(office)
            with pytest.raises(NoSuchTask):
                await office.task(alice, asked.message_id)

    async def test_notes_stay_with_their_entity(self, engine: Engine) -> None:
        async with office_with(engine, retention=WEEK) as office:
            alice, bob = await people(office, "alice", "bob")
            await office.note(alice, "T-1", "task", "looks good", ["bob"])
            await office.pop(bob)
            await engine.advance(WEEK + DAY)
            await purge(office)
            assert [note.content for note in (await office.notes("T-1")).items] == ["looks good"]

    async def test_the_record_of_an_id_outlives_the_message(self, engine: Engine) -> None:
        async with office_with(engine, retention=DAY) as office:
            alice, bob = await people(office, "alice", "bob")
            first = await write(office, alice, "bob", client_id="a-1")
            await office.pop(bob)
            await engine.advance(timedelta(days=29))
            await purge(office)
            assert (await office.status(alice, first.message_id)).message is None
            again = await write(office, alice, "bob", client_id="a-1")
            assert (again.message_id, again.duplicate) == (first.message_id, True)
            assert await taken(office, bob) == []

    async def test_an_id_may_be_used_again_when_its_record_is_forgotten(self, engine: Engine) -> None:
        async with office_with(engine, retention=DAY) as office:
            alice, bob = await people(office, "alice", "bob")
            first = await write(office, alice, "bob", client_id="a-1")
            await office.pop(bob)
            await engine.advance(timedelta(days=31))
            await purge(office)
            assert (await write(office, alice, "bob", client_id="a-1")).message_id != first.message_id

    async def test_numbers_go_on_after_everything_was_purged(self, engine: Engine) -> None:
        async with office_with(engine, retention=WEEK) as office:
            alice, bob = await people(office, "alice", "bob")
            await write(office, alice, "bob")
            (first,) = await office.pop(bob)
            await engine.advance(WEEK + DAY)
            await purge(office)
            await write(office, alice, "bob")
            assert (await take(office, bob)).number == first.number + 1

    async def test_a_place_in_the_log_is_one_after_all_before_it_was_forgotten(self, engine: Engine) -> None:
        async with office_with(engine, retention=WEEK) as office:
            alice, _ = await people(office, "alice", "bob")
            for _ in range(2):
                await write(office, alice, "bob")
            owner = office.owner()
            place, told = await office.place(owner), await office.all_news(owner)
            await engine.advance(WEEK + DAY)
            await purge(office)
            assert await office.place(owner) == place
            assert await office.all_news(owner) == told[-1:]
            assert (await anext(office.watch(owner, place))).quiet

    async def test_old_news_is_forgotten_from_the_beginning_of_the_log_some_at_a_time(self, engine: Engine) -> None:
        async with office_with(engine) as office:
            alice, _ = await people(office, "alice", "bob")
            old = [await write(office, alice, "bob") for _ in range(5)]
            await engine.advance(WEEK + DAY)
            new = await write(office, alice, "bob")
            await office.store.do(IndexSearch())
            kept = [sent.message_id for sent in (*old, new)]
            for forgotten in (2, 2, 1, 0):
                assert await office.store.sweeps.forget_events(WEEK, limit=2) == forgotten
                kept = kept[forgotten:]
                assert [event.ref for event in await office.all_news(office.owner())] == kept
            assert kept == [new.message_id]

    async def test_records_of_ids_are_forgotten_some_at_a_time_until_none_is_old(
        self, engine: Engine, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with office_with(engine) as office:
            alice, _ = await people(office, "alice", "bob")
            for number in range(5):
                await write(office, alice, "bob", client_id=f"old-{number}")
            await engine.advance(timedelta(days=31))
            await write(office, alice, "bob", client_id="new")
            assert [await office.store.sweeps.forget(limit=2) for _ in range(2)] == [2, 2]
            monkeypatch.setattr(office.store.sweeps, "forget", functools.partial(office.store.sweeps.forget, limit=1))
            await office.upkeep.sweep()
            assert await office.store.sweeps.forget() == 0
            assert (await write(office, alice, "bob", client_id="new")).duplicate
            again = [(await write(office, alice, "bob", client_id=f"old-{number}")).duplicate for number in range(5)]
            assert again == [False] * 5

    @pytest.mark.parametrize("others", [("bob",), ()], ids=["nobody takes it", "nobody is there"])
    async def test_mail_to_all_that_reached_nobody_is_purged(self, engine: Engine, others: tuple[str, ...]) -> None:
        async with office_with(engine, retention=WEEK) as office:
            (alice,) = await people(office, "alice")
            for other in others:
                await office.register(other, Card(allow_from=()))
            accepted = await write(office, alice, "ALL")
            assert [posted.refusal for posted in accepted.posted] == ["not_admitted"] * len(others)
            await engine.advance(WEEK - DAY)
            await purge(office)
            assert (await office.status(alice, accepted.message_id)).purged_at is None
            await engine.advance(2 * DAY)
            await purge(office)
            proof = await office.status(alice, accepted.message_id)
            assert proof.message is None
            assert proof.purged_at is not None
            assert await office.store.sweeps.purge(WEEK) == 0

    async def test_a_retention_of_a_hundred_years_keeps_everything_and_breaks_nothing(self, engine: Engine) -> None:
        async with office_with(engine, retention=timedelta(days=36_525)) as office:
            alice, bob = await people(office, "alice", "bob")
            accepted = await write(office, alice, "bob")
            await office.pop(bob)
            await purge(office)
            assert (await office.status(alice, accepted.message_id)).message is not None

    async def test_mail_whose_news_grew_old_before_it_was_indexed_is_found(self, engine: Engine) -> None:
        async with office_with(engine, retention=WEEK) as office:
            alice, bob = await people(office, "alice", "bob")
            await write(office, alice, "bob", "find me")
            await write(office, alice, "bob", "and me")
            await engine.advance(WEEK + DAY)
            assert await office.store.sweeps.forget_events(WEEK) == 0
            await purge(office)
            assert [found.message.content for found in (await office.search(bob, "find")).items] == ["find me"]
            assert [event.ref for event in await office.all_news(office.owner())][:-1] == []

    @pytest.mark.parametrize("purged_first", [False, True])
    async def test_what_is_indexed_and_purged_at_once_is_not_left_in_the_index(self, engine: Engine, *, purged_first: bool) -> None:
        async with office_with(engine) as office:
            alice, bob = await people(office, "alice", "bob")
            accepted = await write(office, alice, "bob", "find me")
            await office.pop(bob)
            await engine.advance(WEEK + DAY)
            acts: list[Act[int]] = [IndexSearch(200), Purge(((accepted.message_id, "bob"),), WEEK)]
            await asyncio.gather(*map(office.store.do, reversed(acts) if purged_first else acts))
            assert (await office.status(alice, accepted.message_id)).purged_at is not None
            assert await _indexed(engine) == 0

    async def test_a_purged_id_that_never_was_is_still_unknown(self, engine: Engine) -> None:
        async with office_with(engine, retention=WEEK) as office:
            (alice,) = await people(office, "alice")
            await purge(office)
            with pytest.raises(NoSuchMessage):
                await office.status(alice, "00000000-0000-7000-8000-000000000000")
