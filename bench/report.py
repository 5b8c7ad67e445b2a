"""What one run found, as tables for people."""

from collections.abc import Iterable, Sequence

import msgspec

from bench.backlog import LeaseCost
from bench.calls import ECHO, Calls
from bench.inbox import InboxTime
from bench.machine import Machine
from bench.mcp_calls import ToolCalls
from bench.mcp_wake import Wake
from bench.memory import Growth
from bench.push import Push
from bench.rounds import Cycles

_AT = 16
_TARGETS = {"litequeue": 3.0, "persist-queue": 4.5, "huey (no ack)": 1.8, "pgqueuer": 3.0, "procrastinate": 8.0}
_LEASE_RATIO = 1.5
_INBOX_MILLIS = 1.0
_GROWTH_MEGABYTES = 10.0
_COMPANY = 0.1
_ECHO_PART = 0.5
_PUSH_MILLIS = 20.0
_ECHO_CPU = 1.5
_SEED_PACE = 3.0
_WAKE_MILLIS = 10.0
_NUMBERS = frozenset("0123456789.,-+")


class Report(msgspec.Struct, kw_only=True):
    """Everything that was measured."""

    machine: Machine
    sqlite: list[Cycles] = []
    postgres: list[Cycles] = []
    leases: list[LeaseCost] = []
    inboxes: list[InboxTime] = []
    memory: Growth | None = None
    calls: list[Calls] = []
    pushes: list[Push] = []
    tools: list[ToolCalls] = []
    wakes: list[Wake] = []
    others: float = 0.0
    """The part of the machine's CPU time that went to others during the run."""

    def text(self) -> str:
        """Lay everything out in tables."""
        parts = [
            _cycles("SQLite: send, lease and ack", self.sqlite),
            _cycles("PostgreSQL: send, lease and ack", self.postgres),
            _leases(self.leases),
            _inboxes(self.inboxes),
            _memory(self.memory),
            _calls(self.calls),
            _pushes(self.pushes),
            _tools(self.tools),
            _wakes(self.wakes),
            _machine(self.machine, self.others),
        ]
        return "\n\n".join(part for part in parts if part)


def _cycles(title: str, rows: Sequence[Cycles]) -> str:
    ours = {row.concurrency: row.median.cycles_per_second for row in rows if row.name.startswith("ours")}
    lines = []
    for row in rows:
        measured, mine = row.median, row.name.startswith("ours")
        ratio = ours[row.concurrency] / measured.cycles_per_second
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
                "" if target is None else _reached(ratio >= target),
                row.durability,
            ]
        )
    server = ["server CPU µs"] if rows and rows[0].median.server_cpu_micros is not None else []
    heads = ["what", "clients", "cycles/s", "CPU µs/cycle", *server, "ours ÷ it", "target", "reached", "durability"]
    return _table(title, heads, lines)


def _leases(costs: Sequence[LeaseCost]) -> str:
    lines = [
        [
            c.engine,
            f"{c.waiting:,}",
            f"{c.in_flight:,}",
            f"{c.micros:,.0f}",
            f"{c.ratio:.2f}",
            f"{_LEASE_RATIO}",
            _reached(c.ratio <= _LEASE_RATIO),
        ]
        for c in costs
    ]
    return _table("One lease, committed", ["engine", "waiting", "in flight", "µs", "÷ cheapest", "at most", "reached"], lines)


def _inboxes(times: Sequence[InboxTime]) -> str:
    lines = [
        [
            t.engine,
            f"{t.messages:,}",
            str(t.sessions),
            f"{t.millis:.2f}",
            f"{t.floor_millis:.2f}",
            f"{_INBOX_MILLIS}",
            _reached(t.millis < _INBOX_MILLIS),
        ]
        for t in times
    ]
    return _table("One look at the inbox", ["engine", "messages", "sessions", "ms", "floor ms", "under", "reached"], lines)


def _memory(growth: Growth | None) -> str:
    if growth is None:
        return ""
    way = " ".join(f"{megabytes:.0f}" for megabytes in growth.megabytes)
    lines = [[f"{growth.cycles:,}", way, f"{growth.grown:.1f}", f"{_GROWTH_MEGABYTES:.0f}", _reached(growth.grown < _GROWTH_MEGABYTES)]]
    return _table("Memory on SQLite with 16 clients", ["cycles", "MB on the way", "grown MB", "under", "reached"], lines)


def _calls(rows: Sequence[Calls]) -> str:
    echo = {row.concurrency: row.median.per_second for row in rows if row.what == ECHO}
    lines = []
    for row in rows:
        measured, part = row.median, row.median.per_second / echo[row.concurrency]
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
                _reached(part >= _ECHO_PART) if aimed else "",
            ]
        )
    heads = ["what", "server", "clients", "per second", "p50 ms", "p99 ms", "server CPU µs", "÷ echo", "at least", "reached"]
    return _table("REST, over HTTP, beside a bare FastAPI echo", heads, lines)


def _pushes(pushes: Sequence[Push]) -> str:
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
            _reached(p.p99_millis < _PUSH_MILLIS),
        ]
        for p in pushes
    ]
    heads = ["server", "a second", "events", "p50 ms", "p99 ms", "p50 from send", "p99 from send", "p99 under", "reached"]
    return _table("Push: from a send's answer to its event on a WebSocket", heads, lines)


def _tools(rows: Sequence[ToolCalls]) -> str:
    echo = {row.concurrency: row.median.server_cpu_micros for row in rows if row.what == ECHO}
    seed = {(row.what, row.concurrency): row.median.per_second for row in rows if row.server == "seed 001"}
    lines = []
    for row in rows:
        measured, mine = row.median, row.server == "ours"
        cost, theirs = measured.server_cpu_micros / echo[row.concurrency], seed.get((row.what, row.concurrency))
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
                _reached(cost <= _ECHO_CPU) if mine else "",
                "" if pace is None else f"{pace:.2f}",
                f"{_SEED_PACE}" if aimed else "",
                _reached((pace or 0.0) >= _SEED_PACE) if aimed else "",
            ]
        )
    heads = ["what", "server", "clients", "calls/s", "p50 ms", "p99 ms", "CPU µs/call", "÷ echo", "at most", "reached"]
    heads += ["pace ÷ seed", "at least", "reached"]
    return _table("MCP tool calls, beside an echo tool on the same SDK and seed 001's own design", heads, lines)


def _wakes(wakes: Sequence[Wake]) -> str:
    lines = [
        [
            w.server,
            f"{w.rounds}",
            f"{w.p50_millis:.2f}",
            f"{w.p99_millis:.2f}",
            f"{w.p50_from_send_millis:.2f}",
            f"{w.p99_from_send_millis:.2f}",
            f"{_WAKE_MILLIS:.0f}",
            _reached(w.p99_millis < _WAKE_MILLIS),
        ]
        for w in wakes
    ]
    heads = ["server", "rounds", "p50 ms", "p99 ms", "p50 from send", "p99 from send", "p99 under", "reached"]
    return _table("mailbox_wait: from a send's answer to the waiting client's", heads, lines)


def _machine(m: Machine, others: float) -> str:
    postgres = [] if m.postgres is None else [f"PostgreSQL {m.postgres}"]
    return "\n".join(
        [
            f"{m.cores} cores, {m.processor}; {m.system}; {m.filesystem}, fdatasync {m.fdatasync_micros:.0f} µs",
            ", ".join([f"Python {m.python}", f"SQLite {m.sqlite}", *postgres, *(f"{name} {is_}" for name, is_ in m.packages.items())]),
            f"Others used {others:.0%} of the machine meanwhile." + (" TOO MUCH: do not trust these numbers." if others > _COMPANY else ""),
        ]
    )


def _reached(yes: bool) -> str:  # noqa: FBT001
    return "yes" if yes else "NO"


def _table(title: str, heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    if not lines:
        return ""
    widths = [max(map(len, column)) for column in zip(heads, *lines, strict=True)]
    numeric = [all(set(cell) <= _NUMBERS for cell in column) for column in zip(*lines, strict=True)]

    def line(cells: Iterable[str]) -> str:
        padded = (cell.rjust(w) if right else cell.ljust(w) for cell, w, right in zip(cells, widths, numeric, strict=True))
        return "  ".join(padded).rstrip()

    return "\n".join([title, line(heads), line("-" * width for width in widths), *map(line, lines)])
