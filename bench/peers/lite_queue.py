"""litequeue, its connections forced from NORMAL to FULL."""

from pathlib import Path
from typing import Any

import litequeue

from bench.clients import Sample, with_threads
from bench.plan import BODY, Plan
from bench.scratch import check_durable, scratch

_BUSY = 60.0


class LiteQueue:
    """A queue object for each thread, because its transactions do not nest on a shared connection."""

    name = "litequeue"
    durability = "WAL, forced FULL (its default: NORMAL)"

    def measure(self, concurrency: int, plan: Plan) -> Sample:
        """Measure on a fresh file."""
        with scratch() as folder:
            queues = [_open(folder / "queue.db") for _ in range(concurrency)]
            try:
                return with_threads(lambda client: _cycle(queues[client]), concurrency, plan)
            finally:
                for queue in queues:
                    queue.close()


def _open(path: Path) -> Any:
    queue = litequeue.LiteQueue(path, timeout=_BUSY)
    queue.conn.execute("PRAGMA synchronous = FULL")
    check_durable(queue.conn)
    return queue


def _cycle(queue: Any) -> None:
    queue.put(BODY)
    message = queue.pop()
    queue.done(message.message_id)
