"""Moments as people write them."""

from datetime import datetime, timedelta

import pytest

from postoffice.cli.dates import moment_of
from postoffice.core.errors import BadSetting

NOW = datetime(2026, 11, 19, 15, 0).astimezone()  # a Thursday


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("tomorrow", "2026-11-20T23:59"),
        ("Tomorrow 9:30", "2026-11-20T09:30"),
        ("tomorrow at 9am", "2026-11-20T09:00"),
        ("today", "2026-11-19T23:59"),
        ("today 18:00", "2026-11-19T18:00"),
        ("18:00", "2026-11-19T18:00"),
        ("9:00", "2026-11-20T09:00"),
        ("12am", "2026-11-20T00:00"),
        ("friday", "2026-11-20T23:59"),
        ("thursday 17", "2026-11-26T17:00"),
        ("mon 12pm", "2026-11-23T12:00"),
        ("2026-12-31", "2026-12-31T23:59"),
        ("2026-12-31 18:00", "2026-12-31T18:00"),
        ("2026-12-31T18:00", "2026-12-31T18:00"),
    ],
)
def test_a_day_and_an_hour(text: str, meant: str) -> None:
    assert moment_of(text, NOW) == datetime.fromisoformat(meant).astimezone()


@pytest.mark.parametrize(
    ("text", "ahead"),
    [
        ("in 2h", timedelta(hours=2)),
        ("2 hours", timedelta(hours=2)),
        ("in 30 min", timedelta(minutes=30)),
        ("in 3 days", timedelta(days=3)),
        ("in a week", timedelta(weeks=1)),
        ("an hour", timedelta(hours=1)),
        ("90m", timedelta(minutes=90)),
    ],
)
def test_a_while_from_now(text: str, ahead: timedelta) -> None:
    assert moment_of(text, NOW) == NOW + ahead


def test_what_names_its_zone_is_meant_there() -> None:
    assert moment_of("2026-12-31T18:00Z", NOW) == datetime.fromisoformat("2026-12-31T18:00+00:00")
    assert moment_of("2026-12-31T18:00+09:00", NOW) == datetime.fromisoformat("2026-12-31T09:00+00:00")


@pytest.mark.parametrize(
    "text", ["", "soon", "2026-13-31", "25:00", "in two hours", "2 moons", "tomorrow maybe", "in 99999 weeks" * 2, "5", "9:75"]
)
def test_what_is_no_time_is_told_with_what_is_one(text: str) -> None:
    with pytest.raises(BadSetting, match="tomorrow, friday 17:00, in 2h"):
        moment_of(text, NOW)
