"""What things cost in an office that has grown."""

from collections.abc import Sequence

from bench.growth import Cost
from bench.table import Table


def growth(rows: Sequence[Cost]) -> Table:
    """Microseconds at each size, and how many times those at the smallest."""
    smallest = {(row.engine, row.by): row for row in reversed(rows)}
    lines = []
    for row in rows:
        least = smallest[row.engine, row.by]
        lines.append(
            [
                row.engine,
                row.by,
                f"{row.size:,}",
                f"{row.send_micros:,.0f}",
                f"{row.send_micros / least.send_micros:.2f}",
                f"{row.lease_micros:,.0f}",
                f"{row.lease_micros / least.lease_micros:.2f}",
                f"{row.inbox_micros:,.0f}",
                f"{row.inbox_micros / least.inbox_micros:.2f}",
            ]
        )
    heads = ["engine", "by", "size", "send µs", "÷ smallest", "lease µs", "÷ smallest", "inbox µs", "÷ smallest"]
    note = (
        "One client, every send and lease on disk. By messages: so many wait in one mailbox, from 20 agents. By agents: each has written to "
        "the mailbox and to a neighbour; the inbox shows 20 sessions, of which 10 agents only make 10."
    )
    return Table("Growth: what one act costs", heads, lines, note, named=3)
