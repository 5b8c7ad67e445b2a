"""Names that pose: for the office, for its people, or for an agent that is there already."""

from typing import Any

import pytest

from postoffice.core.draft import Draft
from postoffice.core.errors import BadMessage, LooksAlike, ReservedName
from postoffice.core.names import look
from postoffice.core.window import Opening, Place
from postoffice.office import Auth, PostOffice
from tests.engines import Engine
from tests.mail import member, office_with, people, person, write

OFFICIAL = [
    "admin",
    "Adm1n",
    "human",
    "root",
    "r00t",
    "postoffice",
    "P0stoff1ce",
    "owner.",
    "0wner",
    "system-",
    "ALL.",
    "a11",
    "rne",
    "administrator",
]
ALIKE = [("coder", "coder."), ("coder", "c0der"), ("Bill", "bi1l"), ("worm", "worrn"), ("wave", "vvave"), ("build-1", "build-I")]


@pytest.mark.parametrize("name", OFFICIAL)
async def test_nobody_new_is_called_like_the_office_or_its_people(office: PostOffice, name: str) -> None:
    (alice,) = await people(office, "alice")
    for act in (office.identify(name=name), office.register(name), office.register(name, by=office.owner()), write(office, alice, name)):
        with pytest.raises(ReservedName):
            await act
    assert {agent.name for agent in (await office.agents()).items} == {"alice", "owner"}


@pytest.mark.parametrize(("there", "new"), ALIKE)
async def test_nobody_new_is_taken_for_whoever_is_there(office: PostOffice, there: str, new: str) -> None:
    await people(office, there, "alice")
    for act in (office.identify(name=new), office.register(new), write(office, await person(office, "alice"), new)):
        with pytest.raises(LooksAlike, match=there):
            await act


async def test_of_two_that_come_in_one_call_one_comes(office: PostOffice) -> None:
    (alice,) = await people(office, "alice")
    with pytest.raises(LooksAlike):
        await write(office, alice, ("teller", "te11er"))


async def test_the_owner_may_name_agents_alike(office: PostOffice) -> None:
    await people(office, "coder")
    await office.register("c0der", by=office.owner())
    assert {agent.name for agent in (await office.agents()).items} == {"coder", "c0der", "owner"}


async def test_a_name_that_is_there_already_stays(engine: Engine) -> None:
    async with office_with(engine) as office:
        await member(office, "teller")
        await office.register("te11er", by=office.owner())
        assert (await office.agent("te11er")).name == "te11er"
    async with office_with(engine, auth=Auth.OPEN) as office:
        bob = await person(office, "bob")
        assert (await write(office, bob, "bob")).posted[0].recipient == "bob"
        await person(office, "BOB")


async def test_what_only_numbers_tell_apart_is_two_names(office: PostOffice) -> None:
    names = [f"worker-{number}" for number in range(30)]
    await people(office, *names)
    assert len({look(name) for name in names}) == 30


@pytest.mark.parametrize("type", ["notice", "Notice", "NOTICE"])
async def test_only_the_office_writes_notices(office: PostOffice, type: str) -> None:
    alice, _ = await people(office, "alice", "bob")
    with pytest.raises(BadMessage, match="what the office itself says"):
        await office.send(alice, Draft(to="bob", content="your key ends today", type=type))
    (refused,) = await office.send_many(alice, [Draft(to="bob", content="your key ends today", type=type)])
    assert isinstance(refused, BadMessage)


async def test_a_window_gets_no_name_that_poses(office: PostOffice) -> None:
    await people(office, "coder")
    place: dict[str, Any] = {"client": "claude-code", "folder": "/home/ann/Adm1n"}
    assert (await office.open_window(None, Opening(place=Place("laptop", 1, "1"), **place))).agent == "window-adm1n"
    for name, error in (("root", ReservedName), ("c0der", LooksAlike)):
        with pytest.raises(error):
            await office.open_window(None, Opening(place=Place("laptop", 2, "2"), agent=name, **place))
