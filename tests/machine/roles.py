"""A machine that writes to roles, takes, settles, staffs and loses in every order, and compares who gets which letter with a model's each time."""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from postoffice.core.delivery import Ack, Extend, Leased, Nack, Settled, Settlement, State
from postoffice.core.draft import Draft
from postoffice.core.errors import Closed, DatabaseLost, LeaseLost, NoSuchMessage, NothingToAnswer, NotInRole, OutcomeUnknown
from postoffice.core.limits import Limits
from postoffice.core.message import Accepted
from postoffice.core.role import ROLES
from tests.machine.ground import Ground
from tests.machine.grounded import GroundedMachine, T
from tests.machine.role_model import SILENT_AFTER, STAYS_FOR, Box, Letter, RoleModel

UNIT: Final = timedelta(minutes=10)
BOSS: Final = "boss"
NAMES: Final = ("ann", "ben", "cora")
PLACES: Final = ("role:fix", "role:test")
ALL: Final = 100
LIMITS: Final = Limits(max_attempts=1000, heartbeat_timeout=(SILENT_AFTER + 0.5) * UNIT, role_stay=(STAYS_FOR + 0.5) * UNIT)

agents = st.sampled_from(NAMES)
others = st.sampled_from([None, None, None, *NAMES])
"""Nobody stands for who has taken a letter."""
roles = st.sampled_from(PLACES)
boxes = st.sampled_from((*PLACES[:1] * 4, PLACES[1], *NAMES))
letters = st.tuples(boxes, st.sampled_from(["pay", "pay", "tax"]), st.sampled_from([3, 3, 3, 1]))
bounds = st.sampled_from([None, None, 1, 2, 3])
lapses = st.sampled_from([1, 1, 1, 2, 3])
limits = st.sampled_from([1, 1, 1, 2, ALL])
picks = st.integers(0, 1000)
counts = st.integers(1, 3)
units = st.integers(1, 3)
doors = st.integers(0, 1)


class RoleMachine(GroundedMachine):
    def __init__(self, ground: Callable[[], Ground]) -> None:
        super().__init__(ground)
        self.broken = False
        self.written = 0
        self.model = RoleModel({name: Box(name, {name}) for name in NAMES}, dict.fromkeys(NAMES, 0))
        self.do(self.begin())

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            return super().do(work)
        except BaseException:
            self.broken = True
            raise

    def teardown(self) -> None:
        try:
            if not self.broken:
                self.do(self.drain())
        finally:
            super().teardown()

    async def begin(self) -> None:
        await self.ground.open()
        self.callers = {name: await self.office().identify(name=name) for name in (BOSS, *NAMES)}
        for place in PLACES:
            await self.office().roles.make(self.callers[BOSS], place, NAMES)
            self.model.boxes[place] = Box(place, set(NAMES))
        await self.write_down_who_was_seen()

    async def write_down_who_was_seen(self) -> None:
        """Signs of life are written down together, as somebody leaves."""
        await self.office().leave(self.callers[BOSS])

    async def spread(self) -> None:
        """What tells other replicas that roles have changed is not part of this ground."""
        for door in self.ground.doors:
            door.office.wake.hint(frozenset((ROLES,)))

    # Writing

    def letter(self, box: str, subject: str, priority: int) -> Draft:
        self.written += 1
        return Draft(to=box, content="work", subject=subject, priority=priority, client_id=f"letter-{self.written}")

    def posted(self, draft: Draft, sent: Accepted) -> None:
        assert isinstance(draft.to, str)
        place = (draft.priority or 0, self.written)
        self.model.letters[sent.message_id] = Letter(sent.message_id, draft.to, draft.subject or "", place)

    @initialize(mail=st.lists(letters, min_size=6, max_size=12))
    def begin_with_some_mail(self, mail: list[tuple[str, str, int]]) -> None:
        self.do(self.writes(mail, 0))

    @rule(mail=st.lists(letters, min_size=1, max_size=4), door=doors)
    def write(self, mail: list[tuple[str, str, int]], door: int) -> None:
        self.do(self.writes(mail, door))

    async def writes(self, mail: list[tuple[str, str, int]], door: int) -> None:
        for box, subject, priority in mail:
            draft = self.letter(box, subject, priority)
            self.posted(draft, await self.office(door).send(self.callers[BOSS], draft))

    # Taking

    @rule(name=agents, limit=limits, lasts=units, in_order=st.sampled_from([False, False, True]), door=doors)
    def take(self, name: str, limit: int, lasts: int, in_order: bool, door: int) -> None:  # noqa: FBT001
        self.do(self.takes(name, limit, lasts, None, door, in_order=in_order))

    @rule(name=agents, of=roles, limit=limits, lasts=units, in_order=st.sampled_from([False, False, True]), door=doors)
    def take_from_a_role(self, name: str, of: str, limit: int, lasts: int, in_order: bool, door: int) -> None:  # noqa: FBT001
        self.do(self.takes(name, limit, lasts, of, door, in_order=in_order))

    async def takes(self, name: str, limit: int, lasts: int, of: str | None, door: int, *, in_order: bool) -> None:
        """What is due is sure to be given out by a taker for whom what waits does not suffice, who then need not be given all at once."""
        due = self.model.anything_due()
        try:
            leased = await self.receives(name, ALL if due else limit, lasts, door, one_per_session=in_order, of=of)
        except NotInRole:
            assert of not in self.model.roles_of(name)
            return
        places = self.places(name, of)
        assert of is None or of in self.model.roles_of(name)
        self.model.return_due()
        expected = self.model.next_for(name, places, ALL if due else limit, in_order=in_order, pop=False)
        if due:
            assert bool(leased) == bool(expected)
            self.check({name: leased}, in_order=in_order)
        else:
            assert [one.message.id for one in leased] == [letter.id for letter in expected]
        self.took(name, leased, lasts)

    async def receives(self, name: str, limit: int, lasts: int, door: int, **how: Any) -> tuple[Leased, ...]:
        return (await self.office(door).receive(self.callers[name], limit, visible_for=lasts * UNIT, **how)).leased

    def places(self, name: str, of: str | None = None) -> list[str]:
        return [name, *self.model.roles_of(name)] if of is None else [of]

    def took(self, name: str, leased: tuple[Leased, ...], lasts: int) -> None:
        for one in leased:
            self.model.take(self.model.letters[one.message.id], name, one.token, self.model.now + lasts)

    def check(self, taken: dict[str, tuple[Leased, ...]], *, in_order: bool = False) -> None:
        self.model.check(
            {name: [self.model.letters[one.message.id] for one in leased] for name, leased in taken.items()}, in_order=in_order
        )

    @rule(first=agents, second=agents, limit=limits, lasts=units)
    def two_take_at_once(self, first: str, second: str, limit: int, lasts: int) -> None:
        if first != second:
            self.do(self.take_together(first, second, limit, lasts))

    async def take_together(self, first: str, second: str, limit: int, lasts: int) -> None:
        """At two doors. Replicas may pass over what another is about to take, so not all that waits need be taken."""
        await self.sweeps(0)
        calls = [
            self.office(door).receive(self.callers[name], limit, visible_for=lasts * UNIT) for door, name in enumerate((first, second))
        ]
        turns = await asyncio.gather(*calls)
        taken = {name: turn.leased for name, turn in zip((first, second), turns, strict=True)}
        could = any(self.model.next_for(name, self.places(name), limit, in_order=False, pop=False) for name in taken)
        assert any(taken.values()) == could
        assert all(len(leased) <= limit for leased in taken.values())
        self.check(taken)
        for name, leased in taken.items():
            self.took(name, leased, lasts)

    @rule(name=agents, limit=limits, door=doors)
    def pop(self, name: str, limit: int, door: int) -> None:
        self.do(self.pops(name, limit, door))

    async def pops(self, name: str, limit: int, door: int) -> None:
        await self.sweeps(door)
        popped = await self.office(door).pop(self.callers[name], limit)
        expected = self.model.next_for(name, self.places(name), limit, in_order=False, pop=True)
        assert [one.message.id for one in popped] == [letter.id for letter in expected]
        self.took(name, popped, 1)
        for letter in expected:
            letter.state, letter.held = "done", False

    # Settling

    @rule(pick=picks, by=others, count=counts, token=st.booleans(), door=doors)
    def ack(self, pick: int, by: str | None, count: int, token: bool, door: int) -> None:  # noqa: FBT001
        """By who has it or by another, with its token or by name alone."""
        self.do(self.settles_some(pick, by, count, None, door, token=token))

    @rule(pick=picks, by=others, count=counts, delay=st.sampled_from([0, 0, 1, 2]), token=st.booleans(), door=doors)
    def nack(self, pick: int, by: str | None, count: int, delay: int, token: bool, door: int) -> None:  # noqa: FBT001
        self.do(self.settles_some(pick, by, count, delay, door, token=token))

    async def settles_some(self, pick: int, by: str | None, count: int, delay: int | None, door: int, *, token: bool) -> None:
        held = self.model.within("in hand")
        for letter in held[pick % len(held) :][:count] if held else ():
            await self.settles(letter, by or letter.taker or "", delay, door, token=token)

    @rule(name=agents, second=agents, limit=limits, door=doors)
    def take_and_give_back(self, name: str, second: str, limit: int, door: int) -> None:
        """Whoever comes next may have it."""
        self.do(self.gives_back(name, second, limit, door))

    async def gives_back(self, name: str, second: str, limit: int, door: int) -> None:
        await self.takes(name, limit, 1, None, door, in_order=False)
        for letter in self.model.within("in hand"):
            if letter.taker == name:
                await self.settles(letter, name, 0, door, token=True)
        await self.takes(second, limit, 1, None, door, in_order=False)

    @rule(name=agents, second=agents, by=st.integers(1, STAYS_FOR + 1), heard=st.booleans(), door=doors)
    def work_and_be_away(self, name: str, second: str, by: int, heard: bool, door: int) -> None:  # noqa: FBT001
        """Across both bounds within which a session stays with whoever took of it."""
        self.do(self.works(name, second, by, door, heard=heard))

    async def works(self, name: str, second: str, by: int, door: int, *, heard: bool) -> None:
        await self.takes(name, 1, 1, None, door, in_order=False)
        for letter in self.model.within("in hand"):
            if letter.taker == name:
                await self.settles(letter, name, None, door, token=False)
        await self.passes(by)
        if heard:
            await self.shows(name, leaves=False)
        await self.sweeps(door)
        await self.takes(second, 1, 1, None, door, in_order=False)

    @rule(pick=picks, by=others, delay=st.none() | st.integers(0, 2), token=st.booleans(), door=doors)
    def settle_late(self, pick: int, by: str | None, delay: int | None, token: bool, door: int) -> None:  # noqa: FBT001
        """What ran out, came back or was put off, and nobody else has taken since."""
        taken = [letter for letter in self.model.within("waiting", "put off") if letter.held]
        if taken:
            letter = taken[pick % len(taken)]
            self.do(self.settles(letter, by or letter.taker or "", delay, door, token=token))

    async def settles(self, letter: Letter, name: str, delay: int | None, door: int, *, token: bool) -> None:
        if token and letter.token is None:
            return  # put off by its name alone
        proof = letter.token if token else None
        asked: Settlement = Ack(letter.id, proof) if delay is None else Nack(letter.id, proof, delay * UNIT)
        (outcome,) = await self.office(door).settle(self.callers[name], [asked])
        if not self.model.boxes[letter.box].is_role and name != letter.box:
            assert isinstance(outcome, NoSuchMessage)
        elif not token and name != letter.taker:
            assert isinstance(outcome, LeaseLost), "another of the staff settled it by its name"
        else:
            state = State.ACKED if delay is None else State.HELD if delay else State.PENDING
            assert outcome == Settled(letter.id, state)
            self.settled(letter, delay, token=token)

    @rule(pick=picks, by=others, token=st.booleans(), lasts=units, door=doors)
    def extend(self, pick: int, by: str | None, token: bool, lasts: int, door: int) -> None:  # noqa: FBT001
        """What ran out is in hand again only where it could have been taken now."""
        taken = [letter for letter in self.model.letters.values() if letter.held and letter.token is not None]
        if taken:
            letter = taken[pick % len(taken)]
            self.do(self.extends(letter, by or letter.taker or "", lasts, door, token=token))

    async def extends(self, letter: Letter, name: str, lasts: int, door: int, *, token: bool) -> None:
        (outcome,) = await self.office(door).settle(self.callers[name], [Extend(letter.id, lasts * UNIT, letter.token if token else None)])
        late = letter.state == "waiting"
        if not self.model.boxes[letter.box].is_role and name != letter.box:
            assert isinstance(outcome, NoSuchMessage)
        elif (not token and name != letter.taker) or (late and not self.model.may_have_again(letter, name)):
            assert isinstance(outcome, LeaseLost)
        else:
            assert outcome == Settled(letter.id, State.LEASED)
            if late:
                self.model.take(letter, name, letter.token or "", 0)
            letter.due = self.model.now + lasts

    def settled(self, letter: Letter, delay: int | None, *, token: bool) -> None:
        if delay is None:
            letter.state, letter.held = "done", False
        elif delay:
            self.model.give_back(letter, "put off", self.model.now + delay)
            letter.held, letter.token = not token, None
        else:
            self.model.give_back(letter)
            letter.held = False

    @rule(pick=picks, by=others, door=doors)
    def answer(self, pick: int, by: str | None, door: int) -> None:
        taken = [letter for letter in self.model.letters.values() if letter.taker is not None]
        if taken:
            letter = taken[pick % len(taken)]
            self.do(self.answers(letter, by or letter.taker or "", door))

    async def answers(self, letter: Letter, name: str, door: int) -> None:
        own = letter.box == name
        may = own or (letter.box in self.model.roles_of(name) and letter.taker == name)
        try:
            await self.office(door).send(self.callers[name], Draft(to=BOSS, content="done", reply_to=letter.id))
        except NothingToAnswer:
            assert not may
            return
        assert may
        if own or letter.held:
            letter.state, letter.held = "done", False

    # Who is there, and how it is to be

    @rule(name=agents, place=roles, door=doors)
    def staff_or_unstaff(self, name: str, place: str, door: int) -> None:
        self.do(self.staffs(name, place, door))

    async def staffs(self, name: str, place: str, door: int) -> None:
        change = self.office(door).roles.change
        if name in self.model.boxes[place].staff:
            await change(self.callers[BOSS], place, remove=[name])
            self.model.unstaff(place, name)
        else:
            await change(self.callers[BOSS], place, add=[name])
            self.model.boxes[place].staff.add(name)
        await self.spread()

    @rule(box=boxes, most=bounds, in_order=st.booleans(), door=doors)
    def change(self, box: str, most: int | None, in_order: bool, door: int) -> None:  # noqa: FBT001
        self.do(self.changes(box, most, door, in_order=in_order))

    async def changes(self, box: str, most: int | None, door: int, *, in_order: bool) -> None:
        changes = {"max_in_hand": most, "in_order": in_order}
        if box in PLACES:
            await self.office(door).roles.change(self.callers[BOSS], box, changes)
        else:
            await self.office(door).update_card(self.callers[box], changes)
        self.model.boxes[box].most, self.model.boxes[box].in_order = most, in_order

    @rule(name=agents, leaves=st.sampled_from([False, False, False, True]))
    def be_heard_of_or_leave(self, name: str, leaves: bool) -> None:  # noqa: FBT001
        self.do(self.shows(name, leaves=leaves))

    async def shows(self, name: str, *, leaves: bool) -> None:
        if leaves:
            await self.office().leave(self.callers[name])
        else:
            self.office().heartbeat(self.callers[name])
            await self.write_down_who_was_seen()
        self.model.seen[name] = None if leaves else self.model.now

    @rule(by=lapses)
    def let_time_pass(self, by: int) -> None:
        self.do(self.passes(by))

    async def passes(self, by: int) -> None:
        await self.ground.engine.advance(by * UNIT)
        self.model.now += by

    @rule(door=doors)
    def sweep(self, door: int) -> None:
        self.do(self.sweeps(door))

    async def sweeps(self, door: int) -> None:
        await self.office(door).upkeep.sweep()
        self.model.return_due()

    @rule()
    def close_and_reopen(self) -> None:
        self.do(self.ground.reopen())

    @rule(pick=picks, box=boxes, patience=st.integers(0, 20), door=doors)
    def crash(self, pick: int, box: str, patience: int, door: int) -> None:
        """Bad luck strikes while a letter is written and another is settled; both are said again."""
        self.do(self.crashes(pick, self.letter(box, "pay", 3), patience, door))

    async def crashes(self, pick: int, draft: Draft, patience: int, door: int) -> None:
        held = self.model.within("in hand")
        letter = held[pick % len(held)] if held else None
        await self.ground.arm()
        under_way: list[asyncio.Task[Any]] = [asyncio.create_task(self.office(door).send(self.callers[BOSS], draft))]
        if letter is not None:
            under_way.append(asyncio.create_task(self.office(door).ack(self.callers[letter.taker or ""], letter.id, letter.token)))
        for _ in range(patience):
            await asyncio.sleep(0)
        await self.ground.crash()
        for outcome in await asyncio.gather(*under_way, return_exceptions=True):
            assert isinstance(outcome, Accepted | Settled | Closed | DatabaseLost | OutcomeUnknown), outcome
        self.posted(draft, await self.office(door).send(self.callers[BOSS], draft))
        if letter is not None:
            await self.office(door).ack(self.callers[letter.taker or ""], letter.id, letter.token)
            self.settled(letter, None, token=True)

    # What is always so

    @invariant()
    def each_hand_has_what_the_model_says(self) -> None:
        self.do(self.compare())

    async def compare(self) -> None:
        for number, box in enumerate(self.model.boxes):
            office = self.office(number)
            counts = await office.counts(office.owner(), of=box)
            states = [len(self.model.of(box, state)) for state in ("waiting", "in hand", "put off")]
            assert [counts.pending, counts.leased, counts.held] == states
            if box in PLACES:
                hands = {one.message_id: one.agent for one in await office.roles.hands(box)}
                assert hands == {letter.id: letter.taker for letter in self.model.of(box, "in hand")}

    async def drain(self) -> None:
        """All come, take and ack until nothing waits: every letter is done, and was written once."""
        for place in PLACES:
            await self.changes(place, None, 0, in_order=False)
            if NAMES[0] not in self.model.boxes[place].staff:
                await self.staffs(NAMES[0], place, 0)
        await self.passes(10)
        await self.sweeps(0)
        for name in NAMES:
            await self.changes(name, None, 0, in_order=False)
            await self.takes(name, ALL, 1, None, 0, in_order=False)
        for letter in self.model.within("in hand"):
            await self.settles(letter, letter.taker or "", None, 0, token=True)
        assert {letter.state for letter in self.model.letters.values()} <= {"done"}
        await self.compare()
        for letter in self.model.letters.values():
            (standing,) = (await self.office().status(self.callers[BOSS], letter.id)).standings
            assert standing.state is State.ACKED
