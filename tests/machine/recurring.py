"""A machine that has letters sent again and again while time jumps and servers crash, and counts what comes against a model."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from postoffice.core.errors import Closed, DatabaseLost, NoSuchRecurring, OutcomeUnknown
from postoffice.core.names import SYSTEM
from postoffice.core.recurring import Missed, Template, next_after
from tests.machine.ground import Ground
from tests.machine.grounded import GroundedMachine

SENDER: Final = "boss"
NAMES: Final = ("coder", "docs")
TROUBLE: Final = "trouble"
EVERY: Final = ("0 * * * *", "0 */3 * * *", "0 9 * * 1-5")
HOUR: Final = timedelta(hours=1)
HALF_PAST: Final = timedelta(minutes=30)
ON_TIME: Final = timedelta(seconds=5)

names = st.sampled_from(NAMES)
picks = st.integers(0, 9)
doors = st.integers(0, 1)


@dataclass
class Series:
    """A recurring letter as the model has it."""

    id: str
    content: str
    every: str
    missed: Missed
    to: str
    next_at: datetime
    sent: int = 0
    in_trouble: bool = False


class RecurringMachine(GroundedMachine):
    """The office's clock stands near half past an hour between rules, so that what is due then is late, and never just about to be."""

    def __init__(self, ground: Callable[[], Ground]) -> None:
        super().__init__(ground)
        self.series: dict[str, Series] = {}
        self.begun = 0
        self.refusing: set[str] = set()
        self.owed: Counter[tuple[str, str]] = Counter()
        self.come: Counter[tuple[str, str]] = Counter()
        self.do(self.begin())

    async def begin(self) -> None:
        await self.ground.open()
        self.callers = {name: await self.office().identify(name=name) for name in (SENDER, *NAMES)}
        now = await self.now()
        monday = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=7 - now.weekday())
        await self.ground.engine.advance(monday + HALF_PAST - now)

    async def now(self) -> datetime:
        return await self.office().store.bulk.now()

    async def to_half_past(self) -> None:
        now = await self.now()
        hour = now.replace(minute=0, second=0, microsecond=0)
        await self.ground.engine.advance((hour + HALF_PAST - now) % HOUR)

    def picked(self, pick: int) -> Series | None:
        each = list(self.series.values())
        return each[pick % len(each)] if each else None

    # The model

    def turn(self, now: datetime) -> None:
        """What is due by now has been sent, once, and what was missed as its sender chose."""
        for one in self.series.values():
            if one.next_at > now:
                continue
            if now - one.next_at < HALF_PAST or one.missed is Missed.ONCE:
                self.sends(one)
            following = next_after(one.every, "UTC", now)
            assert following is not None
            one.next_at = following

    def sends(self, one: Series) -> None:
        if one.to in self.refusing:
            self.owed[SENDER, TROUBLE] += not one.in_trouble
        else:
            self.owed[one.to, one.content] += 1
            one.sent += 1
        one.in_trouble = one.to in self.refusing

    # What happens

    @rule(every=st.sampled_from(EVERY), missed=st.sampled_from(Missed), to=names, door=doors)
    def begin_one(self, every: str, missed: Missed, to: str, door: int) -> None:
        self.begun += 1
        letter = Template(to=to, content=f"series {self.begun}")
        kept = self.do(self.office(door).recurring.begin(self.callers[SENDER], every, letter, missed=missed))
        assert kept.next_at == next_after(every, "UTC", kept.created_at)
        self.series[kept.id] = Series(kept.id, f"series {self.begun}", every, missed, to, kept.next_at)

    @rule(pick=picks, by_owner=st.booleans(), door=doors)
    def stop_one(self, pick: int, by_owner: bool, door: int) -> None:  # noqa: FBT001
        if (one := self.picked(pick)) is not None:
            self.do(self.stops(one, door, by_owner=by_owner))

    async def stops(self, one: Series, door: int, *, by_owner: bool) -> None:
        office = self.office(door)
        stopped = await office.recurring.stop(office.owner() if by_owner else self.callers[SENDER], one.id)
        assert (stopped.id, stopped.sent) == (one.id, one.sent)
        del self.series[one.id]
        for caller in (office.owner(), self.callers[SENDER], self.callers["docs"]):
            with pytest.raises(NoSuchRecurring):
                await office.recurring.stop(caller, one.id)

    @rule(to=names, refuses=st.booleans(), door=doors)
    def refuse_or_admit(self, to: str, refuses: bool, door: int) -> None:  # noqa: FBT001
        office = self.office(door)
        self.do(office.update_card(office.owner(), {"allow_from": [] if refuses else ["*"]}, of=to))
        (self.refusing.add if refuses else self.refusing.discard)(to)

    @rule(hours=st.integers(1, 30))
    def be_late(self, hours: int) -> None:
        """Hours pass, and every replica comes at once."""
        self.do(self.comes_late(hours))

    async def comes_late(self, hours: int) -> None:
        await self.ground.engine.advance(hours * HOUR)
        await self.everybody_sends()

    @rule(pick=picks)
    def be_on_time(self, pick: int) -> None:
        if (one := self.picked(pick)) is not None:
            self.do(self.comes_on_time(one))

    async def comes_on_time(self, one: Series) -> None:
        """Straight to its time, and what came before it was missed."""
        await self.ground.engine.advance(one.next_at - await self.now() + ON_TIME)
        await self.everybody_sends()
        await self.to_half_past()

    @rule(hours=st.integers(1, 3), patience=st.integers(0, 20), door=doors)
    def crash(self, hours: int, patience: int, door: int) -> None:
        self.do(self.crashes(hours, patience, door))

    async def crashes(self, hours: int, patience: int, door: int) -> None:
        """Bad luck strikes while they are being sent: afterwards each has gone out once all the same."""
        await self.ground.engine.advance(hours * HOUR)
        await self.ground.arm()
        sending = asyncio.create_task(self.office(door).recurring.send_due())
        for _ in range(patience):
            await asyncio.sleep(0)
        await self.ground.crash()
        (outcome,) = await asyncio.gather(sending, return_exceptions=True)
        assert isinstance(outcome, int | Closed | DatabaseLost | OutcomeUnknown), outcome
        await self.everybody_sends()

    async def everybody_sends(self) -> None:
        now = await self.now()
        await asyncio.gather(*(door.office.recurring.send_due() for door in self.ground.doors))
        self.turn(now)

    @rule()
    def close_and_reopen(self) -> None:
        self.do(self.ground.reopen())

    # What is always so

    @invariant()
    def each_came_as_often_as_it_should(self) -> None:
        self.do(self.compare())

    async def compare(self) -> None:
        for name, caller in self.callers.items():
            for leased in await self.office().pop(caller, 100):
                self.come[name, TROUBLE if leased.message.sender == SYSTEM else leased.message.content or ""] += 1
        assert self.come == self.owed
        listed = await self.office(1).recurring.all(self.office(1).owner(), everyone=True)
        assert {one.id: (one.next_at, one.sent, one.trouble is not None) for one in listed} == {
            one.id: (one.next_at, one.sent, one.in_trouble) for one in self.series.values()
        }
