"""A machine that joins, leaves, writes to and reads a list in every order, and compares what each member sees with a model's after every step."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from postoffice.core.draft import Draft
from postoffice.core.errors import Closed, DatabaseLost, MayNotPost, NotOnList, OutcomeUnknown
from postoffice.core.mailing_list import ListRules, MayJoin
from postoffice.core.message import Accepted
from tests.machine.ground import Ground
from tests.machine.grounded import GroundedMachine

KEEPER: Final = "ann"
NAMES: Final = (KEEPER, "ben", "cora", "dan")
LIST: Final = "#backend"
END: Final = 10**9

agents = st.sampled_from(NAMES)
doors = st.integers(0, 1)


@dataclass
class Seat:
    """Where an agent stands with the list, as the model has it."""

    member: bool = True
    floor: int = 1
    begins: int = 1
    ends: int = END
    got: dict[int, bool] = field(default_factory=dict)
    """By number: whether the letter still waits."""


class ListMachine(GroundedMachine):
    def __init__(self, ground: Callable[[], Ground]) -> None:
        super().__init__(ground)
        self.seats: dict[str, Seat] = {}
        self.authors: list[str] = []
        """By number, from 1: who wrote the letter."""
        self.history = False
        self.sent = 0
        self.session = ""
        self.do(self.begin())

    async def begin(self) -> None:
        await self.ground.open()
        self.callers = {name: await self.office().identify(name=name) for name in NAMES}
        made, _ = await self.office().lists.make(self.callers[KEEPER], LIST, ListRules(who_may_join=MayJoin.ANYONE))
        self.session = made.session_id
        self.seats[KEEPER] = Seat()

    # The model

    def is_on(self, name: str) -> bool:
        return name in self.seats and self.seats[name].member

    def come(self, name: str) -> None:
        if self.is_on(name):
            return
        begins = 1 if self.history else len(self.authors) + 1
        before = self.seats.get(name)
        floor, got = (begins, {}) if before is None else (min(before.floor, begins), before.got)
        self.seats[name] = Seat(floor=floor, begins=begins, got=got)

    def goes_out(self, author: str) -> None:
        self.authors.append(author)
        for name, seat in self.seats.items():
            if seat.member and name != author:
                seat.got[len(self.authors)] = True

    def visible(self, name: str) -> list[int]:
        seat = self.seats[name]
        return [
            number
            for number, author in enumerate(self.authors, 1)
            if number >= seat.floor and (author == name or number in seat.got or seat.begins <= number <= seat.ends)
        ]

    # What happens

    @rule(name=agents, door=doors)
    def join(self, name: str, door: int) -> None:
        self.do(self.office(door).lists.join(self.callers[name], LIST))
        self.come(name)

    @rule(name=agents, door=doors)
    def leave(self, name: str, door: int) -> None:
        try:
            self.do(self.office(door).lists.leave(self.callers[name], LIST))
        except NotOnList:
            assert not self.is_on(name)
            return
        assert self.is_on(name)
        self.seats[name].member, self.seats[name].ends = False, len(self.authors)

    @rule(history=st.booleans(), door=doors)
    def change(self, history: bool, door: int) -> None:  # noqa: FBT001
        self.do(self.office(door).lists.change(self.callers[KEEPER], LIST, ListRules(history=history)))
        self.history = history

    def letter(self) -> Draft:
        self.sent += 1
        return Draft(to=LIST, content=f"letter {self.sent}", client_id=str(self.sent))

    @rule(name=agents, door=doors)
    def write(self, name: str, door: int) -> None:
        try:
            sent = self.do(self.office(door).send(self.callers[name], self.letter()))
        except MayNotPost:
            assert not self.is_on(name)
            assert name != KEEPER
            return
        self.check(sent, name)

    def check(self, sent: Accepted, name: str) -> None:
        self.goes_out(name)
        assert sent.to_list is not None
        others = sum(seat.member for other, seat in self.seats.items() if other != name)
        assert (sent.to_list.number, sent.to_list.delivered, sent.to_list.refused) == (len(self.authors), others, 0)

    @rule(patience=st.integers(0, 20), name=agents, door=doors)
    def crash(self, patience: int, name: str, door: int) -> None:
        """Bad luck strikes while somebody joins and the keeper writes; both are said again."""
        self.do(self.crashes(patience, name, door))

    async def crashes(self, patience: int, name: str, door: int) -> None:
        draft = self.letter()
        await self.ground.arm()
        writing = asyncio.create_task(self.office(door).send(self.callers[KEEPER], draft))
        for _ in range(patience):
            await asyncio.sleep(0)
        await self.ground.crash()
        (outcome,) = await asyncio.gather(writing, return_exceptions=True)
        assert isinstance(outcome, Accepted | Closed | DatabaseLost | OutcomeUnknown), outcome
        self.check(await self.office(door).send(self.callers[KEEPER], draft), KEEPER)
        await self.office().lists.join(self.callers[name], LIST)
        self.come(name)

    @rule(name=agents, limit=st.integers(1, 5), door=doors)
    def read(self, name: str, limit: int, door: int) -> None:
        if name in self.seats:
            thread = self.do(self.office(door).history(self.callers[name], self.session, limit=limit))
            shown = self.visible(name)[::-1][:limit]
            assert [line.number for line in thread.lines] == shown
            self.seats[name].got |= dict.fromkeys((number for number in shown if number in self.seats[name].got), False)

    @rule(name=agents, limit=st.integers(1, 3), door=doors)
    def take(self, name: str, limit: int, door: int) -> None:
        taken = self.do(self.office(door).pop(self.callers[name], limit))
        waiting = [number for number, waits in self.seats[name].got.items() if waits] if name in self.seats else []
        assert len(taken) == min(limit, len(waiting))
        for number in sorted(waiting)[:limit]:
            self.seats[name].got[number] = False

    @rule()
    def close_and_reopen(self) -> None:
        self.do(self.ground.reopen())

    # What is always so

    @invariant()
    def each_sees_what_it_should(self) -> None:
        self.do(self.compare())

    async def compare(self) -> None:
        office = self.office(1)
        assert (await office.lists.show(self.callers[KEEPER], LIST)).members == sum(seat.member for seat in self.seats.values())
        for name, seat in self.seats.items():
            thread = await office.history(self.callers[name], self.session, peek=True, limit=200)
            assert [(line.number, line.message.sender) for line in thread.lines[::-1]] == [
                (number, self.authors[number - 1]) for number in self.visible(name)
            ]
            waits = sum(seat.got.values())
            assert thread.unread == waits
            assert sum(one.unread for one in (await office.inbox(self.callers[name])).items) == waits
