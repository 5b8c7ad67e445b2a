"""persist-queue's SQLiteAckQueue, its connections forced to FULL."""

import itertools
from pathlib import Path

import persistqueue

from bench.clients import Sample, with_threads
from bench.plan import BODY, Plan
from bench.scratch import check_durable, scratch

_CLEAR_EVERY = 500


class PersistQueue:
    """One queue shared by all threads; it brings its own locks."""

    name = "persist-queue"
    durability = "WAL, forced FULL"

    def measure(self, concurrency: int, plan: Plan) -> Sample:
        """Measure in a fresh folder."""
        with scratch() as folder:
            queue = _Queue(folder)
            try:
                return with_threads(queue.cycle, concurrency, plan)
            finally:
                queue.close()


class _Queue:
    def __init__(self, folder: Path) -> None:
        self._queue = persistqueue.SQLiteAckQueue(str(folder), multithreading=True)
        for connection in (self._queue._getter, self._queue._putter):  # noqa: SLF001 - it has no setting for this
            connection.execute("PRAGMA synchronous = FULL")
            check_durable(connection)
        self._acked = itertools.count(1)

    def cycle(self, _client: int) -> None:
        self._queue.put(BODY)
        item = self._queue.get(raw=True)
        self._queue.ack(id=item["pqid"])
        # Its get walks over everything acked, so its users clear that now and then.
        if next(self._acked) % _CLEAR_EVERY == 0:
            self._queue.clear_acked_data(max_delete=2 * _CLEAR_EVERY, keep_latest=0)

    def close(self) -> None:
        self._queue.close()
