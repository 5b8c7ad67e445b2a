"""Many letters at once: counted first, done in groups, and what is stopped half-way goes on where it was."""

from datetime import timedelta

import pytest

from postoffice.core.bulk import BulkAct, Which
from postoffice.core.delivery import State
from postoffice.core.errors import BadCursor, OwnerOnly
from postoffice.office import PostOffice
from tests.engines import Engine
from tests.mail import kill, notices, office_with, people, standing, taken, write

HOUR = timedelta(hours=1)


async def some_dead(office: PostOffice, count: int, reason: str = "no disk") -> None:
    alice, bob = await people(office, "alice", "bob")
    for n in range(count):
        await write(office, alice, "bob", f"letter {n}")
        await kill(office, bob, reason)


class TestDead:
    async def test_they_are_counted_and_requeued_in_groups(self, engine: Engine) -> None:
        async with office_with(engine, max_attempts=1) as office:
            await some_dead(office, 5)
            owner, (bob,) = office.owner(), await people(office, "bob")
            counted = await office.bulk.count(owner, BulkAct.REQUEUE, Which(agent="Bob", reason="DISK"))
            assert counted.count == 5
            assert (await office.counts(bob)).dead == 5
            cursor, lefts = None, []
            while True:
                made = await office.bulk.do(owner, BulkAct.REQUEUE, Which(agent="bob", reason="disk"), counted.before, cursor, 2)
                lefts.append(made.left)
                if (cursor := made.cursor) is None:
                    break
            assert lefts == [3, 1, 0]
            assert await taken(office, bob) == [f"letter {n}" for n in range(5)]

    async def test_what_was_stopped_half_way_goes_on_without_a_cursor(self, engine: Engine) -> None:
        async with office_with(engine, max_attempts=1) as office:
            await some_dead(office, 3)
            for _ in range(3):
                made = await office.bulk.do(office.owner(), BulkAct.DISCARD, Which(), limit=1)
            assert (made.done, made.left) == (1, 0)

    async def test_only_those_that_fit_and_that_were_there_when_they_were_counted(self, engine: Engine) -> None:
        async with office_with(engine, max_attempts=1) as office:
            await some_dead(office, 1, "no disk")
            await engine.advance(HOUR)
            await some_dead(office, 1, "no memory")
            owner = office.owner()
            for which, count in (
                (Which(), 2),
                (Which(reason="memory"), 1),
                (Which(older_than=HOUR), 1),
                (Which(sender="alice"), 2),
                (Which(sender="bob"), 0),
                (Which(type="task"), 0),
                (Which(agent="alice"), 0),
            ):
                assert (await office.bulk.count(owner, BulkAct.REQUEUE, which)).count == count, which
            counted = await office.bulk.count(owner, BulkAct.DISCARD, Which())
            await engine.advance(HOUR)
            await some_dead(office, 1, "later")
            made = await office.bulk.do(owner, BulkAct.DISCARD, Which(), counted.before)
            assert (made.done, made.left) == (2, 0)
            assert (await office.bulk.count(owner, BulkAct.DISCARD, Which())).count == 1

    async def test_what_its_sender_took_back_is_not_requeued(self, office: PostOffice) -> None:
        alice, _ = await people(office, "alice", "bob")
        sent = await write(office, alice, "bob")
        await office.cancel(alice, sent.message_id)
        assert (await office.bulk.count(office.owner(), BulkAct.REQUEUE, Which())).count == 0
        assert (await office.bulk.do(office.owner(), BulkAct.DISCARD, Which())).done == 1


class TestWaiting:
    async def test_it_expires_and_its_senders_are_told(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        old = await write(office, alice, "bob", "old")
        later = await write(office, alice, "bob", "later", deliver_at=9 * HOUR)
        await engine.advance(2 * HOUR)
        await write(office, alice, "bob", "new")
        made = await office.bulk.do(office.owner(), BulkAct.EXPIRE, Which(agent="bob", older_than=HOUR))
        assert (made.done, made.refused, made.left) == (2, 0, 0)
        for sent in (old, later):
            one = await standing(office, alice, sent.message_id)
            assert (one.state, one.in_words) == (State.DEAD, "expired")
        assert len(await notices(office, alice)) == 2
        assert await taken(office, bob) == ["new"]

    async def test_what_is_in_hand_stays_there(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        await taken(office, bob)
        assert (await office.bulk.do(office.owner(), BulkAct.EXPIRE, Which())).done == 0


async def test_only_the_owner_does_it(office: PostOffice) -> None:
    (alice,) = await people(office, "alice")
    with pytest.raises(OwnerOnly):
        await office.bulk.count(alice, BulkAct.REQUEUE, Which())
    with pytest.raises(OwnerOnly):
        await office.bulk.do(alice, BulkAct.DISCARD, Which())
    with pytest.raises(BadCursor):
        await office.bulk.do(office.owner(), BulkAct.DISCARD, Which(), cursor="nowhere")
