"""The table of the file mailbox."""

from collections.abc import Sequence

from bench.files import BARE, FileWork
from bench.table import Table, reached, times

_LONGER = 1.5


def files(rows: Sequence[FileWork]) -> Table:
    """Beside the bare work, which syncs as much."""
    bare = {row.what: row.median for row in rows if row.way == BARE}
    lines = []
    for row in rows:
        measured = row.median
        longer = times(bare[row.what].per_second, measured.per_second)
        lines.append(
            [
                row.what,
                row.way,
                f"{measured.per_second:,.0f}",
                f"{measured.p50_millis:.2f}",
                f"{measured.p99_millis:.2f}",
                f"{measured.cpu_micros:,.0f}",
                *(["", "", ""] if row.way == BARE else [f"{longer:.2f}", f"{_LONGER}", reached(longer <= _LONGER)]),
            ]
        )
    heads = ["what", "how", "per second", "p50 ms", "p99 ms", "CPU µs", "÷ bare", "at most", "reached"]
    return Table("The file mailbox, beside bare files: temp, fsync, rename, fsync of the folder", heads, lines, named=2)
