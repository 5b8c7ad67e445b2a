"""The numbers the office goes by."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postoffice.core.errors import BadLimit
from postoffice.core.limits import Limits, bounded


def test_the_defaults_are_those_of_the_contract() -> None:
    limits = Limits()
    assert limits.visibility == timedelta(seconds=30)
    assert (limits.visibility_least, limits.visibility_most) == (timedelta(seconds=1), timedelta(hours=12))
    assert (limits.max_attempts, limits.depth, limits.message_bytes) == (10, 10_000, 1024 * 1024)
    assert (limits.receive, limits.batch) == (10, 100)
    assert (limits.wait, limits.wait_most) == (timedelta(seconds=25), timedelta(seconds=240))
    assert (limits.priority, limits.ttl, limits.automatic_replies) == (3, 3, 100)
    assert (limits.heartbeat_timeout, limits.code_life) == (timedelta(seconds=60), timedelta(hours=1))
    assert limits.dedupe_for == timedelta(days=30)
    assert (limits.retention, limits.sends_per_minute, limits.registrations_per_hour) == (None, None, None)


@given(st.integers(), st.integers(), st.integers(0, 1000))
def test_a_value_is_kept_or_refused_but_never_bent(value: int, least: int, width: int) -> None:
    most = least + width
    if least <= value <= most:
        assert bounded("limit", value, least, least, most) == value
    else:
        with pytest.raises(BadLimit, match=f"limit must be between {least} and {most}, not {value}"):
            bounded("limit", value, least, least, most)


@given(st.integers())
def test_no_value_is_the_default(default: int) -> None:
    assert bounded("limit", None, default, default, default) == default


@pytest.mark.parametrize(("seconds", "told"), [(500, "500 seconds"), (240.5, "240.5 seconds"), (-0.001, "-0.001 seconds")])
def test_a_duration_out_of_bounds_is_told_in_the_unit_it_was_given_in(seconds: float, told: str) -> None:
    with pytest.raises(BadLimit, match=f"^wait must be between 0 seconds and 240 seconds, not {told}.$"):
        bounded("wait", timedelta(seconds=seconds), timedelta(9), timedelta(0), timedelta(seconds=240))


def test_zero_is_a_value() -> None:
    assert bounded("delay", timedelta(0), timedelta(5), timedelta(0), timedelta(9)) == timedelta(0)
    with pytest.raises(BadLimit):
        bounded("limit", 0, 10, 1, 100)
