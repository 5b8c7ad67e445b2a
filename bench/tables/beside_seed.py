"""The cycle over REST beside seed 001's own design."""

from collections.abc import Sequence

from bench.cycle_errands import Fused, SeedCycle, SeedPop, ThreeCalls
from bench.seed_cycles import SEED, CyclePace
from bench.table import Table, reached, times

_AT = 16
_WISHES = {ThreeCalls.name: 10.0, Fused.name: 20.0}


def seed(rows: Sequence[CyclePace]) -> Table:
    """How many times as fast."""
    theirs = {(row.what, row.concurrency): row.median.per_second for row in rows if row.server == SEED}
    lines = []
    for row in rows:
        measured = row.median
        pace, popping = (times(measured.per_second, theirs[errand.name, row.concurrency]) for errand in (SeedCycle, SeedPop))
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
                "" if row.server == SEED else f"{popping:.2f}",
            ]
        )
    heads = ["what", "server", "clients", "cycles/s", "p50 ms", "p99 ms", "CPU µs/cycle", "÷ seed", "at least", "reached", "÷ its pop"]
    note = (
        "Both on SQLite in WAL mode with FULL syncs. Ours is send, receive and ack over REST. The seed's design has its MCP tools send and pop, and "
        "mail that is popped and not handled is lost; `÷ seed` is beside the same design with an ack as a third tool, which makes the same promise "
        "as ours, `÷ its pop` beside its two calls as they are."
    )
    return Table("The cycle over REST, beside seed 001's own design", heads, lines, note, named=3)
