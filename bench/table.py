"""A table of the report: as text for a terminal, as Markdown for the report, and what it says of each wish."""

import math
from collections.abc import Iterable, Iterator, Sequence

import msgspec

_NUMBERS = frozenset("0123456789.,-+")
_REACHED = "reached"
_YES, _NO = "yes", "NO"


class Verdict(msgspec.Struct, frozen=True):
    """Whether one wish came true."""

    table: str
    row: str
    wish: str
    reached: bool


class Table(msgspec.Struct, frozen=True):
    """Rows under a title. A column named `reached` judges the wish in the column before it."""

    title: str
    heads: Sequence[str]
    lines: Sequence[Sequence[str]]
    note: str = ""
    named: int = 1
    """How many of the first columns say what a row is about."""

    def text(self) -> str:
        """Columns side by side."""
        widths = [max(map(len, column)) for column in zip(self.heads, *self.lines, strict=True)]
        numeric = self._numeric()

        def line(cells: Iterable[str]) -> str:
            padded = (cell.rjust(w) if right else cell.ljust(w) for cell, w, right in zip(cells, widths, numeric, strict=True))
            return "  ".join(padded).rstrip()

        shown = [self.title, line(self.heads), line("-" * width for width in widths), *map(line, self.lines)]
        return "\n".join([*shown, *([self.note] if self.note else [])])

    def markdown(self) -> str:
        """A heading and a table."""
        rule = ["---:" if right else "---" for right in self._numeric()]
        rows = [f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |" for cells in (self.heads, rule, *self.lines)]
        return "\n".join([f"### {self.title}", "", *rows, *(["", self.note] if self.note else [])])

    def verdicts(self) -> Iterator[Verdict]:
        """Every wish of every row, in order."""
        for cells in self.lines:
            for place, (head, cell) in enumerate(zip(self.heads, cells, strict=True)):
                if head == _REACHED and cell:
                    wish = f"{self.heads[place - 1]} {cells[place - 1]}"
                    yield Verdict(self.title, ", ".join(cells[: self.named]), wish, cell == _YES)

    def _numeric(self) -> list[bool]:
        return [all(set(cell) <= _NUMBERS for cell in column) for column in zip(*self.lines, strict=True)]


def times(one: float, other: float) -> float:
    """How many times as much; without end where the other came to nothing."""
    return one / other if other else math.inf


def reached(yes: bool) -> str:  # noqa: FBT001
    """A cell of the column `reached`."""
    return _YES if yes else _NO
