"""huey's SqliteStorage with fsync. It has no ack: a dequeued task is gone, so its cycle is two commits, not three."""

from huey.storage import SqliteStorage

from bench.clients import Sample, with_threads
from bench.plan import BODY, Plan
from bench.scratch import check_durable, scratch

_DATA = BODY.encode()


class Huey:
    """One storage shared by all threads; it brings its own lock."""

    name = "huey (no ack)"
    durability = "WAL, fsync=True (FULL)"

    def measure(self, concurrency: int, plan: Plan) -> Sample:
        """Measure on a fresh file."""
        with scratch() as folder:
            storage = SqliteStorage("bench", filename=str(folder / "huey.db"), fsync=True)
            check_durable(storage.conn)

            def cycle(_client: int) -> None:
                storage.enqueue(_DATA)
                storage.dequeue()

            try:
                return with_threads(cycle, concurrency, plan)
            finally:
                storage.close()
