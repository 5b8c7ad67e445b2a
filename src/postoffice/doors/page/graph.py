"""A drawing of who talks to whom: agents on a circle, those that talk most side by side, with a curve for each direction."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from postoffice.core.traffic import Exchange

SIZE = 560
_MARGIN = 96
_NODES = 36
_WEIGHTS = 5
_LEAN = 0.12
_ARROW_GAP = 9.0


class Node(NamedTuple):
    """An agent on the circle."""

    name: str
    x: float
    y: float
    r: float
    angle: float
    """The label's anchor, so that it reads outwards."""
    end: bool
    letters: int


class Arc(NamedTuple):
    """What one agent wrote to another."""

    path: str
    weight: int
    sender: str
    recipient: str
    letters: int


class Graph(NamedTuple):
    """The drawing."""

    nodes: list[Node]
    arcs: list[Arc]
    left_out: int
    size: int = SIZE


def draw(exchanges: Sequence[Exchange]) -> Graph:
    """Draw the agents with the most mail, and what passed between them."""
    letters: Counter[str] = Counter()
    for item in exchanges:
        letters[item.sender] += item.letters
        letters[item.recipient] += item.letters
    shown = [name for name, _ in letters.most_common(_NODES)]
    between = [item for item in exchanges if item.sender in shown and item.recipient in shown and item.sender != item.recipient]
    places = _places(_ordered(shown, between))
    most = max((item.letters for item in between), default=1)
    top = max(letters.values(), default=1)
    nodes = [_node(name, places[name], letters[name], top) for name in places]
    arcs = [Arc(_path(places[i.sender], places[i.recipient]), _weight(i.letters, most), i.sender, i.recipient, i.letters) for i in between]
    return Graph(nodes, arcs, len(letters) - len(shown))


def _ordered(names: Sequence[str], between: Sequence[Exchange]) -> list[str]:
    """Order agents so that each is next to the one it talks to most, as far as possible."""
    ties: Counter[tuple[str, str]] = Counter()
    for item in between:
        ties[item.sender, item.recipient] += item.letters
        ties[item.recipient, item.sender] += item.letters
    left = list(names)
    order = [left.pop(0)] if left else []
    while left:
        order.append(left.pop(max(range(len(left)), key=lambda index: (ties[order[-1], left[index]], -index))))
    return order


def _places(names: Sequence[str]) -> dict[str, float]:
    return {name: 2 * math.pi * index / len(names) - math.pi / 2 for index, name in enumerate(names)}


def _point(angle: float, radius: float) -> tuple[float, float]:
    return SIZE / 2 + radius * math.cos(angle), SIZE / 2 + radius * math.sin(angle)


def _node(name: str, angle: float, letters: int, top: int) -> Node:
    x, y = _point(angle, SIZE / 2 - _MARGIN)
    end = math.cos(angle) < -1e-9  # noqa: PLR2004 - at the very top and bottom labels read to the right
    degrees = math.degrees(angle) + (180 if end else 0)
    return Node(name, round(x, 1), round(y, 1), round(4 + 6 * math.sqrt(letters / top), 1), round(degrees, 1), end, letters)


def _path(start: float, end: float) -> str:
    """A curve that bends to the right of its direction, so that the two directions do not overlap."""
    (x1, y1), (x2, y2) = _point(start, SIZE / 2 - _MARGIN - _ARROW_GAP), _point(end, SIZE / 2 - _MARGIN - _ARROW_GAP)
    middle_x = (x1 + x2) / 2 * 0.5 + SIZE / 2 * 0.5 - (y2 - y1) * _LEAN
    middle_y = (y1 + y2) / 2 * 0.5 + SIZE / 2 * 0.5 + (x2 - x1) * _LEAN
    return f"M{x1:.1f},{y1:.1f} Q{middle_x:.1f},{middle_y:.1f} {x2:.1f},{y2:.1f}"


def _weight(letters: int, most: int) -> int:
    return 1 + round((_WEIGHTS - 1) * math.log1p(letters) / math.log1p(most)) if most > 1 else 1
