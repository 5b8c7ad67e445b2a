"""The cycle over REST beside seed 001's own design."""

from collections.abc import Sequence

from bench.cycle_errands import Fused, ThreeCalls
from bench.seed_cycles import SEED, CyclePace
from bench.table import Table, reached, times

_AT = 16
_WISHES = {ThreeCalls.name: 10.0, Fused.name: 20.0}


def seed(rows: Sequence[CyclePace]) -> Table:
    """How many times as fast."""
    theirs = {row.concurrency: row.median.per_second for row in rows if row.server == SEED}
    lines = []
    for row in rows:
        measured, pace = row.median, times(row.median.per_second, theirs[row.concurrency])
        wish = _WISHES.get(row.what) if row.concurrency == _AT else None
        lines.append(
            [
                row.what,
                row.server,
                f"{row.concurrency}",
                f"{measured.per_second:,.0f}",
                f"{measured.p50_millis:.2f}",
                f"{measured.p99_millis:.2f}",
                f"{measured.server_cpu_micros:,.0f}",
                "" if row.server == SEED else f"{pace:.2f}",
                "" if wish is None else f"{wish:.0f}",
                "" if wish is None else reached(pace >= wish),
            ]
        )
    heads = ["what", "server", "clients", "cycles/s", "p50 ms", "p99 ms", "CPU µs/cycle", "÷ seed", "at least", "reached"]
    note = (
        "Both on SQLite in WAL mode with FULL syncs. Ours is send, receive and ack over REST; the seed's, over its MCP tools, is a send and a "
        "pop, because it has no ack: two calls, and mail that is popped and not handled is lost."
    )
    return Table("The cycle over REST, beside seed 001's own design", heads, lines, note, named=3)
