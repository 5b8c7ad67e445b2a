"""Who waits on whom, from mail that is not taken and tasks that are not done: a lane for each agent waited on, and circles of agents that wait for each other."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from postoffice.core.names import folded
from postoffice.core.talk import Waiting


class Lane(NamedTuple):
    """All that wait on one agent, the longest wait first."""

    name: str
    waits: list[Waiting]
    silent: bool


class Circle(NamedTuple):
    """Agents each of which waits on the next, and the last on the first."""

    names: tuple[str, ...]
    stuck: bool
    """Whether none of them is at work."""


def lanes(waits: Sequence[Waiting], working: Collection[str]) -> list[Lane]:
    """The lanes, in the order of their longest waits."""
    by_name: dict[str, list[Waiting]] = {}
    for item in waits:
        by_name.setdefault(item.waited_on, []).append(item)
    return [Lane(name, items, folded(name) not in working) for name, items in by_name.items()]


def circles(waits: Sequence[Waiting], working: Collection[str]) -> list[Circle]:
    """Each circle once, in its shortest form. Stuck ones come first."""
    ways: dict[str, list[str]] = {}
    for item in waits:
        ways.setdefault(item.waiter, []).append(item.waited_on)
    by_members: dict[frozenset[str], tuple[str, ...]] = {}
    for start in ways:
        around = _around(start, ways)
        if around and frozenset(around) not in by_members:
            by_members[frozenset(around)] = around
    drawn = [Circle(names, not any(folded(name) in working for name in names)) for names in by_members.values()]
    return sorted(drawn, key=lambda circle: not circle.stuck)


def _around(start: str, ways: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The shortest way from an agent back to itself; empty if there is none."""
    reached: dict[str, str] = {}
    front = [start]
    while front:
        beyond: list[str] = []
        for here in front:
            for there in ways.get(here, ()):
                if there == start:
                    return _back(start, here, reached)
                if there not in reached:
                    reached[there] = here
                    beyond.append(there)
        front = beyond
    return ()


def _back(start: str, last: str, reached: Mapping[str, str]) -> tuple[str, ...]:
    names = [last]
    while names[-1] != start:
        names.append(reached[names[-1]])
    return tuple(reversed(names))
