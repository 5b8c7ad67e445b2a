"""Every answer to a send says whether somebody can take it now, and asks the store for nothing to say so."""

import asyncio
from datetime import timedelta

from postoffice.core.agent import Caller
from postoffice.core.message import Accepted
from postoffice.core.reach import Way
from postoffice.core.window import LEASE, Opening, Place, Ring, WindowState
from postoffice.office import PostOffice
from postoffice.office.windows import Renewal
from tests.engines import Engine
from tests.mail import people, take, write

A_SHOP = Opening(client="claude-code", place=Place("laptop", 1, "1"), folder="/home/ann/shop", ring=Ring.SOCKET)


def told(sent: Accepted) -> tuple[Way, str]:
    (posted,) = sent.posted
    assert posted.reach is not None
    return posted.reach.way, posted.reach.text


class TestAnswers:
    async def test_a_sender_is_told_of_the_window_as_it_is_now(self, office: PostOffice, engine: Engine) -> None:
        (alice,) = await people(office, "alice")
        assert told(await write(office, alice, "shop")) == (Way.OFFLINE, "nobody has been here under that name yet")
        opened = await office.open_window(None, A_SHOP)
        assert told(await write(office, alice, "shop")) == (Way.WINDOW, "open in Claude Code, idle <1 min, can be woken")
        await office.renew_window(None, Renewal(id=opened.id, state=WindowState.BUSY, ring=Ring.NONE))
        assert told(await write(office, alice, "shop"))[1].endswith("busy <1 min; asleep: nothing wakes it")
        await engine.advance(LEASE + timedelta(seconds=1))
        await office.upkeep.tick()
        assert "open in" not in told(await write(office, alice, "shop"))[1]

    async def test_a_repeated_send_is_told_anew(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        first = await write(office, alice, "shop", client_id="once")
        await office.open_window(None, A_SHOP)
        again = await write(office, alice, "shop", client_id="once")
        assert (again.message_id, again.duplicate) == (first.message_id, True)
        assert told(again)[0] is Way.WINDOW

    async def test_a_program_that_waits_and_one_at_work_are_told(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        waiting = asyncio.create_task(office.wait(bob, within=timedelta(seconds=30)))
        while not office._bells.mail_awaited("bob"):  # noqa: ASYNC110 - a bell says nothing when it is hung up
            await asyncio.sleep(0.01)
        assert told(await write(office, alice, "bob")) == (Way.PROGRAM, "a program waits for its mail")
        await waiting
        assert told(await write(office, alice, "bob"))[1].startswith("at work on earlier mail")

    async def test_who_is_silent_is_told_since_when(self, office: PostOffice, engine: Engine) -> None:
        alice, bob = await people(office, "alice", "bob")
        await office._presences.flush(office.store)
        await engine.advance(timedelta(hours=2))
        assert told(await write(office, alice, "bob")) == (Way.OFFLINE, "offline since 2 h")
        await office.leave(bob)
        assert told(await write(office, alice, "bob")) == (Way.OFFLINE, "offline")

    async def test_each_of_many_is_told_and_each_of_several_messages(self, office: PostOffice) -> None:
        alice, _ = await people(office, "alice", "bob")
        await office.open_window(None, A_SHOP)
        sent = await write(office, alice, ("shop", "bob"))
        assert [one.reach.way for one in sent.posted if one.reach] == [
            Way.WINDOW,
            Way.ASLEEP if not office.store.engine.shared else Way.PROGRAM,
        ]
        everyone = await write(office, alice, "ALL")
        assert all(one.reach is not None for one in everyone.posted)

    async def test_no_query_is_asked_for_it_while_no_window_changes(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        await office.open_window(None, A_SHOP)
        await write(office, alice, "shop")
        asked: list[str] = []
        fetch = office.store.engine.fetch

        async def noted(name: str, **parameters: object) -> object:
            asked.append(name)
            return await fetch(name, **parameters)

        office.store.engine.fetch = noted  # type: ignore[method-assign, assignment]
        await write(office, alice, "shop")
        assert asked == []


class TestTheDirectory:
    async def test_agents_tell_what_reaches_them_and_folders_only_to_the_owner(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        await office.open_window(None, A_SHOP)
        assert await reach_in_directory(office, alice) == "open in Claude Code, idle <1 min, can be woken"
        assert await reach_in_directory(office, office.owner()) == "window in shop (Claude Code), idle <1 min, can be woken"
        (seat,) = [one for one in (await office.roster(office.owner())).items if one.name == "shop"]
        assert seat.reach is not None
        assert seat.reach.way is Way.WINDOW

    async def test_the_letter_that_is_taken_says_nothing_of_windows(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await write(office, alice, "bob")
        assert "reach" not in repr((await take(office, bob)).message)


async def reach_in_directory(office: PostOffice, caller: Caller) -> str:
    (one,) = [agent for agent in (await office.agents(caller=caller)).items if agent.name == "shop"]
    assert one.reach is not None
    return one.reach.text
