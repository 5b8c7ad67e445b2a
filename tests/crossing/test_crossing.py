"""A message posted at any door can be collected at any other: its fields, its order, and what its sender is told of it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from postoffice.core.agent import Card
from tests.crossing.door import Door, Letter, Person
from tests.crossing.doors import DOORS, SENDING
from tests.doors.served import Served, serving
from tests.engines import SQLiteEngine

WORDS = ("first: Grüße 👋", 'second: "quoted" \\ {braces}\nand a second line', "third")
PAIRS = [pytest.param(one, other, id=f"{one.name} to {other.name}") for one in SENDING for other in DOORS]


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    """An open office: what stands behind the doors is the same on either engine."""
    async with serving(SQLiteEngine(tmp_path), files=tmp_path / "mailboxes") as running:
        yield running


async def registered(served: Served, name: str, door: Door) -> Person:
    """An agent that takes mail from anyone, with a key where its door is for such."""
    if not door.keyed:
        return Person(name)
    _, _, key = await served.office.register(name, Card(allow_from=("*",)))
    return Person(name, key)


def expected(one: Door, other: Door, sender: Person, content: str) -> Letter:
    """What must arrive at the far end: everything that both doors know of."""
    subject = "Crossing" if one.subjects else ""
    mark = "c-1" if one.correlates else None
    return Letter(
        sender.name,
        content,
        sender.key is not None,
        subject if other.subjects else None,
        mark if other.correlates else None,
    )


async def cross(served: Served, one: Door, other: Door, sender: Person, taker: Person) -> None:
    async with one.open(served, sender) as out, other.open(served, taker) as into:
        refs = [await out.send(taker.name, content, subject="Crossing", correlation_id="c-1") for content in WORDS]
        assert len(set(refs)) == len(WORDS)
        letters = await into.collect(len(WORDS))
        assert letters == [expected(one, other, sender, content) for content in WORDS]
        caller = await served.office.identify(key=sender.key, name=sender.name)
        for ref in refs:
            (standing,) = (await served.office.status(caller, ref)).standings
            assert (standing.recipient, str(standing.state)) == (taker.name, "acked" if other.settles else "pending")
        # What is settled at one door is given out at no other.
        left = await served.office.waiting(await served.office.identify(key=taker.key, name=taker.name))
        assert len(left.items) == (0 if other.settles else len(WORDS))


class TestCrossing:
    @pytest.mark.parametrize(("one", "other"), PAIRS)
    async def test_three_messages_arrive_whole_in_order_and_settled(self, served: Served, one: Door, other: Door) -> None:
        await cross(served, one, other, await registered(served, "alice", one), await registered(served, "bob", other))

    @pytest.mark.parametrize("door", DOORS, ids=lambda door: door.name)
    async def test_names_without_a_key_cross_as_well_and_are_not_verified(self, served: Served, door: Door) -> None:
        """Each door at the far end, and each that sends at the near one."""
        await cross(served, DOORS[0], door, Person("alice"), Person("bob"))
        if door.sends:
            await cross(served, door, DOORS[0], Person("carol"), Person("dave"))
