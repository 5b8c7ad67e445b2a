"""What it costs to write to many at once."""

from collections.abc import Sequence

from bench.lists import ListCost
from bench.table import Table, reached

_PER_MEMBER_RATIO = 1.5


def lists(rows: Sequence[ListCost]) -> Table:
    """A letter to a list by its size; for each member it may cost little more in a large one than in the next smaller."""
    lines = []
    before: dict[str, ListCost] = {}
    for row in rows:
        smaller = before.get(row.engine)
        ratio = None if smaller is None else row.cpu_micros / smaller.cpu_micros
        lines.append(
            [
                row.engine,
                f"{row.members:,}",
                f"{row.millis:,.1f}",
                f"{row.cpu_micros:,.0f}",
                "" if ratio is None else f"{ratio:.2f}",
                "" if ratio is None else f"{_PER_MEMBER_RATIO}",
                "" if ratio is None else reached(ratio <= _PER_MEMBER_RATIO),
            ]
        )
        before[row.engine] = row
    heads = ["engine", "members", "ms a letter", "CPU µs a member", "÷ smaller", "target", "reached"]
    note = (
        "One letter, with a delivery for each member, on disk before it is answered. CPU is the office's own; a PostgreSQL's comes on top."
    )
    return Table("A letter to a list", heads, lines, note, named=2)
