"""Work over time: a lane for each agent, with a bar for each letter from when it was taken until it was settled."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from postoffice.core.traffic import Deed

WIDTH = 1000
LANE = 26
_LEFT = 132
_TOP = 22
_LANES = 40
_TICKS = 6
_THIN = 3.0
_BAR = 12
_NAME_CHARACTERS = 18


class Bar(NamedTuple):
    """One letter: the time it waited, and the time its agent had it."""

    x: float
    width: float
    waited: float
    """Where it arrived."""
    y: float
    kind: str
    """`acked`, `leased`, `dead`, or `again` if it took more than one attempt."""
    title: str
    href: str


class Row(NamedTuple):
    """An agent's lane."""

    name: str
    label: str
    y: float
    bars: list[Bar]


class Tick(NamedTuple):
    """A mark on the axis."""

    x: float
    at: datetime


class Timeline(NamedTuple):
    """The drawing."""

    rows: list[Row]
    ticks: list[Tick]
    height: float
    left_out: int
    width: int = WIDTH
    left: int = _LEFT
    bar: int = _BAR


def draw(deeds: Sequence[Deed], begun: datetime, lasts: timedelta) -> Timeline:
    """Draw the agents that did most, with their letters."""
    by_agent: dict[str, list[Deed]] = {}
    for deed in deeds:
        by_agent.setdefault(deed.recipient, []).append(deed)
    names = sorted(by_agent, key=lambda name: (-len(by_agent[name]), name))
    rows = []
    for number, name in enumerate(sorted(names[:_LANES], key=str.lower)):
        y = _TOP + number * LANE + (LANE - _BAR) / 2
        bars = [_bar(deed, begun, lasts, y) for deed in by_agent[name]]
        rows.append(Row(name, name[:_NAME_CHARACTERS], y, bars))
    ticks = [Tick(_x(begun + lasts * part / _TICKS, begun, lasts), begun + lasts * part / _TICKS) for part in range(_TICKS)]
    return Timeline(rows, ticks, _TOP + len(rows) * LANE + 4, max(len(names) - _LANES, 0))


def _bar(deed: Deed, begun: datetime, lasts: timedelta, y: float) -> Bar:
    end = begun + lasts
    arrived = _x(max(deed.created_at, begun), begun, lasts)
    taken = deed.leased_at
    x = _x(max(taken, begun), begun, lasts) if taken is not None else arrived
    until = deed.settled_at or (end if taken is not None else deed.created_at)
    width = max(_x(min(until, end), begun, lasts) - x, _THIN)
    kind = "dead" if deed.state == "dead" else "waits" if taken is None else "leased" if deed.state != "acked" else "acked"
    tries = f", {deed.attempts} tries" if deed.attempts > 1 else ""
    title = f"{deed.sender} to {deed.recipient}: {deed.state}{tries}"
    return Bar(
        round(x, 1),
        round(width, 1),
        round(arrived, 1),
        y,
        f"{kind}{' again' if deed.attempts > 1 else ''}",
        title,
        f"/page/letter/{deed.message_id}",
    )


def _x(at: datetime, begun: datetime, lasts: timedelta) -> float:
    return round(_LEFT + (WIDTH - _LEFT) * ((at - begun) / lasts), 1)
