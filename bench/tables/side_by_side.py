"""Two replicas against one."""

from collections.abc import Sequence

from bench.replicas import CONCURRENCY, Replicas
from bench.table import Table, reached, times

_MILLIS = 25.0


def replicas(rows: Sequence[Replicas]) -> Table:
    """Sends a second, and a send at one replica that wakes a wait at the other."""
    alone = next((row.sends.per_second for row in rows if row.replicas == 1), None)
    lines = []
    for row in rows:
        several = row.replicas > 1
        lines.append(
            [
                f"{row.replicas}",
                row.wake,
                f"{row.sends.per_second:,.0f}",
                f"{times(row.sends.per_second, alone):.2f}" if several and alone is not None else "",
                f"{row.sends.server_cpu_micros:,.0f}",
                f"{row.crossing.rounds}",
                f"{row.crossing.p50_millis:.2f}",
                f"{row.crossing.p99_millis:.2f}",
                f"{_MILLIS:.0f}" if several else "",
                reached(row.crossing.p99_millis < _MILLIS) if several else "",
            ]
        )
    heads = ["replicas", "hints by", "sends/s", "÷ one", "CPU µs/send", "waits", "p50 ms", "p99 ms", "p99 under", "reached"]
    note = (
        f"One PostgreSQL (fsync, synchronous_commit on), {CONCURRENCY} clients spread over the replicas. The milliseconds run from the beginning "
        "of a send at the first replica to the message in the hands of whoever waits at the last. Replicas, PostgreSQL and clients share "
        "the machine's cores here, so a second replica brings no more of them."
    )
    return Table("Replicas: two against one", heads, lines, note, named=2)
