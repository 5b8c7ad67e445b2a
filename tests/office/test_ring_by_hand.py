"""A ring by hand: the owner's, or a sender's whose mail waits; and why nothing can wake an agent."""

import asyncio
from datetime import timedelta

import pytest

from postoffice.core.agent import Caller
from postoffice.core.errors import Forbidden, NoSuchAgent
from postoffice.core.event import Kind
from postoffice.core.ringing import ByHand
from postoffice.core.window import Opening, Place, Ring, WindowState
from postoffice.office import PostOffice
from postoffice.office.windows import Renewal
from tests.engines import Engine
from tests.mail import people, write


async def window(office: PostOffice, agent: str, ring: Ring = Ring.SOCKET, process: int = 1) -> str:
    opened = await office.open_window(
        None,
        Opening(
            client="claude-code", folder=f"/home/ann/{agent}", place=Place("laptop", process, "1"), agent=agent, shared=True, ring=ring
        ),
    )
    return opened.id


async def answered_by_a_bell(office: PostOffice, caller: Caller, agent: str, id: str, message: str) -> ByHand:
    """A ring, and a bell that rings when its window's agent hears that somebody asks."""
    listener = await office.identify(name=agent)
    after = (await office.counts(listener)).counted
    asked = asyncio.create_task(office.ring(caller, agent))
    heard = await office.news(listener, after, within=timedelta(seconds=20))
    assert [event.kind for event in heard] == [Kind.RING]
    await office.rung(None, id, [message])
    return await asked


async def test_the_owner_and_a_sender_ring_and_hear_that_it_rang(office: PostOffice) -> None:
    alice, _ = await people(office, "alice", "shop")
    id = await window(office, "shop")
    sent = await write(office, alice, "shop")
    for caller in (alice, office.owner()):
        rung = await answered_by_a_bell(office, caller, "shop", id, sent.message_id)
        assert (rung.agent, rung.rung) == ("shop", True)
        under_way = await office.ring(caller, "shop")
        assert (under_way.rung, under_way.text) == (False, "a ring is under way: there is one at a time")
        await office.begin_turn(None, id)
        await office.renew_window(None, Renewal(id=id, state=WindowState.IDLE))


async def test_a_ring_in_vain_may_be_asked_for_again(engine: Engine, office: PostOffice) -> None:
    alice, _ = await people(office, "alice", "shop")
    id = await window(office, "shop")
    sent = await write(office, alice, "shop")
    await office.rung(None, id, [sent.message_id])
    await engine.advance(timedelta(seconds=21))
    await office.renew_window(None, Renewal(id=id))
    rung = await office.ring(alice, "shop")
    assert "its bell was asked, and has not rung it" in rung.text


async def test_nobody_else_rings(office: PostOffice) -> None:
    alice, bob, _ = await people(office, "alice", "bob", "shop")
    await window(office, "shop")
    await write(office, alice, "shop")
    with pytest.raises(Forbidden):
        await office.ring(bob, "shop")
    with pytest.raises(NoSuchAgent):
        await office.ring(office.owner(), "nobody")


class TestWhyNot:
    async def test_nothing_waits(self, office: PostOffice) -> None:
        await people(office, "shop")
        await window(office, "shop")
        assert (await office.ring(office.owner(), "shop")).text == "nothing waits for it"

    @pytest.mark.parametrize(
        ("ring", "why"), [(None, "was here"), (Ring.NONE, "nothing wakes it"), (Ring.TURN_END, "hears of mail after its next turn")]
    )
    async def test_no_window_can_be_rung(self, office: PostOffice, ring: Ring | None, why: str) -> None:
        alice, _ = await people(office, "alice", "shop")
        if ring is not None:
            await window(office, "shop", ring)
        await write(office, alice, "shop")
        rung = await office.ring(alice, "shop")
        assert not rung.rung
        assert rung.text.startswith("it has no window that can be rung; ")
        assert why in rung.text

    async def test_it_is_at_work(self, office: PostOffice) -> None:
        alice, _ = await people(office, "alice", "shop")
        id = await window(office, "shop")
        await office.renew_window(None, Renewal(id=id, state=WindowState.BUSY))
        await write(office, alice, "shop")
        assert "told at the end of its turn" in (await office.ring(alice, "shop")).text

    async def test_it_is_paused(self, office: PostOffice) -> None:
        alice, _ = await people(office, "alice", "shop")
        await window(office, "shop")
        await write(office, alice, "shop")
        await office.pause(office.owner(), of="shop")
        assert (await office.ring(alice, "shop")).text == "paused until it is resumed"
