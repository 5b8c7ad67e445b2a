"""The only source of time and randomness, so that tests can control both."""

import secrets
import time
from datetime import UTC, datetime, timedelta
from functools import lru_cache

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
SECOND = 1_000_000
_FIRST_MICROS = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
_LAST_MICROS = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND


class Clock:
    """Wall time, the same for all processes on one root, and random words, different for each."""

    def now(self) -> int:
        """Microseconds since the epoch."""
        return time.time_ns() // 1000

    def token(self) -> str:
        """Sixteen random hexadecimal digits."""
        return secrets.token_hex(8)


def instant(micros: int) -> str:
    """A time as text for messages and cards. One outside the calendar becomes its first or last."""
    seconds, rest = divmod(min(max(micros, _FIRST_MICROS), _LAST_MICROS), SECOND)
    return f"{_to_the_second(seconds)}.{rest // 1000:03}Z"


@lru_cache(maxsize=16)
def _to_the_second(seconds: int) -> str:
    return (_EPOCH + timedelta(seconds=seconds)).isoformat().removesuffix("+00:00")


def parse_instant(text: object) -> int | None:
    """Microseconds since the epoch; None if this is not a time. Without a zone it is UTC."""
    if not isinstance(text, str):
        return None
    try:
        value = datetime.fromisoformat(text)
        return ((value if value.tzinfo else value.replace(tzinfo=UTC)) - _EPOCH) // _MICROSECOND
    except (ValueError, OverflowError):
        return None
