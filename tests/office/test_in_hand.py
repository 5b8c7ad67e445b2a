"""What a window has in hand: it goes back when the window ends, and is no other window's to settle."""

from datetime import timedelta

import pytest

from postoffice.core.delivery import State
from postoffice.core.errors import LeaseLost
from postoffice.core.window import Opened, Opening, Place
from postoffice.office import PostOffice
from tests.mail import at, people, standing, take, write

HOUR = timedelta(hours=1)


async def opened_by(office: PostOffice, process: int, agent: str, *, shared: bool = False) -> Opened:
    place = Place("laptop", process, "1000")
    return await office.open_window(None, Opening(client="claude-code", place=place, folder="/shop", agent=agent, shared=shared))


async def test_what_a_script_took_under_a_windows_name_stays_with_the_script(office: PostOffice) -> None:
    alice, bob = await people(office, "alice", "bob")
    opened = await opened_by(office, 1, "bob")
    sent = await write(office, alice, "bob")
    leased = await take(office, bob, visible_for=HOUR)
    assert (await office.close_window(None, opened.id)).returned == 0
    assert (await standing(office, alice, sent.message_id)).state is State.LEASED
    assert (await office.ack(bob, sent.message_id, leased.token)).state is State.ACKED


async def test_windows_that_share_a_mailbox_settle_and_give_back_each_its_own(office: PostOffice) -> None:
    alice, coder = await people(office, "alice", "coder")
    first, second = [at(coder, await opened_by(office, process, "coder", shared=True)) for process in (1, 2)]
    for _ in range(2):
        await write(office, alice, "coder")
    mine, theirs = [(await take(office, taker, visible_for=HOUR)).message.id for taker in (first, second)]
    assert [one.leased.message.id for one in await office.in_hand(first)] == [mine]
    assert len(await office.in_hand(coder)) == 2
    with pytest.raises(LeaseLost):
        await office.ack(first, theirs)
    assert (await office.ack(first, mine)).state is State.ACKED
    assert (await office.close_window(None, str(first.window))).returned == 0
    assert (await office.close_window(None, str(second.window))).returned == 1
    assert (await standing(office, alice, theirs)).state is State.PENDING


async def test_an_answer_settles_its_letter_whichever_window_of_the_agent_has_it(office: PostOffice) -> None:
    alice, coder = await people(office, "alice", "coder")
    first, second = [at(coder, await opened_by(office, process, "coder", shared=True)) for process in (1, 2)]
    sent = await write(office, alice, "coder")
    leased = await take(office, second, visible_for=HOUR)
    await write(office, first, "alice", reply_to=sent.message_id)
    assert (await standing(office, alice, sent.message_id)).state is State.ACKED
    assert (await office.ack(second, sent.message_id, leased.token)).state is State.ACKED  # and the other is not told off for it
    assert (await office.close_window(None, str(second.window))).returned == 0


async def test_a_window_that_comes_back_still_settles_what_it_had_before(office: PostOffice) -> None:
    alice, bob = await people(office, "alice", "bob")
    before = await opened_by(office, 1, "bob")
    sent = await write(office, alice, "bob")
    await take(office, at(bob, before))
    await office.close_window(None, before.id)
    after = await opened_by(office, 2, "bob")
    for _ in range(2):  # an answer may be missed
        assert (await office.ack(at(bob, after), sent.message_id)).state is State.ACKED


async def test_what_the_agent_took_without_a_window_its_window_may_settle_and_the_other_way_round(office: PostOffice) -> None:
    alice, bob = await people(office, "alice", "bob")
    window = at(bob, await opened_by(office, 1, "bob"))
    for taker, settler in ((bob, window), (window, bob)):
        sent = await write(office, alice, "bob")
        await take(office, taker)
        assert (await office.ack(settler, sent.message_id)).state is State.ACKED


async def test_anothers_window_is_no_window(office: PostOffice) -> None:
    alice, bob = await people(office, "alice", "bob")
    others = await opened_by(office, 1, "eve")
    sent = await write(office, alice, "bob")
    await take(office, at(bob, others), visible_for=HOUR)
    assert (await office.close_window(None, others.id)).returned == 0
    assert (await office.ack(bob, sent.message_id)).state is State.ACKED


async def test_who_does_not_say_which_window_is_in_the_only_one_its_agent_has(office: PostOffice) -> None:
    (coder,) = await people(office, "coder")
    first = await opened_by(office, 1, "coder", shared=True)
    assert (await office.at_window(coder, None)).window == first.id
    second = await opened_by(office, 2, "coder", shared=True)
    assert (await office.at_window(coder, None)).window is None
    assert (await office.at_window(coder, second.id)).window == second.id
    assert (await office.at_window(coder, "no id")).window is None
