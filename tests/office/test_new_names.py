"""Names that nobody has had: mail to them is accepted with a warning, and looking makes no agent."""

from datetime import timedelta

import pytest

from postoffice.core.draft import Draft
from postoffice.core.errors import NoSuchAgent, ReservedName
from postoffice.office import PostOffice
from tests.mail import people, taken, write


async def test_a_slip_is_told_with_the_nearest_name(office: PostOffice) -> None:
    alice, _, _ = await people(office, "alice", "Coder", "tester")
    (posted,) = (await write(office, alice, "codr", client_id="m-1")).posted
    assert (posted.recipient, posted.unseen, posted.near) == ("codr", True, "Coder")
    (again,) = (await write(office, alice, "codr", client_id="m-1")).posted
    assert again == posted
    (twice,) = (await write(office, alice, "codrr")).posted
    assert twice.near == "Coder"  # and not the slip before
    (known,) = (await write(office, alice, "coder")).posted
    assert (known.unseen, known.near) == (False, None)
    (far,) = (await write(office, alice, "zebra")).posted
    assert (far.unseen, far.near) == (True, None)
    (several,) = await office.send_many(alice, [Draft(to=("testr", "coder"), content="x")])
    assert not isinstance(several, BaseException)
    assert [one.near for one in several.posted] == ["tester", None]


@pytest.mark.parametrize("name", ["everyone", "Everybody", "all", "All", "team"])
async def test_what_means_everyone_is_no_new_name(office: PostOffice, name: str) -> None:
    (alice,) = await people(office, "alice")
    with pytest.raises(ReservedName, match="say ALL"):
        await write(office, alice, name)
    with pytest.raises(ReservedName):
        await office.identify(name=name)


async def test_looking_makes_no_agent_and_finds_what_comes(office: PostOffice) -> None:
    (alice,) = await people(office, "alice")
    nobody = await office.identify(name="bob", looking=True)
    assert nobody.new
    assert (await office.inbox(nobody)).items == ()
    assert await taken(office, nobody) == []
    assert await office.pop(nobody) == ()
    assert await office.in_hand(nobody) == ()
    assert (await office.wait(nobody, within=timedelta(0))).leased == ()
    assert (await office.counts(nobody)).counted == 0
    assert [agent.name for agent in (await office.agents()).items] == ["alice", "owner"]
    with pytest.raises(NoSuchAgent):
        await office.agent("bob")
    await write(office, alice, "bob", "hello")
    assert await taken(office, nobody) == ["hello"]
    assert not (await office.identify(name="bob", looking=True)).new
