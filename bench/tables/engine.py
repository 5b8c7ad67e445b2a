"""What the engines do without a door in front of them."""

from collections.abc import Sequence

from bench.backlog import LeaseCost
from bench.inbox import InboxTime
from bench.memory import Growth
from bench.rounds import Cycles
from bench.table import Table, reached, times

_AT = 16
_TARGETS = {"litequeue": 3.0, "persist-queue": 4.5, "huey (no ack)": 1.8, "pgqueuer": 3.0, "procrastinate": 8.0}
_LEASE_RATIO = 1.5
_INBOX_MILLIS = 1.0
_GROWTH_MEGABYTES = 10.0


def cycles(title: str, rows: Sequence[Cycles]) -> Table:
    """Cycles beside peers, each with the durability it was measured at."""
    ours = {row.concurrency: row.median.cycles_per_second for row in rows if row.name.startswith("ours")}
    lines = []
    for row in rows:
        measured, mine = row.median, row.name.startswith("ours")
        ratio = times(ours[row.concurrency], measured.cycles_per_second)
        target = _TARGETS.get(row.name) if row.concurrency == _AT else None
        server = [] if measured.server_cpu_micros is None else [f"{measured.server_cpu_micros:,.0f}"]
        lines.append(
            [
                row.name,
                str(row.concurrency),
                f"{measured.cycles_per_second:,.0f}",
                f"{measured.cpu_micros:,.0f}",
                *server,
                "" if mine else f"{ratio:.2f}",
                "" if target is None else f"{target:.1f}",
                "" if target is None else reached(ratio >= target),
                row.durability,
            ]
        )
    server = ["server CPU µs"] if rows and rows[0].median.server_cpu_micros is not None else []
    heads = ["what", "clients", "cycles/s", "CPU µs/cycle", *server, "ours ÷ it", "target", "reached", "durability"]
    return Table(title, heads, lines, named=2)


def leases(costs: Sequence[LeaseCost]) -> Table:
    """Leases by what waits and what is in flight."""
    lines = [
        [
            c.engine,
            f"{c.waiting:,}",
            f"{c.in_flight:,}",
            f"{c.scheduled:,}",
            f"{c.micros:,.0f}",
            f"{c.ratio:.2f}",
            f"{_LEASE_RATIO}",
            reached(c.ratio <= _LEASE_RATIO),
            f"{c.send_micros:,.0f}",
            f"{c.send_ratio:.2f}",
        ]
        for c in costs
    ]
    heads = ["engine", "waiting", "in flight", "scheduled", "µs", "÷ cheapest", "at most", "reached", "send µs", "÷ cheapest"]
    return Table("One lease, committed, and one send", heads, lines, named=4)


def inboxes(times: Sequence[InboxTime]) -> Table:
    """The inbox, beside a read of nothing."""
    lines = [
        [
            t.engine,
            f"{t.messages:,}",
            str(t.sessions),
            f"{t.millis:.2f}",
            f"{t.floor_millis:.2f}",
            f"{_INBOX_MILLIS}",
            reached(t.millis < _INBOX_MILLIS),
        ]
        for t in times
    ]
    return Table("One look at the inbox", ["engine", "messages", "sessions", "ms", "floor ms", "under", "reached"], lines, named=3)


def memory(growth: Growth | None) -> Table:
    """Whether memory grows."""
    if growth is None:
        return Table("Memory", (), ())
    way = " ".join(f"{megabytes:.0f}" for megabytes in growth.megabytes)
    lines = [[f"{growth.cycles:,}", way, f"{growth.grown:.1f}", f"{_GROWTH_MEGABYTES:.0f}", reached(growth.grown < _GROWTH_MEGABYTES)]]
    return Table("Memory on SQLite with 16 clients", ["cycles", "MB on the way", "grown MB", "under", "reached"], lines)
