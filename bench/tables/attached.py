"""What it costs to bring and fetch large files."""

from collections.abc import Sequence

from bench.attachments import COPY, Transfer
from bench.table import Table, reached

_GROWTH_MEGABYTES = 20


def transfers(rows: Sequence[Transfer]) -> Table:
    """Up and down beside a bare copy, and what they leave in the server's memory."""
    lines = [
        [
            row.way,
            f"{row.megabytes:,}",
            f"{row.per_second:,.0f}",
            f"{row.cpu_millis:,.0f}",
            *(["", "", ""] if row.way == COPY else [f"{row.grown:.1f}", f"{_GROWTH_MEGABYTES}", reached(row.grown < _GROWTH_MEGABYTES)]),
        ]
        for row in rows
    ]
    heads = ["what", "MB", "MB a second", "CPU ms for 100 MB", "MB grown", "at most", "reached"]
    note = "Over HTTP on this machine. An upload is hashed, and synced part by part; CPU is the server's, without its client's."
    return Table("Attachments, beside a copy from file to file", heads, lines, note)
