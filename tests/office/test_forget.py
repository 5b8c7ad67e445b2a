"""Forget: the owner has a name that nobody ever used out of the way."""

from datetime import timedelta

import pytest

from postoffice.core.delivery import State
from postoffice.core.errors import BadInvite, LooksAlike, NoSuchAgent, NotForgotten, OwnerOnly
from postoffice.core.task import TaskState
from postoffice.office import PostOffice
from tests.engines import Engine
from tests.mail import ask, member, notices, people, person, standing, taken, write


async def names(office: PostOffice) -> list[str]:
    return [agent.name for agent in (await office.agents()).items]


async def test_what_waited_is_dead_and_its_sender_is_told(office: PostOffice) -> None:
    (alice,) = await people(office, "alice")
    sent = await write(office, alice, "bbo", subject="Plan")
    held = await write(office, alice, "bbo", hold=True)
    task = await ask(office, alice, "bbo")
    forgotten = await office.forget(office.owner(), "BBO")
    assert (forgotten.name, forgotten.dead) == ("bbo", 3)
    for message_id in (sent.message_id, held.message_id, task.message_id):
        told = await standing(office, alice, message_id)
        assert (told.recipient, told.state) == ("bbo", State.DEAD)
    assert (await office.task(alice, task.message_id)).state is TaskState.FAILED
    (notice,) = [one for one in await notices(office, alice) if one.reply_to == sent.message_id]
    assert notice.content == (
        'Your message to bbo about "Plan" is dead: not delivered. The reason: the owner has forgotten bbo, whom nobody ever was.'
    )


async def test_it_is_in_no_list_and_gets_no_mail_for_all(office: PostOffice) -> None:
    alice, _ = await people(office, "alice", "bob")
    await write(office, alice, "bbo")
    await office.forget(office.owner(), "bbo")
    assert await names(office) == ["alice", "bob", "owner"]
    assert [seat.name for seat in (await office.roster(office.owner())).items] == ["alice", "bob"]
    assert await office.names("bb") == []
    assert (await office.totals()).agents == 2
    to_all = await write(office, alice, "ALL")
    assert [one.recipient for one in to_all.posted] == ["bob"]
    for verb in (office.agent("bbo"), office.forget(office.owner(), "bbo"), office.forget(office.owner(), "nobody")):
        with pytest.raises(NoSuchAgent):
            await verb


async def test_the_name_is_new_again_whoever_uses_it(office: PostOffice) -> None:
    alice, _ = await people(office, "alice", "bob")
    first = await write(office, alice, "bbo", "one")
    await office.forget(office.owner(), "bbo")
    again = await write(office, alice, "bbo", "two")
    assert [one.unseen for sent in (first, again) for one in sent.posted] == [True, True]
    assert "bbo" in await names(office)
    bbo = await person(office, "bbo")
    assert await taken(office, bbo) == ["two"]


async def test_who_looks_alike_may_come_and_then_the_forgotten_may_not(office: PostOffice) -> None:
    (alice,) = await people(office, "alice")
    await write(office, alice, "b0b")
    with pytest.raises(LooksAlike):
        await office.identify(name="bob")
    await office.forget(office.owner(), "b0b")
    await office.identify(name="bob")
    with pytest.raises(LooksAlike):
        await office.identify(name="b0b")
    with pytest.raises(LooksAlike):
        await write(office, alice, "b0b")


async def test_who_has_acted_or_has_a_key_stays(office: PostOffice) -> None:
    alice, _ = await people(office, "alice", "bob")
    sent = await write(office, alice, "bob")
    await member(office, "carol")
    for name, why in (("bob", "bob has acted"), ("carol", "carol has a key"), ("owner", "owner has acted")):
        with pytest.raises(NotForgotten, match=why):
            await office.forget(office.owner(), name)
    assert (await standing(office, alice, sent.message_id)).state is State.PENDING


async def test_only_the_owner_forgets(office: PostOffice) -> None:
    (alice,) = await people(office, "alice")
    await write(office, alice, "bbo")
    with pytest.raises(OwnerOnly):
        await office.forget(alice, "bbo")


async def test_its_invitation_is_worth_nothing(office: PostOffice, engine: Engine) -> None:
    invited = await office.invites.make(office.owner(), "dora")
    await office.forget(office.owner(), "dora")
    await engine.advance(timedelta(seconds=1))
    with pytest.raises(BadInvite):
        await office.invites.accept(invited.code)
    again = await office.invites.make(office.owner(), "dora")
    assert (await office.invites.accept(again.code))[0] == "dora"
    assert "dora" in await names(office)


async def test_however_much_waits(office: PostOffice, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postoffice.office.agents._FORGOTTEN_AT_ONCE", 2)
    (alice,) = await people(office, "alice")
    for number in range(5):
        await write(office, alice, "bbo", str(number))
    assert (await office.forget(office.owner(), "bbo")).dead == 5
    assert len(await notices(office, alice)) == 5
