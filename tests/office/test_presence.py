"""Section 5: presence."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

import pytest

from postoffice.acts.act import Act
from postoffice.acts.people.agents import Seen
from postoffice.core.agent import Caller, Presence
from postoffice.core.task import TaskState
from postoffice.office import PostOffice, presences
from tests.engines import Engine
from tests.mail import ask, member, office_with, people, person, write

A_WHILE = timedelta(seconds=61)


async def presence(office: PostOffice, name: str) -> Presence:
    listed = {agent.name: agent.presence for agent in (await office.agents()).items}
    shown = (await office.agent(name)).presence
    assert listed[name] == shown
    return shown


async def last_seen(office: PostOffice, name: str) -> datetime | None:
    """When it was seen, as every list has it and as it is shown alone: to the second, since time goes on between them."""
    listed = {agent.name: agent.last_seen for agent in (await office.agents()).items}
    seated = {seat.name: seat.last_seen for seat in (await office.roster(office.owner())).items}
    shown = (await office.agent(name)).last_seen
    for one in (listed[name], seated[name]):
        assert (one is None) == (shown is None)
        assert one is None or shown is None or abs(one - shown) < timedelta(seconds=1)
    return shown


async def flush(office: PostOffice) -> None:
    """Signs of life are written down every fifth tick."""
    for _ in range(5):
        await office.upkeep.tick()


class TestPresence:
    async def test_an_agent_that_has_called_is_idle(self, office: PostOffice) -> None:
        await person(office, "alice")
        assert await presence(office, "alice") is Presence.IDLE

    async def test_an_agent_that_has_never_called_is_offline(self, office: PostOffice) -> None:
        alice = await person(office, "alice")
        await write(office, alice, "stranger")
        await office.register("newcomer")
        assert await presence(office, "stranger") is Presence.OFFLINE
        assert await presence(office, "newcomer") is Presence.OFFLINE

    async def test_an_agent_with_tasks_under_way_is_busy(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        asked = await ask(office, alice, "bob")
        assert await presence(office, "bob") is Presence.IDLE
        await office.update_task(bob, asked.message_id, TaskState.ACCEPTED)
        assert await presence(office, "bob") is Presence.BUSY
        assert (await office.agent("bob")).current_tasks == (asked.message_id,)
        await office.update_task(bob, asked.message_id, TaskState.COMPLETED)
        assert await presence(office, "bob") is Presence.IDLE

    async def test_an_agent_that_is_silent_for_a_minute_is_offline(self, office: PostOffice, engine: Engine) -> None:
        await person(office, "alice")
        await flush(office)
        await engine.advance(A_WHILE)
        assert await presence(office, "alice") is Presence.OFFLINE

    async def test_a_silent_agent_is_offline_though_it_has_tasks(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        asked = await ask(office, alice, "bob")
        await office.update_task(bob, asked.message_id, TaskState.WORKING)
        await flush(office)
        await engine.advance(A_WHILE)
        assert await presence(office, "bob") is Presence.OFFLINE

    async def test_any_call_is_a_sign_of_life(self, office: PostOffice, engine: Engine) -> None:
        await person(office, "alice")
        await flush(office)
        await engine.advance(A_WHILE)
        await person(office, "alice")
        assert await presence(office, "alice") is Presence.IDLE

    async def test_whoever_waits_in_one_call_is_there_however_long_it_lasts(self, office: PostOffice, engine: Engine) -> None:
        taker, reader = await people(office, "taker", "reader")
        office._presences.sign_after = 0.01
        waiting = asyncio.gather(office.wait(taker, within=timedelta(seconds=60)), office.news(reader, within=timedelta(seconds=60)))
        await flush(office)
        await engine.advance(A_WHILE)
        for name in ("taker", "reader"):
            async with asyncio.timeout(30):
                while await presence(office, name) is not Presence.IDLE:  # noqa: ASYNC110 - a sign of life is no event
                    await asyncio.sleep(0.01)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    async def test_a_heartbeat_counts_before_it_is_written_down(self, office: PostOffice, engine: Engine) -> None:
        alice = await member(office, "alice")
        await flush(office)
        await engine.advance(A_WHILE)
        office.heartbeat(alice)
        assert await presence(office, "alice") is Presence.IDLE
        stored = await office.store.agents.named("alice")
        assert stored is not None
        assert stored.presence is Presence.OFFLINE

    async def test_when_it_was_seen_is_as_new_as_whether_it_is_there(self, office: PostOffice) -> None:
        await office.register("alice")
        await office.store.do(Seen({"alice": timedelta(minutes=12)}))
        before = await last_seen(office, "alice")
        assert before is not None
        office.heartbeat(Caller("alice", verified=True))
        after = await last_seen(office, "alice")
        assert after is not None
        assert timedelta(minutes=11) < after - before < timedelta(minutes=13)

    async def test_an_agent_that_is_back_was_seen_though_nothing_is_written_down_yet(self, office: PostOffice) -> None:
        alice = await person(office, "alice")
        await office.leave(alice)
        assert await last_seen(office, "alice") is None
        office.heartbeat(alice)
        assert await last_seen(office, "alice") is not None

    async def test_what_is_written_down_is_shown_where_it_is_newer(self, office: PostOffice, engine: Engine) -> None:
        alice = await person(office, "alice")
        office.heartbeat(alice)
        await engine.advance(A_WHILE)
        await office.store.do(Seen({"alice": timedelta(0)}))  # by another process, whose clock is the store's
        stored = await office.store.agents.named("alice")
        assert stored is not None
        assert await last_seen(office, "alice") == stored.last_seen

    async def test_a_heartbeat_is_written_down_with_a_later_tick(self, office: PostOffice, engine: Engine) -> None:
        alice = await member(office, "alice")
        await flush(office)
        await engine.advance(A_WHILE)
        office.heartbeat(alice)
        await flush(office)
        stored = await office.store.agents.named("alice")
        assert stored is not None
        assert stored.presence is Presence.IDLE

    async def test_the_signs_of_many_are_written_down_a_few_at_a_time(self, office: PostOffice, monkeypatch: pytest.MonkeyPatch) -> None:
        everyone = [await person(office, f"agent-{number}") for number in range(7)]
        await flush(office)
        monkeypatch.setattr(presences, "_SEEN_AT_ONCE", 3)
        written: list[list[str]] = []
        write_down = office.store.do

        async def seen(act: Act[Any]) -> Any:
            if isinstance(act, Seen):
                if not written:
                    office.heartbeat(everyone[0])  # a newer sign than the one being written
                written.append(list(act.ages))
            return await write_down(act)

        monkeypatch.setattr(office.store, "do", seen)
        for caller in everyone:
            office.heartbeat(caller)
        await flush(office)
        assert written == [[f"agent-{number}" for number in some] for some in ((0, 1, 2), (3, 4, 5), (6,))]
        await flush(office)
        assert written[3:] == [["agent-0"]]
        await flush(office)
        assert len(written) == 4

    async def test_a_heartbeat_is_written_down_when_the_office_closes(self, engine: Engine) -> None:
        async with office_with(engine) as office:
            await person(office, "alice")
            await flush(office)
            await engine.advance(A_WHILE)
            office.heartbeat(await person(office, "alice"))
        async with office_with(engine) as office:
            assert await presence(office, "alice") is Presence.IDLE

    async def test_an_agent_that_leaves_is_offline_at_once(self, office: PostOffice) -> None:
        alice = await person(office, "alice")
        await office.leave(alice)
        assert await presence(office, "alice") is Presence.OFFLINE
        assert (await office.agent("alice")).last_seen is None

    async def test_an_agent_that_left_is_back_with_its_next_call(self, office: PostOffice) -> None:
        alice = await person(office, "alice")
        await office.leave(alice)
        await person(office, "alice")
        assert await presence(office, "alice") is Presence.IDLE

    async def test_the_time_until_offline_is_a_setting(self, engine: Engine) -> None:
        async with office_with(engine, heartbeat_timeout=timedelta(hours=1)) as office:
            await person(office, "alice")
            await flush(office)
            await engine.advance(timedelta(minutes=50))
            assert await presence(office, "alice") is Presence.IDLE
            await engine.advance(timedelta(minutes=11))
            assert await presence(office, "alice") is Presence.OFFLINE
