"""Our SDK beside two brokers."""

from collections.abc import Sequence

from bench.table import Table, reached, times
from bench.turnover import BATCH, Turnover

_EQUAL = 1.0


def brokers(rows: Sequence[Turnover]) -> Table:
    """Messages sent, received and acked a second, with what stands behind each answer."""
    ours = {(row.batch, row.concurrency): row.median.cycles_per_second for row in rows if row.name.startswith("ours")}
    lines = []
    for row in rows:
        measured, mine = row.median, row.name.startswith("ours")
        ratio = times(ours[row.batch, row.concurrency], measured.cycles_per_second)
        aimed = row.batch == BATCH and not mine
        lines.append(
            [
                row.name,
                f"{row.batch}",
                f"{row.concurrency}",
                f"{measured.cycles_per_second:,.0f}",
                f"{measured.cpu_micros:,.0f}",
                f"{measured.server_cpu_micros or 0.0:,.0f}",
                "" if mine else f"{ratio:.2f}",
                f"{_EQUAL}" if aimed else "",
                reached(ratio >= _EQUAL) if aimed else "",
                row.durability,
            ]
        )
    heads = [
        "what",
        "at a time",
        "clients",
        "messages/s",
        "client CPU µs",
        "server CPU µs",
        "ours ÷ it",
        "at least",
        "reached",
        "durability",
    ]
    note = (
        "All clients of a contender share one Python process. CPU is by the message. Each is used as its documents say: ours by `send`, "
        "`send_many` and `receive`; Redis by XADD, XREADGROUP and XACK, in batches by pipelines, the acks with the next read; JetStream by "
        "publish, a durable pull consumer and a confirmed ack, one for a batch."
    )
    return Table("Brokers: send, receive and ack through Python clients", heads, lines, note, named=3)
