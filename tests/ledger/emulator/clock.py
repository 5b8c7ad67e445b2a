"""Time on the ledger: this machine's, moved on where a test wants it later than it is."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hiero_sdk_python.hapi.services.timestamp_pb2 import Timestamp

SECOND = 1_000_000_000


class Clock:
    """Nanoseconds since 1970, as consensus counts them."""

    def __init__(self) -> None:
        self._ahead = 0
        self._last = 0

    def now(self) -> int:
        return time.time_ns() + self._ahead

    def tick(self) -> int:
        """The next moment of consensus: no two are the same and none is before another."""
        self._last = max(self.now(), self._last + 1)
        return self._last

    def advance(self, seconds: float) -> None:
        """Let it be later, so that what was signed before is old; less than nothing takes it back."""
        self._ahead += int(seconds * SECOND)

    @contextmanager
    def ahead(self, seconds: float) -> Iterator[None]:
        """Let it be later for a while: what a client signs meanwhile, by its own clock, is old too."""
        self.advance(seconds)
        try:
            yield
        finally:
            self.advance(-seconds)


def stamp(moment: int) -> str:
    """A moment as the mirror writes it."""
    return f"{moment // SECOND}.{moment % SECOND:09}"


def to_proto(moment: int) -> Any:
    return Timestamp(seconds=moment // SECOND, nanos=moment % SECOND)


def from_proto(value: Any) -> int:
    return int(value.seconds) * SECOND + int(value.nanos)
