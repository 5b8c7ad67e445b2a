"""The pure rules, by property."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postoffice_files import jsontext
from postoffice_files.clock import instant, parse_instant
from postoffice_files.names import Place, check_name, filename, handle, is_filename, place

NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", fullmatch=True).filter(
    lambda name: name[:3].lower() not in {"con", "prn", "aux", "nul", "com", "lpt"}
)
TIMES = st.integers(1_000_000_000_000_000, 9_000_000_000_000_000)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(TIMES, TIMES, NAMES, NAMES)
def test_file_names_sort_by_time(one: int, two: int, first: str, second: str) -> None:
    names = filename(one, first, 3, "aa"), filename(two, second, 3, "bb")
    if one != two:
        assert (names[0] < names[1]) == (one < two)


@given(TIMES, NAMES, st.integers(1, 5))
def test_file_names_tell_time_and_priority(micros: Any, sender: Any, priority: Any) -> None:
    name = filename(micros, sender, priority, "0123456789abcdef")
    assert is_filename(name)
    assert place(name) == Place(priority, micros, "0123456789abcdef")


@given(NAMES)
def test_the_seeds_names_tell_the_second(sender: Any) -> None:
    assert place(f"1745659200_{sender}.msg.json").micros == 1_745_659_200_000_000


@given(st.text(alphabet=st.characters(codec="utf-8"), min_size=1))
def test_any_name_has_a_safe_handle(name: str) -> None:
    safe = handle(name)
    assert "/" not in safe
    assert ".." not in safe
    assert len(safe) < 220
    assert not safe.startswith(".")


@given(VALUES)
def test_json_comes_back_as_it_went_or_is_refused(value: Any) -> None:
    try:
        data = jsontext.encode(value)
    except jsontext.NotJson:
        assert "\\u0000" in json.dumps(value) or "\\ud" in json.dumps(value)
    else:
        assert jsontext.decode(data) == value


@given(st.binary(max_size=200) | st.text(alphabet='[]{}":,\\ntue1 ', max_size=300).map(str.encode))
def test_any_bytes_are_json_or_refused(data: Any) -> None:
    try:
        jsontext.decode(data)
    except jsontext.NotJson:
        return
    json.loads(data)


@pytest.mark.parametrize("depth", [jsontext.MAX_DEPTH, jsontext.MAX_DEPTH + 1])
def test_depth_is_counted_outside_of_strings(depth: Any) -> None:
    assert jsontext.decode(b'["' + b"[" * 1000 + b'\\"{"]') == ["[" * 1000 + '"{']
    nested = b"[" * depth + b"]" * depth
    if depth > jsontext.MAX_DEPTH:
        with pytest.raises(jsontext.NotJson):
            jsontext.decode(nested)
    else:
        jsontext.decode(nested)


@given(TIMES)
def test_times_come_back_to_the_millisecond(micros: Any) -> None:
    assert parse_instant(instant(micros)) == micros // 1000 * 1000


def test_times_the_seed_writes_are_read() -> None:
    assert parse_instant("2026-04-26T10:00:00Z") == parse_instant("2026-04-26T10:00:00+00:00") == parse_instant("2026-04-26T10:00:00")
    for text in ("", "noon", None, 7, "9999-99-99T00:00:00Z", "0001-01-01T00:00:00+23:59"):
        assert parse_instant(text) is None or text == "0001-01-01T00:00:00+23:59"


@given(NAMES)
def test_a_name_is_kept_as_it_is(name: Any) -> None:
    assert check_name(name) == name
