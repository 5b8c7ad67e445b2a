"""Waiting for mail and news: told at the moment of commit, and no lease left behind by who went away."""

import asyncio
from collections.abc import Awaitable
from datetime import timedelta
from typing import Any, TypeVar

import pytest

from postoffice.acts.act import Act
from postoffice.acts.mail.session import ReadSession
from postoffice.acts.mail.take_and_settle import TakeAndSettle
from postoffice.core.delivery import Ack, Collected, State
from postoffice.core.errors import Closed
from postoffice.core.names import folded
from postoffice.office import PostOffice
from postoffice.office.bells import Bells
from postoffice.store.engine import Tell
from tests.engines import Engine
from tests.mail import office_with, people, standing, take, taken, write

LONG = timedelta(seconds=60)
T = TypeVar("T")


async def soon(awaited: Awaitable[T]) -> T:
    """The answer, long before anything but a wake-up could have brought it."""
    async with asyncio.timeout(30):
        return await awaited


async def wait_until_waiting(office: PostOffice, name: str) -> None:
    """Let others run until somebody waits for this agent and has looked once."""
    async with asyncio.timeout(30):
        while folded(name) not in office._bells.names():  # noqa: ASYNC110 - a bell being hung is no event
            await asyncio.sleep(0)
    await office.store.ping()
    await office.receive(await office.identify(name="nobody"))


def texts(turned: Collected) -> list[str | None]:
    return [leased.message.content for leased in turned.leased]


class TestWaitingForMail:
    async def test_mail_that_is_there_is_given_at_once(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        assert texts(await soon(office.wait(bob, within=LONG))) == ["hello"]

    async def test_a_waiter_is_woken_when_mail_is_committed(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        waiter = asyncio.create_task(office.wait(bob, within=LONG))
        await wait_until_waiting(office, "bob")
        await write(office, alice, "bob")
        assert texts(await soon(waiter)) == ["hello"]

    async def test_a_waiter_is_woken_when_mail_is_given_back(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        leased = await take(office, bob)
        waiter = asyncio.create_task(office.wait(bob, within=LONG))
        await wait_until_waiting(office, "bob")
        await office.nack(bob, leased.message.id, leased.token)
        assert texts(await soon(waiter)) == ["hello"]

    @pytest.mark.parametrize("at_once", [True, False])
    async def test_a_waiter_for_one_of_a_session_is_woken_when_the_one_in_hand_is_acked(self, office: PostOffice, *, at_once: bool) -> None:
        alice, bob = await people(office, "alice", "bob")
        for text in ("one", "two"):
            await write(office, alice, "bob", text)
        leased = await take(office, bob, one_per_session=True)
        waiter = asyncio.create_task(office.wait(bob, within=LONG, one_per_session=True))
        if not at_once:
            await wait_until_waiting(office, "bob")
        await office.ack(bob, leased.message.id, leased.token)
        assert texts(await soon(waiter)) == ["two"]

    async def test_a_waiter_for_one_of_a_session_is_woken_though_the_first_of_it_is_read_meanwhile(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        sent = [await write(office, alice, "bob", text) for text in ("one", "two")]
        reading = office.store.do(ReadSession("bob", sent[0].session_id or "", 2, 10))
        _, turned = await soon(asyncio.gather(reading, office.wait(bob, within=LONG, one_per_session=True)))
        assert texts(turned) == ["two"]

    async def test_a_waiter_is_woken_by_the_sweep_when_a_lease_ran_out(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        await take(office, bob)
        waiter = asyncio.create_task(office.wait(bob, within=LONG))
        await wait_until_waiting(office, "bob")
        await engine.advance(timedelta(minutes=1))
        await office.upkeep.tick()
        assert texts(await soon(waiter)) == ["hello"]

    async def test_a_waiter_whose_hint_was_lost_is_woken_by_the_next_tick(
        self, office: PostOffice, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        alice, bob = await people(office, "alice", "bob")
        waiter = asyncio.create_task(office.wait(bob, within=LONG))
        await wait_until_waiting(office, "bob")
        monkeypatch.setattr(office._bells, "ring", lambda _: None)
        await write(office, alice, "bob")
        monkeypatch.undo()
        assert not waiter.done()
        await office.upkeep.tick()
        assert texts(await soon(waiter)) == ["hello"]

    async def test_of_many_waiters_one_gets_the_message(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        waiters = [asyncio.create_task(office.wait(bob, within=LONG)) for _ in range(5)]
        await wait_until_waiting(office, "bob")
        await write(office, alice, "bob", "one")
        done, waiting = await asyncio.wait(waiters, return_when=asyncio.FIRST_COMPLETED, timeout=20)
        assert [text for waiter in done for text in texts(waiter.result())] == ["one"]
        for n in range(len(waiting)):
            await write(office, alice, "bob", f"another {n}")
        rest = await soon(asyncio.gather(*waiting))
        assert sorted(text or "" for turned in rest for text in texts(turned)) == [f"another {n}" for n in range(len(waiting))]

    async def test_without_patience_an_empty_mailbox_is_told_at_once(self, office: PostOffice) -> None:
        (bob,) = await people(office, "bob")
        assert (await office.wait(bob, within=timedelta(0))).leased == ()

    async def test_a_waiter_that_got_nothing_leaves_no_bell(self, office: PostOffice) -> None:
        (bob,) = await people(office, "bob")
        await office.wait(bob, within=timedelta(0))
        assert office._bells.names() == []

    async def test_a_wait_settles_what_was_handled_before_it_waits(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        first = await write(office, alice, "bob", "one")
        leased = await take(office, bob)
        waiter = asyncio.create_task(office.wait(bob, within=LONG, settle=[Ack(leased.message.id, leased.token)]))
        await wait_until_waiting(office, "bob")
        assert (await standing(office, alice, first.message_id)).state is State.ACKED
        await write(office, alice, "bob", "two")
        turned = await soon(waiter)
        assert texts(turned) == ["two"]
        (settled,) = turned.settled
        assert not isinstance(settled, Exception)
        assert (settled.message_id, settled.state) == (first.message_id, State.ACKED)

    async def test_a_wait_keeps_to_its_session(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        wanted = await write(office, alice, "bob", "first", subject="wanted")
        await take(office, bob)
        waiter = asyncio.create_task(office.wait(bob, within=LONG, session_id=wanted.session_id))
        await wait_until_waiting(office, "bob")
        await write(office, alice, "bob", "elsewhere", subject="other")
        await write(office, alice, "bob", "here", subject="wanted")
        assert texts(await soon(waiter)) == ["here"]


class TestGoingAway:
    async def test_a_waiter_that_went_away_takes_nothing(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        waiter = asyncio.create_task(office.wait(bob, within=LONG))
        await wait_until_waiting(office, "bob")
        waiter.cancel()
        await asyncio.gather(waiter, return_exceptions=True)
        assert office._bells.names() == []
        await write(office, alice, "bob")
        assert (await take(office, bob)).attempt == 1

    @pytest.mark.parametrize("moment", ["before", "after"])
    @pytest.mark.parametrize("verb", ["wait", "receive"])
    async def test_a_taker_that_goes_away_around_the_answer_leaves_no_lease(
        self, office: PostOffice, monkeypatch: pytest.MonkeyPatch, moment: str, verb: str
    ) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        put = office.store.engine.put

        def put_and_go_away(act: Act[Any], tell: Tell) -> None:
            def told(outcome: object) -> None:
                leaving = isinstance(act, TakeAndSettle) and isinstance(outcome, Collected) and bool(outcome.leased)
                if leaving and moment == "before":
                    taker.cancel()
                tell(outcome)
                if leaving and moment == "after":
                    taker.cancel()

            put(act, told)

        monkeypatch.setattr(office.store.engine, "put", put_and_go_away)
        taker = asyncio.create_task(getattr(office, verb)(bob))
        (outcome,) = await soon(asyncio.gather(taker, return_exceptions=True))
        monkeypatch.undo()
        assert isinstance(outcome, asyncio.CancelledError)
        (leased,) = (await soon(office.wait(bob, within=LONG))).leased
        assert (leased.message.content, leased.attempt) == ("hello", 1)

    @pytest.mark.parametrize("turns", range(8))
    async def test_a_taker_cancelled_at_any_moment_leaves_the_mail_to_the_next(self, office: PostOffice, turns: int) -> None:
        alice, bob = await people(office, "alice", "bob")
        waiter = asyncio.create_task(office.wait(bob, within=LONG))
        await wait_until_waiting(office, "bob")
        sending = asyncio.create_task(write(office, alice, "bob"))
        for _ in range(turns):
            await asyncio.sleep(0)
        waiter.cancel()
        (outcome,) = await soon(asyncio.gather(waiter, return_exceptions=True))
        await sending
        assert isinstance(outcome, asyncio.CancelledError)
        (leased,) = (await soon(office.wait(bob, within=LONG))).leased
        assert leased.attempt == 1


class TestClosing:
    async def test_closing_sends_waiters_home(self, engine: Engine) -> None:
        async with office_with(engine) as office:
            alice, bob = await people(office, "alice", "bob")
            mail = asyncio.create_task(office.wait(bob, within=LONG))
            await wait_until_waiting(office, "bob")
            news = asyncio.create_task(office.news(alice, within=LONG))
            await wait_until_waiting(office, "alice")
        assert (await soon(mail)).leased == ()
        assert await soon(news) == []

    async def test_mail_sent_while_closing_waits_for_the_next_opening(self, engine: Engine) -> None:
        async with office_with(engine) as office:
            alice, bob = await people(office, "alice", "bob")
            waiter = asyncio.create_task(office.wait(bob, within=LONG))
            await wait_until_waiting(office, "bob")
        await soon(waiter)
        async with office_with(engine) as office:
            alice, bob = await people(office, "alice", "bob")
            await write(office, alice, "bob")
            assert await taken(office, bob) == ["hello"]

    async def test_a_closed_office_begins_nothing(self, engine: Engine) -> None:
        async with office_with(engine) as office:
            alice, _ = await people(office, "alice", "bob")
        for call in (write(office, alice, "bob"), office.receive(alice), office.inbox(alice), office.totals()):
            with pytest.raises(Closed):
                await call


class TestWaitingForNews:
    async def test_news_that_is_there_is_given_at_once(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        assert [event.kind for event in await soon(office.news(bob, within=LONG))] == ["new_message"]

    async def test_a_waiter_is_woken_by_news_after_its_number(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        (old,) = await office.news(bob)
        waiter = asyncio.create_task(office.news(bob, after=old.number, within=LONG))
        await wait_until_waiting(office, "bob")
        new = await write(office, alice, "bob")
        assert [event.ref for event in await soon(waiter)] == [new.message_id]

    async def test_a_waiter_for_news_whose_hint_was_lost_is_woken_by_the_next_tick(
        self, office: PostOffice, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        alice, bob = await people(office, "alice", "bob")
        waiter = asyncio.create_task(office.news(bob, within=LONG))
        await wait_until_waiting(office, "bob")
        monkeypatch.setattr(office._bells, "ring", lambda _: None)
        await write(office, alice, "bob")
        monkeypatch.undo()
        await office.upkeep.tick()
        assert len(await soon(waiter)) == 1


async def test_whoever_went_with_the_mail_that_a_backup_replaced_is_woken_by_the_next_tick(office: PostOffice) -> None:
    with office._bells.waiting("gone", after=1) as bell:
        await office.upkeep.tick()
        assert bell.still()


async def test_a_look_that_shows_a_shorter_log_wakes_whoever_stands_beyond_it() -> None:
    bells = Bells()
    with bells.waiting("bob", 5) as bell:
        bells.compare({"bob": (0, 5)})
        assert not bell.still()
        bells.compare({"bob": (0, 3)})
        assert bell.still()
