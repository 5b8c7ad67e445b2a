"""A machine that opens, renews, loses and closes windows in every order, and compares their names with a model's after every step."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from postoffice.core.errors import NoSuchWindow
from postoffice.core.window import Opened, Opening, Place, names_in_turn
from postoffice.office.windows import Renewal
from tests.machine.ground import Ground
from tests.machine.grounded import GroundedMachine

LEASE_STEPS: Final = 2
STEP: Final = timedelta(hours=1)
"""So many steps of time end a window; the half step before is room for a slow machine."""
LEASE: Final = STEP * LEASE_STEPS - STEP / 2

processes = st.integers(1, 4)
sessions = st.sampled_from([None, "a", "b", "c"])
folders = st.sampled_from(["shop", "mill"])
doors = st.integers(0, 1)
Key = tuple[str, str]


@dataclass
class Known:
    """A window as the model has it."""

    id: str
    agent: str
    until: int


@dataclass
class Names:
    """The rules by which windows get their names, said once more and plainly."""

    now: int = 0
    windows: dict[int, Known] = field(default_factory=dict)
    """By process, ended or not: a process that speaks again before anybody swept is the same window."""
    had: dict[Key, str] = field(default_factory=dict)
    """Which name a session or a process had last."""

    def open(self) -> dict[str, str]:
        """Which windows are open, and their names."""
        return {one.id: one.agent for one in self.windows.values() if one.until > self.now}

    def taken_by_others(self, process: int) -> set[str]:
        """Names that open windows have, but for this process's."""
        return {one.agent for other, one in self.windows.items() if other != process and one.until > self.now}

    def keys(self, process: int, session: str | None) -> list[Key]:
        """Under what its name is remembered, the conversation before the process."""
        return ([("session", session)] if session else []) + [("process", str(process))]

    def name(self, process: int, session: str | None, folder: str) -> str:
        """Its own name where that is free, else its folder's lowest."""
        taken = self.taken_by_others(process)
        own = next((self.had[key] for key in self.keys(process, session) if key in self.had), None)
        return own if own is not None and own not in taken else next(name for name in names_in_turn(folder) if name not in taken)

    def opened(self, process: int, session: str | None, opened: Opened) -> None:
        """It has opened, under this name."""
        for gone in [
            other for other, one in self.windows.items() if one.agent == opened.agent and one.until <= self.now and other != process
        ]:
            del self.windows[gone]  # whoever takes a name over ends what is left of the one before
        self.windows[process] = Known(opened.id, opened.agent, self.now + LEASE_STEPS)
        self.had.update(dict.fromkeys(self.keys(process, session), opened.agent))


class WindowMachine(GroundedMachine):
    def __init__(self, ground: Callable[[], Ground]) -> None:
        super().__init__(ground)
        self.names = Names()
        self.do(self.ground.open())

    async def asks(self, process: int, session: str | None, folder: str, door: int) -> Opened:
        place = Place("laptop", process, "1")
        return await self.office(door).open_window(None, Opening(client="codex", place=place, folder=f"/home/{folder}", session=session))

    @rule(process=processes, session=sessions, folder=folders, door=doors)
    def open_one(self, process: int, session: str | None, folder: str, door: int) -> None:
        expected, before = self.names.name(process, session, folder), self.names.windows.get(process)
        opened = self.do(self.asks(process, session, folder, door))
        assert (opened.agent, opened.known) == (expected, before is not None)
        assert before is None or opened.id == before.id
        self.names.opened(process, session, opened)

    @rule(pair=st.lists(processes, min_size=2, max_size=2, unique=True), folder=folders)
    def open_two_at_once(self, pair: list[int], folder: str) -> None:
        """At two doors: as if one had been first."""

        async def both() -> list[Opened]:
            return await asyncio.gather(*(self.asks(process, None, folder, door) for door, process in enumerate(pair)))

        opened = dict(zip(pair, self.do(both()), strict=True))
        for first in pair:
            if opened[first].agent == self.names.name(first, None, folder):
                (second,) = set(pair) - {first}
                break
        else:
            raise AssertionError(opened)
        self.names.opened(first, None, opened[first])
        assert opened[second].agent == self.names.name(second, None, folder)
        self.names.opened(second, None, opened[second])

    @rule(process=processes, door=doors)
    def renew(self, process: int, door: int) -> None:
        known = self.names.windows.get(process)
        if known is not None:
            renewed = self.do(self.office(door).renew_window(None, Renewal(id=known.id)))
            assert renewed.agent == known.agent
            known.until = self.names.now + LEASE_STEPS

    @rule(process=processes, door=doors)
    def close(self, process: int, door: int) -> None:
        known = self.names.windows.pop(process, None)
        if known is not None:
            assert self.do(self.office(door).close_window(None, known.id)).agent == known.agent
            try:
                self.do(self.office(door).renew_window(None, Renewal(id=known.id)))
            except NoSuchWindow:
                return
            raise AssertionError(known)

    @rule(steps=st.integers(1, 3))
    def time_passes(self, steps: int) -> None:
        self.do(self.ground.engine.advance(STEP * steps))
        self.names.now += steps

    @rule(door=doors)
    def sweep(self, door: int) -> None:
        self.do(self.office(door).upkeep.sweep())
        self.names.windows = {process: one for process, one in self.names.windows.items() if one.until > self.names.now}

    @rule()
    def close_and_reopen_the_office(self) -> None:
        self.do(self.ground.reopen())

    @rule()
    def crash(self) -> None:
        async def crashes() -> None:
            await self.ground.arm()
            await self.ground.crash()

        self.do(crashes())

    @invariant()
    def open_windows_are_the_models_and_no_name_is_there_twice(self) -> None:
        found = self.do(self.office().windows())
        assert {one.id: one.agent for one in found} == self.names.open()
        assert len({one.agent for one in found}) == len(found)
