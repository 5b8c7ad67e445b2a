"""How often something was done within a window of time. Counts last for one window, then begin again at nothing."""

from datetime import timedelta

from postoffice.acts.desk import Desk
from postoffice.core.clock import micros
from postoffice.core.errors import RateLimited


def count(desk: Desk, bucket: str, limit: int, window: timedelta) -> None:
    """Count one more, or refuse it where the window already holds as many as it may."""
    check_count(desk, bucket, limit, window)
    add_count(desk, bucket, 1, window)


def add_count(desk: Desk, bucket: str, by: int, window: timedelta) -> None:
    """Count so many more."""
    begun_at, number = _present(desk, bucket, window)
    put_count(desk, bucket, number + by, begun_at)


def check_count(desk: Desk, bucket: str, limit: int, window: timedelta, refusal: type[RateLimited] = RateLimited) -> None:
    """Refuse where the window already holds as many as it may."""
    begun_at, number = _present(desk, bucket, window)
    if number >= limit:
        wait = -(-(begun_at + micros(window) - desk.now) // 1_000_000)
        who = bucket.partition(":")[2]
        raise refusal(who=who, limit=limit, seconds=int(window.total_seconds()), retry_after=wait)


def put_count(desk: Desk, bucket: str, number: int, begun_at: int) -> None:
    """Keep a count."""
    desk.counters[bucket] = (begun_at, number)
    desk.write("put_limit", (bucket, begun_at, number), bucket)


def _present(desk: Desk, bucket: str, window: timedelta) -> tuple[int, int]:
    """When the bucket's present window began, and how many it holds."""
    begun_at, number = desk.counters.get(bucket, (desk.now, 0))
    # A window that begins more than its length from now was begun before the clock stepped back.
    return (desk.now, 0) if abs(desk.now - begun_at) >= micros(window) else (begun_at, number)
