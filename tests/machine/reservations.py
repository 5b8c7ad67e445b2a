"""A machine that reserves, releases, breaks and loses files in every order, and compares who has them with a model's after every step."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from postoffice.core.errors import AlreadyReserved
from postoffice.core.reservation import Reservation
from postoffice.core.window import Opening, Place
from postoffice.office import PostOffice
from tests.machine.ground import Ground
from tests.machine.grounded import GroundedMachine

STEP: Final = timedelta(hours=1)
"""Longer than any run lasts, and than any window that is not renewed."""
PROJECT: Final = "/home/ann/shop"
COVERS: Final = {
    "src": {"src/a.py", "src/b.ts", "src/pay/c.py"},
    "src/*.py": {"src/a.py"},
    "src/a.py": {"src/a.py"},
    "**/*.py": {"src/a.py", "src/pay/c.py", "docs/y.py", "top.py"},
    "docs/**": {"docs/x.md", "docs/y.py"},
    "top.py": {"top.py"},
}
"""Globs, and which of all the files there are each means."""

NAMES: Final = ("ann", "ben", "cora")
agents = st.sampled_from(NAMES)
globs = st.lists(st.sampled_from(sorted(COVERS)), min_size=1, max_size=2, unique=True).map(lambda found: tuple(sorted(found)))
lasts = st.integers(1, 3)
doors = st.integers(0, 1)


@dataclass
class Held:
    """A reservation as the model has it."""

    agent: str
    paths: tuple[str, ...]
    exclusive: bool
    until: int
    in_window: bool


@dataclass(frozen=True)
class Bid:
    """Who is to be told of what."""

    agent: str
    paths: tuple[str, ...]
    exclusive: bool


def files(paths: tuple[str, ...]) -> set[str]:
    return set().union(*(COVERS[path] for path in paths))


class ReservationMachine(GroundedMachine):
    def __init__(self, ground: Callable[[], Ground]) -> None:
        super().__init__(ground)
        self.now = 0
        self.held: dict[str, Held] = {}
        self.bids: set[Bid] = set()
        self.told: Counter[str] = Counter()
        self.windows: dict[str, str] = {}
        """By agent, the window it has open."""
        self.do(self.ground.open())
        self.callers = {name: self.do(self.office().identify(name=name)) for name in NAMES}

    # The model

    def clashes(self, agent: str, paths: tuple[str, ...], *, exclusive: bool) -> bool:
        others = [one for one in self.held.values() if one.agent != agent and (exclusive or one.exclusive)]
        return any(files(paths) & files(one.paths) for one in others)

    def granted(self, agent: str, paths: tuple[str, ...], hours: int, got: Reservation, *, exclusive: bool) -> None:
        same = [id for id, one in self.held.items() if (one.agent, one.paths) == (agent, paths)]
        assert [got.id] == (same or [got.id]), "the same claim is the same reservation"
        assert got.window == self.windows.get(agent)
        self.held[got.id] = Held(agent, paths, exclusive, self.now + hours, got.window is not None)
        self.bids = {bid for bid in self.bids if (bid.agent, bid.paths) != (agent, paths)}

    def tell(self) -> None:
        free = {bid for bid in self.bids if not self.clashes(bid.agent, bid.paths, exclusive=bid.exclusive)}
        self.told.update(bid.agent for bid in free)
        self.bids -= free

    # What happens

    async def asks(self, agent: str, paths: tuple[str, ...], hours: int, door: int, **how: bool) -> Reservation | AlreadyReserved:
        office = self.office(door)
        caller = await office.at_window(self.callers[agent], self.windows.get(agent, ""))
        try:
            return await office.reservations.reserve(caller, PROJECT, paths, hours * STEP, "work", **how)
        except AlreadyReserved as refusal:
            return refusal

    @rule(agent=agents, paths=globs, hours=lasts, exclusive=st.booleans(), tell=st.booleans(), door=doors)
    def claim(self, agent: str, paths: tuple[str, ...], hours: int, exclusive: bool, tell: bool, door: int) -> None:  # noqa: FBT001
        outcome = self.do(self.asks(agent, paths, hours, door, exclusive=exclusive, tell=tell))
        assert isinstance(outcome, AlreadyReserved) is self.clashes(agent, paths, exclusive=exclusive)
        if isinstance(outcome, Reservation):
            self.granted(agent, paths, hours, outcome, exclusive=exclusive)
        elif tell:
            self.bids.add(Bid(agent, paths, exclusive))

    @rule(paths=globs, hours=lasts)
    def all_claim_at_once(self, paths: tuple[str, ...], hours: int) -> None:
        """At both doors: one wins, if anybody may."""

        async def every() -> list[Reservation | AlreadyReserved]:
            return await asyncio.gather(*(self.asks(name, paths, hours, door) for door, name in enumerate(NAMES)))

        may = {name for name in NAMES if not self.clashes(name, paths, exclusive=True)}
        outcomes = dict(zip(NAMES, self.do(every()), strict=True))
        winners = {name for name, outcome in outcomes.items() if isinstance(outcome, Reservation)}
        assert winners <= may
        assert len(winners) == min(1, len(may))
        for name in winners:
            self.granted(name, paths, hours, outcomes[name], exclusive=True)  # type: ignore[arg-type]

    @rule(agent=agents, paths=st.none() | globs, door=doors)
    def release(self, agent: str, paths: tuple[str, ...] | None, door: int) -> None:
        released = self.do(self.office(door).reservations.release(self.callers[agent], PROJECT, paths or ()))
        expected = []
        for id, one in list(self.held.items()):
            gone = tuple(path for path in one.paths if one.agent == agent and (paths is None or path in paths))
            if gone:
                expected.append((id, gone))
                one.paths = tuple(path for path in one.paths if path not in gone)
                if not one.paths:
                    del self.held[id]
        assert sorted((one.id, one.paths) for one in released) == sorted(expected)
        if released:
            self.tell()

    @rule(pick=st.integers(0, 9), door=doors)
    def owner_breaks_one(self, pick: int, door: int) -> None:
        if self.held:
            id = sorted(self.held)[pick % len(self.held)]
            ended = self.do(self.office(door).reservations.end(self.office().owner(), id))
            assert ended.id == id
            self.told[self.held.pop(id).agent] += 1
            self.tell()

    @rule(agent=agents, door=doors)
    def open_or_close_a_window(self, agent: str, door: int) -> None:
        self.do(self.opens_or_closes(agent, self.office(door)))

    async def opens_or_closes(self, agent: str, office: PostOffice) -> None:
        if agent in self.windows:
            await office.close_window(None, self.windows.pop(agent))
            self.held = {id: one for id, one in self.held.items() if not (one.in_window and one.agent == agent)}
            return
        place = Place("laptop", NAMES.index(agent), "1")
        opened = await office.open_window(None, Opening(client="codex", place=place, folder=PROJECT, agent=agent))
        self.windows[agent] = opened.id
        # A window that comes back before anybody swept has what nobody else has taken meanwhile.
        found = {one.id for one in await office.reservations.all()}
        self.held |= {id: one for id, one in self.lapsed.items() if id in found and one.agent == agent}
        for one in self.held.values():
            assert not self.clashes(one.agent, one.paths, exclusive=one.exclusive)

    lapsed: dict[str, Held] = {}  # noqa: RUF012 - replaced as a whole
    """What ended with a window that may come back."""

    @rule(by=lasts)
    def let_time_pass(self, by: int) -> None:
        self.do(self.ground.engine.advance(by * STEP))
        self.now += by
        self.windows.clear()  # none of them has been renewed
        self.lapsed = {id: one for id, one in {**self.lapsed, **self.held}.items() if one.in_window and one.until > self.now}
        self.held = {id: one for id, one in self.held.items() if one.until > self.now and not one.in_window}

    @rule(door=doors)
    def sweep(self, door: int) -> None:
        self.do(self.office(door).upkeep.sweep())
        self.lapsed = {}
        self.tell()

    @rule()
    def close_and_reopen(self) -> None:
        self.do(self.ground.reopen())

    # What is always so

    @invariant()
    def everybody_has_what_the_model_says(self) -> None:
        for door in range(len(self.ground.doors)):
            found = {one.id: one for one in self.do(self.office(door).reservations.all())}
            assert {id: (one.holder, one.paths, one.exclusive) for id, one in found.items()} == {
                id: (one.agent, one.paths, one.exclusive) for id, one in self.held.items()
            }
        for name in NAMES:
            edits = self.do(self.office().reservations.in_the_way(self.callers[name], [(PROJECT, file) for file in files(tuple(COVERS))]))
            assert {one.id for one in edits} == {id for id, one in self.held.items() if one.agent != name and one.exclusive}
            waiting = self.do(self.office().counts(self.callers[name])).pending
            assert waiting == self.told[name], "each is told once, and nobody of nothing"
