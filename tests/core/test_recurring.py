"""When a recurring letter comes next, also where clocks change."""

from datetime import UTC, datetime, timedelta

import pytest

from postoffice.core.errors import Invalid
from postoffice.core.recurring import first_after, next_after

BERLIN = "Europe/Berlin"


def times(every: str, zone: str, after: datetime, count: int) -> list[str]:
    found = []
    for _ in range(count):
        following = next_after(every, zone, after)
        assert following is not None
        found.append(following.strftime("%m-%d %H:%M"))
        after = following
    return found


def test_nine_on_weekdays_is_nine_where_people_are_before_and_after_the_clocks_change() -> None:
    assert times("0 9 * * 1-5", BERLIN, datetime(2026, 3, 26, 12, tzinfo=UTC), 3) == ["03-27 08:00", "03-30 07:00", "03-31 07:00"]
    assert times("0 9 * * 1-5", "UTC", datetime(2026, 3, 26, 12, tzinfo=UTC), 2) == ["03-27 09:00", "03-30 09:00"]


def test_an_hour_that_is_skipped_in_spring_comes_right_after() -> None:
    """At two the clocks show three: what was meant for half past two comes at three."""
    assert times("30 2 * * *", BERLIN, datetime(2026, 3, 28, 12, tzinfo=UTC), 2) == ["03-29 01:00", "03-30 00:30"]


def test_an_hour_that_comes_twice_in_autumn_counts_once() -> None:
    assert times("30 2 * * *", BERLIN, datetime(2026, 10, 24, 12, tzinfo=UTC), 2) == ["10-25 00:30", "10-26 01:30"]


def test_every_hour_stays_every_hour() -> None:
    after = datetime(2026, 10, 24, 22, 30, tzinfo=UTC)
    for _ in range(6):
        following = next_after("0 * * * *", BERLIN, after)
        assert following is not None
        assert following - after <= timedelta(hours=1)
        after = following


@pytest.mark.parametrize(
    ("every", "zone", "why"),
    [
        ("0 9 * *", "UTC", "five fields"),
        ("0 0 9 * * 1", "UTC", "five fields"),
        ("61 9 * * *", "UTC", "minute"),
        ("0 9 30 2 *", "UTC", "never comes|Bad"),
        ("0 9 * * *", "Mars/Olympus", "no time zone"),
        ("0 9 * * *", "../../etc/passwd", "no time zone"),
    ],
)
def test_what_is_no_calendar_is_refused(every: str, zone: str, why: str) -> None:
    with pytest.raises(Invalid, match=why):
        first_after(every, zone, datetime(2026, 1, 1, tzinfo=UTC))
