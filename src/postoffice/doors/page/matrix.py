"""Who talks to whom, as a table for too many agents to draw: a row for each sender, a column for each recipient, and links to the mail in the cells."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from postoffice.core.traffic import Exchange

MANY = 12
"""From so many agents on, the drawing's lines cannot be told apart."""
_AGENTS_SHOWN = 40
_SHADES = 5


class Cell(NamedTuple):
    """What one agent wrote to another."""

    letters: int
    shade: int
    """The shade, from none to the highest count."""


class Matrix(NamedTuple):
    """The agents with the most mail, and what each wrote to each."""

    names: list[str]
    rows: list[list[Cell]]
    left_out: int


def lay(exchanges: Sequence[Exchange]) -> Matrix:
    """Make the table; agents with the most mail come first."""
    letters: Counter[str] = Counter()
    for item in exchanges:
        letters[item.sender] += item.letters
        letters[item.recipient] += item.letters
    names = [name for name, _ in letters.most_common(_AGENTS_SHOWN)]
    counts = {(item.sender, item.recipient): item.letters for item in exchanges}
    most = max(counts.values(), default=1)
    rows = [[_cell(counts.get((one, other), 0), most) for other in names] for one in names]
    return Matrix(names, rows, len(letters) - len(names))


def _cell(letters: int, most: int) -> Cell:
    return Cell(letters, 0 if not letters else 1 + round((_SHADES - 1) * (letters / most) ** 0.5))
