"""Time and ids."""

import re
import time
import uuid
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from postoffice.core.clock import Clock, is_id, micros, moment, sender_id, steady

UUID7 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


class SetClock(Clock):
    """A clock that stands where it is put."""

    at = 1_700_000_000_000_000

    def now(self) -> int:
        return self.at


def test_an_id_is_a_uuid_of_version_7() -> None:
    for _ in range(1000):
        id = Clock().new_id()
        assert UUID7.fullmatch(id)
        read = uuid.UUID(id)
        assert (read.version, read.variant, str(read)) == (7, uuid.RFC_4122, id)


def test_an_id_begins_with_the_millisecond_it_was_made_in() -> None:
    clock = SetClock()
    assert uuid.UUID(clock.new_id()).int >> 80 == clock.at // 1000


def test_ids_sort_in_the_order_they_were_made() -> None:
    clock = Clock()
    ids = [clock.new_id() for _ in range(20_000)]
    assert ids == sorted(set(ids))


@given(st.lists(st.integers(-10_000_000, 10_000_000), max_size=50))
def test_ids_keep_their_order_even_when_the_clock_steps_back(steps: list[int]) -> None:
    clock = SetClock()
    ids = [clock.new_id()]
    for step in steps:
        clock.at += step
        ids.append(clock.new_id())
    assert ids == sorted(set(ids))
    assert all(UUID7.fullmatch(id) for id in ids)


def test_more_ids_than_a_millisecond_counts_are_still_in_order() -> None:
    clock = SetClock()
    ids = [clock.new_id() for _ in range(3 * 4096)]
    assert ids == sorted(set(ids))
    assert all(UUID7.fullmatch(id) for id in ids)


def test_two_clocks_never_give_one_id() -> None:
    one, other = SetClock(), SetClock()
    assert {one.new_id() for _ in range(1000)}.isdisjoint(other.new_id() for _ in range(1000))


def test_a_senders_id_begins_with_the_millisecond_it_was_made_in_and_is_never_the_same() -> None:
    before = time.time_ns() // 1_000_000
    ids = [sender_id() for _ in range(10_000)]
    after = time.time_ns() // 1_000_000
    assert len(set(ids)) == len(ids)
    for id in ids:
        assert UUID7.fullmatch(id)
        assert is_id(id)
        assert before <= uuid.UUID(id).int >> 80 <= after


def test_tokens_are_32_hexadecimal_digits_and_never_the_same() -> None:
    clock = Clock()
    tokens = {clock.token() for _ in range(1000)}
    assert len(tokens) == 1000
    assert all(re.fullmatch("[0-9a-f]{32}", token) for token in tokens)


def test_the_clock_tells_wall_time_and_never_goes_back() -> None:
    clock = Clock()
    assert abs(moment(clock.now()) - datetime.now(UTC)) < timedelta(minutes=1)
    readings = [clock.now() for _ in range(1000)]
    assert readings == sorted(readings)
    assert steady() <= steady()


@given(st.integers(-(2**52), 2**53))
def test_microseconds_become_a_moment_and_back(value: int) -> None:
    assert micros(moment(value)) == value
    assert moment(value).tzinfo is UTC


@given(st.datetimes(datetime(1971, 1, 1), datetime(9998, 1, 1), timezones=st.timezones() | st.just(UTC)))  # noqa: DTZ001
def test_a_moment_in_any_zone_is_the_same_instant_afterwards(value: datetime) -> None:
    assert moment(micros(value)) == value.astimezone(UTC)


@given(st.timedeltas())
def test_durations_are_whole_microseconds(value: timedelta) -> None:
    assert timedelta(microseconds=micros(value)) == value
