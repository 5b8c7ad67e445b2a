"""The small parts that measurements stand on."""

import pytest
from bench.calls import at
from bench.listener import frames
from bench.replicas import Crossing, median_crossing
from bench.wire import unchunked


def test_a_percentile_is_a_value_that_was_seen() -> None:
    values = [float(number) for number in range(1, 101)]
    assert (at(values, 0.5), at(values, 0.99), at(list(reversed(values)), 1.0)) == (51.0, 100.0, 100.0)
    assert at([7.0], 0.99) == 7.0
    assert at([], 0.99) == 0.0


def test_the_middle_of_several_rounds_counts_all_waits() -> None:
    rounds = [Crossing(10, 1.0, 9.0), Crossing(10, 3.0, 5.0), Crossing(10, 2.0, 7.0)]
    assert median_crossing(rounds) == Crossing(30, 2.0, 7.0)


@pytest.mark.parametrize("size", [0, 125, 126, 65_535, 65_536])
def test_frames_of_any_length_are_read_as_they_come(size: int) -> None:
    length = bytes([size]) if size < 126 else b"\x7e" + size.to_bytes(2, "big") if size < 1 << 16 else b"\x7f" + size.to_bytes(8, "big")
    frame = b"\x81" + length + b"x" * size
    assert frames(frame + b"\x89\x02hi" + frame[:1]) == ([(1, b"x" * size), (9, b"hi")], frame[:1])
    assert frames(frame[:-1] if size else frame[:1]) == ([], frame[:-1] if size else frame[:1])


def test_chunks_are_put_together() -> None:
    assert unchunked(b"a\r\n: ping\r\n\r\n\r\n3\r\nend\r\n0\r\n\r\n") == b": ping\r\n\r\nend"
