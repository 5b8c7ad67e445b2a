"""The machine with what the owner does to many letters at once: requeue, discard, expire; counted first, in groups, by one or by two."""

import asyncio
from datetime import datetime
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import rule

from postoffice.core.bulk import BulkAct, Which
from postoffice.core.delivery import State
from postoffice.core.errors import OwnerOnly
from postoffice.office import PostOffice
from tests.machine.endings import EndingMachine
from tests.machine.machine import LIMITS, NAMES, doors
from tests.machine.model import SYSTEM, Letter

anybody = st.sampled_from([None, *NAMES])


class ManyMachine(EndingMachine):
    """Everything the others do, and these."""

    @rule(
        act=st.sampled_from(BulkAct),
        mailbox=anybody,
        sender=anybody,
        type=st.sampled_from([None, None, "message", "task"]),
        limit=st.integers(1, 3),
        calls=st.integers(1, 4),
        door=doors,
    )
    def deal_with_many(
        self, act: BulkAct, mailbox: str | None, sender: str | None, type: str | None, limit: int, calls: int, door: int
    ) -> None:
        if act is not BulkAct.EXPIRE and not self.model.within(State.DEAD):
            self.take_and_never_come_back(mailbox or NAMES[0], LIMITS.max_attempts, door)
        self.do(self.deals(act, Which(agent=mailbox, sender=sender, type=type), limit, calls, door))

    async def deals(self, act: BulkAct, which: Which, limit: int, calls: int, door: int) -> None:
        """As many groups as are asked for, and perhaps not all: what is left is left as it was."""
        office = self.office(door)
        await self.sweeps(door)
        fitting = self.fitting(act, which)
        await self.refused(office.bulk.do(self.callers[NAMES[0]], act, which), OwnerOnly)
        counted = await office.bulk.count(office.owner(), act, which)
        assert counted.count == len(fitting)
        cursor: str | None = None
        for _ in range(calls):
            done = await office.bulk.do(office.owner(), act, which, counted.before, cursor, limit)
            group, fitting = fitting[:limit], fitting[limit:]
            assert (done.done, done.refused, done.left) == (len(group), 0, len(fitting))
            for letter in group:
                self.does(act, letter)
            cursor = done.cursor
            if cursor is None:
                assert not fitting
                break
        await self.hear()

    @rule(act=st.sampled_from(BulkAct), mailbox=anybody, limit=st.integers(1, 5))
    def two_deal_with_the_same_at_once(self, act: BulkAct, mailbox: str | None, limit: int) -> None:
        self.do(self.both_deal(act, Which(agent=mailbox), limit))

    async def both_deal(self, act: BulkAct, which: Which, limit: int) -> None:
        """Each letter is done by one of them, and the other is told so, if it saw the letter at all."""
        await self.sweeps(0)
        fitting = self.fitting(act, which)
        before = (await self.office().bulk.count(self.office().owner(), act, which)).before
        both = await asyncio.gather(*(self.goes_through(office, act, which, before, limit) for office in self.offices(2)))
        assert sum(both) == len(fitting)
        for letter in fitting:
            self.does(act, letter)
        await self.hear()

    async def goes_through(self, office: PostOffice, act: BulkAct, which: Which, before: datetime, limit: int) -> int:
        number, cursor = 0, None
        while True:
            done = await office.bulk.do(office.owner(), act, which, before, cursor, limit)
            number += done.done
            cursor = done.cursor
            if cursor is None:
                return number

    def fitting(self, act: BulkAct, which: Which) -> list[Letter]:
        """In the order in which they are done."""
        letters = [letter for letter in self.model.letters.values() if _fits(act, letter) and _is_meant(letter, which)]
        return sorted(letters, key=lambda letter: (letter.id, letter.mailbox))

    def does(self, act: BulkAct, letter: Letter) -> None:
        if act is BulkAct.REQUEUE:
            self.model.requeue(letter)
        elif act is BulkAct.DISCARD:
            letter.nacked_with = None
            self.model.ack(letter, receipt=False)
        else:
            letter.comes, letter.nacked_with = None, None
            self.model.lose(letter)
            self.model.die(letter)


def _fits(act: BulkAct, letter: Letter) -> bool:
    if act is not BulkAct.EXPIRE:
        return letter.state is State.DEAD and letter.comes is None and (act is BulkAct.DISCARD or not letter.canceled)
    held_for_good = letter.state is State.HELD and letter.due is None and letter.comes is None
    return letter.state in (State.PENDING, State.HELD) and letter.sender != SYSTEM and not held_for_good


def _is_meant(letter: Letter, which: Which) -> bool:
    wanted: dict[str, Any] = {"mailbox": which.agent, "sender": which.sender, "type": which.type}
    return all(value is None or getattr(letter, field) == value for field, value in wanted.items())
