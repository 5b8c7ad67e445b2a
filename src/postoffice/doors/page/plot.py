"""Plots over time as SVG: turns numbers into coordinates. Styles are the page's."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from postoffice.core.traffic import Traffic
from postoffice.doors.page.times import span

WIDTH, HEIGHT = 640, 150
_TOP, _BOTTOM, _LEFT = 12, 22, 52
_TICKS = 4
_GAP = 1.5
Pair = tuple[timedelta | None, timedelta | None]


class Tick(NamedTuple):
    """A mark on an axis."""

    at: float
    label: str


class Moment(NamedTuple):
    """A mark on the axis of time."""

    at: float
    moment: datetime


class Bar(NamedTuple):
    """The bar of one slot of time."""

    x: float
    y: float
    width: float
    height: float
    title: str


class Plot(NamedTuple):
    """A plot, ready to be drawn."""

    title: str
    what: str
    summary: str
    bars: list[Bar]
    paths: list[tuple[str, str]]
    """Each line's name and path."""
    marks: list[tuple[str, float, float]]
    """Points that no line connects."""
    ticks: list[Tick]
    moments: list[Moment]
    rows: list[tuple[datetime, str]]
    """The same numbers as a table."""
    width: int = WIDTH
    height: int = HEIGHT
    left: int = _LEFT
    floor: int = HEIGHT - _BOTTOM


def bars(title: str, what: str, traffic: Traffic, counts: Sequence[int]) -> Plot:
    """A plot of counts, one bar a slot."""
    most = _round(max(counts, default=0))
    step = (WIDTH - _LEFT) / max(len(counts), 1)
    drawn = []
    for number, count in enumerate(counts):
        if count:
            height = (HEIGHT - _TOP - _BOTTOM) * count / most
            at = _moment(traffic, number).strftime("%H:%M")
            drawn.append(Bar(_r(_LEFT + number * step), _r(HEIGHT - _BOTTOM - height), _r(step - _GAP), _r(height), f"{at}: {count:,}"))
    total = sum(counts)
    summary = f"{total:,} in all, at most {max(counts, default=0):,} in {span(traffic.width)}"
    ticks = [Tick(_y(most * part / 2, most), f"{most * part / 2:,.0f}") for part in range(3)] if total else []
    rows = [(_moment(traffic, number), f"{count:,}") for number, count in enumerate(counts) if count]
    return Plot(title, what, summary if total else "", drawn, [], [], ticks, _moments(traffic), rows)


def lines(title: str, what: str, traffic: Traffic, pairs: Sequence[Pair]) -> Plot:
    """A plot of the median and the 95th percentile of each slot."""
    seconds = [value.total_seconds() for pair in pairs for value in pair if value is not None]
    most = max(seconds, default=0.0) or 1.0
    paths: list[tuple[str, str]] = []
    marks: list[tuple[str, float, float]] = []
    for which, word in ((1, "p95"), (0, "p50")):
        course, alone = _course([pair[which] for pair in pairs], most)
        paths.append((word, course))
        marks += [(word, x, y) for x, y in alone]
    ticks = [Tick(_y(most * part / 2, most), span(timedelta(seconds=most * part / 2))) for part in range(3)] if seconds else []
    latest = next((pair for pair in reversed(pairs) if pair[0] is not None), None)
    summary = "" if latest is None else f"lately half within {span(latest[0])}, 95 of 100 within {span(latest[1])}"
    rows = [
        (_moment(traffic, number), f"{span(middle)} / {span(most_of)}")
        for number, (middle, most_of) in enumerate(pairs)
        if middle is not None
    ]
    return Plot(title, what, summary, [], paths, marks, ticks, _moments(traffic), rows)


def _course(values: Sequence[timedelta | None], most: float) -> tuple[str, list[tuple[float, float]]]:
    """A path with gaps where there are no values, and the points that stand alone."""
    step = (WIDTH - _LEFT) / max(len(values), 1)
    runs: list[list[tuple[float, float]]] = [[]]
    for number, value in enumerate(values):
        if value is None:
            runs.append([])
        else:
            runs[-1].append((_r(_LEFT + (number + 0.5) * step), _y(value.total_seconds(), most)))
    course = " ".join("M" + " L".join(f"{x},{y}" for x, y in run) for run in runs if len(run) > 1)
    return course, [run[0] for run in runs if len(run) == 1]


def _moments(traffic: Traffic) -> list[Moment]:
    count = len(traffic.slots)
    return [Moment(_r(_LEFT + (WIDTH - _LEFT) * part / _TICKS), _moment(traffic, count * part // _TICKS)) for part in range(_TICKS)]


def _moment(traffic: Traffic, number: int) -> datetime:
    return traffic.begun_at + traffic.width * number


def _round(most: int) -> int:
    """The next round number for the end of an axis."""
    size = 1
    while size * 10 <= most:
        size *= 10
    return next(size * step for step in (1, 2, 4, 5, 10) if size * step >= max(most, 2)) if most > 1 else 2


def _y(value: float, most: float) -> float:
    return _r(HEIGHT - _BOTTOM - (HEIGHT - _TOP - _BOTTOM) * value / most)


def _r(value: float) -> float:
    return round(value, 1)
