"""What the doors do: REST, WebSocket, MCP and the page."""

from collections.abc import Sequence

from bench.calls import ECHO, Calls
from bench.mcp_calls import ToolCalls
from bench.mcp_wake import Wake
from bench.page import Paint
from bench.push import Push
from bench.table import Table, reached, times

_AT = 16
_ECHO_PART = 0.5
_PUSH_MILLIS = 20.0
_ECHO_CPU = 1.5
_SEED_PACE = 3.0
_WAKE_MILLIS = 10.0
_PAINT_MILLIS = 300.0


def calls(rows: Sequence[Calls]) -> Table:
    """REST beside the echo."""
    echo = {row.concurrency: row.median.per_second for row in rows if row.what == ECHO}
    lines = []
    for row in rows:
        measured, part = row.median, times(row.median.per_second, echo[row.concurrency])
        aimed = row.what == "send" and row.server == "SQLite" and row.concurrency == _AT
        lines.append(
            [
                row.what,
                row.server,
                str(row.concurrency),
                f"{measured.per_second:,.0f}",
                f"{measured.p50_millis:.2f}",
                f"{measured.p99_millis:.2f}",
                f"{measured.server_cpu_micros:,.0f}",
                "" if row.what == ECHO else f"{part:.2f}",
                f"{_ECHO_PART}" if aimed else "",
                reached(part >= _ECHO_PART) if aimed else "",
            ]
        )
    heads = ["what", "server", "clients", "per second", "p50 ms", "p99 ms", "server CPU µs", "÷ echo", "at least", "reached"]
    return Table("REST, over HTTP, beside a bare FastAPI echo", heads, lines, named=3)


def pushes(pushes: Sequence[Push]) -> Table:
    """News on a WebSocket."""
    lines = [
        [
            p.server,
            f"{p.per_second}",
            f"{p.events:,}",
            f"{p.p50_millis:.2f}",
            f"{p.p99_millis:.2f}",
            f"{p.p50_from_send_millis:.2f}",
            f"{p.p99_from_send_millis:.2f}",
            f"{_PUSH_MILLIS:.0f}",
            reached(p.p99_millis < _PUSH_MILLIS),
        ]
        for p in pushes
    ]
    heads = ["server", "a second", "events", "p50 ms", "p99 ms", "p50 from send", "p99 from send", "p99 under", "reached"]
    return Table("Push: from a send's answer to its event on a WebSocket", heads, lines, named=2)


def tools(rows: Sequence[ToolCalls]) -> Table:
    """MCP beside the echo tool and seed 001."""
    echo = {row.concurrency: row.median.server_cpu_micros for row in rows if row.what == ECHO}
    seed = {(row.what, row.concurrency): row.median.per_second for row in rows if row.server == "seed 001"}
    lines = []
    for row in rows:
        measured, mine = row.median, row.server == "ours"
        cost, theirs = times(measured.server_cpu_micros, echo[row.concurrency]), seed.get((row.what, row.concurrency))
        pace = measured.per_second / theirs if mine and theirs else None
        aimed = pace is not None and row.concurrency == _AT
        lines.append(
            [
                row.what,
                row.server,
                str(row.concurrency),
                f"{measured.per_second:,.0f}",
                f"{measured.p50_millis:.2f}",
                f"{measured.p99_millis:.2f}",
                f"{measured.server_cpu_micros:,.0f}",
                "" if row.what == ECHO else f"{cost:.2f}",
                f"{_ECHO_CPU}" if mine else "",
                reached(cost <= _ECHO_CPU) if mine else "",
                "" if pace is None else f"{pace:.2f}",
                f"{_SEED_PACE}" if aimed else "",
                reached((pace or 0.0) >= _SEED_PACE) if aimed else "",
            ]
        )
    heads = ["what", "server", "clients", "calls/s", "p50 ms", "p99 ms", "CPU µs/call", "÷ echo", "at most", "reached"]
    heads += ["pace ÷ seed", "at least", "reached"]
    return Table("MCP tool calls, beside an echo tool on the same SDK and seed 001's own design", heads, lines, named=3)


def wakes(wakes: Sequence[Wake]) -> Table:
    """How soon a wait answers."""
    lines = [
        [
            w.server,
            f"{w.rounds}",
            f"{w.p50_millis:.2f}",
            f"{w.p99_millis:.2f}",
            f"{w.p50_from_send_millis:.2f}",
            f"{w.p99_from_send_millis:.2f}",
            f"{_WAKE_MILLIS:.0f}",
            reached(w.p99_millis < _WAKE_MILLIS),
        ]
        for w in wakes
    ]
    heads = ["server", "rounds", "p50 ms", "p99 ms", "p50 from send", "p99 from send", "p99 under", "reached"]
    return Table("mailbox_wait: from a send's answer to the waiting client's", heads, lines, named=1)


def paints(paints: Sequence[Paint]) -> Table:
    """The page in a browser."""
    lines = [
        [
            p.view,
            f"{p.agents}",
            f"{p.messages:,}",
            f"{p.kilobytes:.0f}",
            f"{p.p50_millis:.0f}",
            f"{p.worst_millis:.0f}",
            f"{_PAINT_MILLIS:.0f}",
            reached(p.p50_millis < _PAINT_MILLIS),
        ]
        for p in paints
    ]
    heads = ["view", "agents", "messages", "kB", "p50 ms", "worst ms", "p50 under", "reached"]
    return Table("The page: first paint in Chromium, with an empty cache", heads, lines, named=3)
