"""Time, ids and randomness: the one place they come from, so that tests own them."""

import re
import secrets
import time
from datetime import UTC, datetime, timedelta

# Clocks that go on counting while a laptop sleeps, where the platform has one.
_STEADY = getattr(time, "CLOCK_BOOTTIME", None)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def steady() -> int:
    """Nanoseconds that never step back, whatever happens to the wall clock."""
    return time.monotonic_ns() if _STEADY is None else time.clock_gettime_ns(_STEADY)


def moment(micros: int) -> datetime:
    """The instant that is so many microseconds after the epoch."""
    return _EPOCH + timedelta(microseconds=micros)


def micros(value: datetime | timedelta) -> int:
    """An instant or a duration as whole microseconds, the form in which the store keeps both."""
    span = value if isinstance(value, timedelta) else value - _EPOCH
    return span // _MICROSECOND


_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)


def is_id(text: str) -> bool:
    """Whether this could be an id the office gave."""
    return _ID.fullmatch(text) is not None


def own_writing(text: str) -> str:
    """An id as the office writes it: there are languages that write every UUID in capitals."""
    return lowered if is_id(lowered := text.lower()) else text


def sender_id() -> str:
    """A UUIDv7 as a sender gives one: whoever sends one after another, also from several processes, writes to one place of an index."""
    stamp, tail = f"{time.time_ns() // 1_000_000:012x}", secrets.token_hex(9)
    return f"{stamp[:8]}-{stamp[8:]}-7{tail[:3]}-8{tail[3:6]}-{tail[6:]}"


class Clock:
    """Wall time read once and carried on by a steady clock; ids in the order they were made."""

    def __init__(self) -> None:
        self._offset = time.time_ns() - steady()
        self._last_id = 0
        self._pool, self._used = "", 0

    def now(self) -> int:
        """Microseconds since the epoch."""
        return (self._offset + steady()) // 1000

    def new_id(self) -> str:
        """A UUIDv7 that sorts after every id this clock has given."""
        # Milliseconds and, in the 12 bits after them, a count: ids of one millisecond keep their order.
        last = self._last_id = max((self.now() // 1000) << 12, self._last_id + 1)
        stamp, tail = f"{last:015x}", self._random(15)
        return f"{stamp[:8]}-{stamp[8:12]}-7{stamp[12:]}-8{tail[:3]}-{tail[3:]}"

    def token(self) -> str:
        """A secret nobody guesses."""
        return self._random(32)

    def _random(self, digits: int) -> str:
        """Some of the system's randomness in hexadecimal, fetched a page at a time: asking for it costs more than using it."""
        if len(self._pool) - self._used < digits:
            self._pool, self._used = secrets.token_hex(4096), 0
        self._used += digits
        return self._pool[self._used - digits : self._used]
