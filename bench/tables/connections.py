"""Many connections on one process."""

from collections.abc import Sequence

from bench.crowd import SOCKETS
from bench.load import FLOOR, Load
from bench.table import Table, reached

_SOCKETS = 10_000
_MEGABYTES = 300.0
_MILLIS = 10.0


def loads(rows: Sequence[Load]) -> Table:
    """Memory and delay, by how many are connected."""
    most = {row.kind: max(other.connections for other in rows if other.kind == row.kind) for row in rows}
    lines = []
    for row in rows:
        if row.kind == FLOOR:
            times = (f"{row.delays.p50_from_send_millis:.2f}", f"{row.delays.p99_from_send_millis:.2f}")
            lines.append([row.kind, *[""] * 5, f"{row.per_second}", "", "", *times, "", ""])
            continue
        full = row.connections == most[row.kind]
        heavy = row.kind == SOCKETS and row.connections >= _SOCKETS
        lines.append(
            [
                row.kind,
                f"{row.connections:,}",
                f"{row.megabytes:.0f}",
                f"{row.kilobytes_each:.1f}",
                f"{_MEGABYTES:.0f}" if heavy else "",
                reached(row.megabytes <= _MEGABYTES) if heavy else "",
                f"{row.per_second}",
                f"{row.delays.p50_millis:.2f}",
                f"{row.delays.p99_millis:.2f}",
                f"{row.delays.p50_from_send_millis:.2f}",
                f"{row.delays.p99_from_send_millis:.2f}",
                f"{_MILLIS:.0f}" if full else "",
                reached(row.delays.p99_from_send_millis < _MILLIS) if full else "",
            ]
        )
    heads = ["what", "open", "MB in all", "kB each", "MB at most", "reached", "sends/s", "p50 ms", "p99 ms"]
    heads += ["p50 from send", "p99 from send", "p99 from send under", "reached"]
    note = (
        "One process on SQLite, every send on disk before it is answered. Each row keeps the connections of the rows above it. "
        "`MB in all` is the process's resident memory; `kB each` what a connection added since the row above; "
        "`p50 ms` and `p99 ms` run from the answer to a send, and below zero the news was there first. "
        "The first row is the disk alone: 4 kB made durable at the same rate, just before."
    )
    return Table("Load: idle connections, and mail to any of them", heads, lines, note, named=2)
