"""A wait for one answer, and agents that wait for each other's."""

import asyncio
from datetime import timedelta

import pytest

from postoffice.core.errors import Deadlock, Invalid, NoSuchMessage
from postoffice.office import PostOffice
from tests.mail import people, write

LONG = timedelta(seconds=60)


async def known(office: PostOffice, count: int) -> None:
    """Until so many waits are known: they begin and end by themselves."""
    async with asyncio.timeout(20):
        while len(await office.store.mail.awaits()) != count:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)


async def test_a_wait_for_one_answer_takes_that_and_nothing_else(office: PostOffice) -> None:
    alice, bob, carol = await people(office, "alice", "bob", "carol")
    asked = await write(office, alice, "bob", subject="Plan", correlation_id="q-1")
    await write(office, carol, "alice", "noise")
    assert (await office.wait(alice, answer_to=asked.message_id, within=timedelta(0))).leased == ()
    await write(office, bob, "alice", "yes", reply_to=asked.message_id)
    (got,) = (await office.wait(alice, answer_to=asked.message_id[-6:], within=LONG)).leased
    assert got.message.content == "yes"
    with pytest.raises(NoSuchMessage):
        await office.wait(carol, answer_to=asked.message_id)
    both = await write(office, alice, ("bob", "carol"))
    with pytest.raises(Invalid, match="several"):
        await office.wait(alice, answer_to=both.message_id)


async def test_an_answer_is_what_replies_to_it_or_carries_its_mark_on_in_its_session(office: PostOffice) -> None:
    alice, bob, carol = await people(office, "alice", "bob", "carol")
    asked = await write(office, alice, "bob", subject="Plan", client_id="q-1")
    await write(office, bob, "alice", "in the same session", subject="Plan")
    assert (await office.wait(alice, answer_to=asked.message_id, within=timedelta(0))).leased == ()
    await write(office, carol, "alice", "from outside", correlation_id="mark")
    await write(office, bob, "alice", "by its sender's id", subject="Other", reply_to="q-1")
    (got,) = (await office.wait(alice, answer_to=asked.message_id, within=LONG)).leased
    assert got.message.content == "by its sender's id"
    marked = await write(office, alice, "bob", subject="Marked", correlation_id="mark")
    assert (await office.wait(alice, answer_to=marked.message_id, within=timedelta(0))).leased == ()
    await write(office, bob, "alice", "carried on", subject="Marked", correlation_id="mark")
    (got,) = (await office.wait(alice, answer_to=marked.message_id, within=LONG)).leased
    assert got.message.content == "carried on"


async def test_an_answer_is_found_in_another_session_and_behind_much_other_mail(office: PostOffice) -> None:
    alice, bob, carol = await people(office, "alice", "bob", "carol")
    asked = await write(office, alice, "bob", subject="Plan")
    other = await write(office, alice, "bob", subject="Other")
    for number in range(70):  # more than lies at hand
        await write(office, carol, "alice", str(number))
    assert (await office.wait(alice, answer_to=asked.message_id, within=timedelta(0))).leased == ()
    await write(office, bob, "alice", "yes", reply_to=asked.message_id, session_id=other.session_id)
    (got,) = (await office.wait(alice, answer_to=asked.message_id, within=LONG)).leased
    assert (got.message.content, got.session_id) == ("yes", other.session_id)


async def test_a_ring_is_told_though_the_hint_of_it_is_lost(office: PostOffice, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postoffice.office.waits.LOOK_SECONDS", 0.1)
    alice, bob = await people(office, "alice", "bob")
    one, other = await write(office, alice, "bob", subject="a"), await write(office, bob, "alice", subject="b")
    first = asyncio.create_task(office.wait(alice, answer_to=one.message_id, within=LONG))
    await known(office, 1)
    monkeypatch.setattr(office._bells, "ring", lambda _: None)
    with pytest.raises(Deadlock):
        await office.wait(bob, answer_to=other.message_id, within=LONG)
    async with asyncio.timeout(20):
        with pytest.raises(Deadlock):
            await first


async def test_two_that_wait_for_each_other_are_both_told_at_once(office: PostOffice) -> None:
    alice, bob = await people(office, "Alice", "bob")
    one, other = await write(office, alice, "bob", subject="a"), await write(office, bob, "alice", subject="b")
    async with asyncio.timeout(20):
        outcomes = await asyncio.gather(
            office.wait(alice, answer_to=one.message_id, within=LONG),
            office.wait(bob, answer_to=other.message_id, within=LONG),
            return_exceptions=True,
        )
    for outcome in outcomes:
        assert isinstance(outcome, Deadlock), outcome
        assert "Alice" in str(outcome)
        assert "bob" in str(outcome)
    # Whoever answers first may wait again.
    await write(office, alice, "bob", "well", reply_to=other.message_id)
    assert (await office.wait(alice, answer_to=one.message_id, within=timedelta(seconds=0.2))).leased == ()


async def test_all_three_of_a_ring_are_told(office: PostOffice) -> None:
    alice, bob, carol = callers = await people(office, "alice", "bob", "carol")
    asked = [await write(office, alice, "bob"), await write(office, bob, "carol"), await write(office, carol, "alice")]
    waits = [
        asyncio.create_task(office.wait(caller, answer_to=one.message_id, within=LONG)) for caller, one in zip(callers, asked, strict=True)
    ]
    async with asyncio.timeout(20):
        told = await asyncio.gather(*waits, return_exceptions=True)
    for error, caller, rest in zip(told, callers, ("bob and carol", "carol and alice", "alice and bob"), strict=True):
        assert isinstance(error, Deadlock), error
        assert f"{caller.name} and {rest}" in str(error), "each is told first of itself"
    # None of it is left in the way of whoever waits again.
    assert (await office.wait(alice, answer_to=asked[0].message_id, within=timedelta(seconds=0.2))).leased == ()
    await known(office, 0)


async def test_a_wait_that_is_over_or_given_up_harms_nobody(office: PostOffice) -> None:
    alice, bob = await people(office, "alice", "bob")
    one, other = await write(office, alice, "bob", subject="a"), await write(office, bob, "alice", subject="b")
    await office.wait(alice, answer_to=one.message_id, within=timedelta(seconds=0.1))
    given_up = asyncio.create_task(office.wait(alice, answer_to=one.message_id, within=LONG))
    await known(office, 1)
    given_up.cancel()
    await asyncio.gather(given_up, return_exceptions=True)
    await known(office, 0)
    assert (await office.wait(bob, answer_to=other.message_id, within=timedelta(seconds=0.2))).leased == ()
