"""Text and JSON a mailbox can keep."""

import math
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from postoffice.core.errors import BadText
from postoffice.core.text import MAX_DEPTH, check_json, check_text, read_parts, render

LARGEST = 2**1024 - 1
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-LARGEST, LARGEST)
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.text(st.characters(exclude_categories=()))
)
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


def exactly(value: Any) -> Any:
    """A value so that equal means same: 1, 1.0 and True differ, and so do 0.0 and -0.0."""
    match value:
        case dict():
            return {key: exactly(item) for key, item in value.items()}
        case list():
            return [exactly(item) for item in value]
        case float():
            return float, value.hex()
        case _:
            return type(value), value


def nested(depth: int) -> Any:
    value: Any = "heart"
    for layer in range(depth):
        value = [value] if layer % 2 else {"in": value}
    return value


@given(values)
@example(LARGEST)
@example(-LARGEST)
@example(2**64)
@example(2**63)
@example(-(2**63) - 1)
@example(-0.0)
@example(5e-324)
@example(1.7976931348623157e308)
@example({"\u2028": "\U0001f600\x7f\x1f"})
def test_whatever_is_accepted_survives_json_exactly(value: Any) -> None:
    try:
        check_json(value, "payload")
    except BadText:
        return
    assert exactly(msgspec.json.decode(msgspec.json.encode(value))) == exactly(value)


@given(st.text())
def test_text_without_nul_and_surrogates_is_kept(text: str) -> None:
    if "\x00" not in text:
        check_text(text, "content")


@given(st.text(), st.text())
def test_nul_is_refused_wherever_it_stands(before: str, after: str) -> None:
    with pytest.raises(BadText, match=r"U\+0000"):
        check_text(f"{before}\x00{after}", "content")


@given(
    st.text(st.characters(exclude_characters="\x00")), st.characters(categories=["Cs"]), st.text(st.characters(exclude_characters="\x00"))
)
def test_a_lone_surrogate_is_refused_wherever_it_stands(before: str, surrogate: str, after: str) -> None:
    with pytest.raises(BadText, match="surrogate"):
        check_text(before + surrogate + after, "content")


@pytest.mark.parametrize("bad", ["\x00", "a\x00b", "\ud800", "x\udfff", math.nan, math.inf, -math.inf, 2**1024, -(2**1024), b"bytes", Decimal(1), {1, 2}, object(), 1j])  # fmt: skip
def test_a_bad_value_is_refused_however_deep_it_sits(bad: object) -> None:
    wrapped: list[object] = [bad, [bad], {"key": bad}, [{"a": [1, {"b": bad}]}], (1, (bad,))]
    if isinstance(bad, str):
        wrapped += [{bad: 1}, [{"a": {bad: None}}]]
    for value in wrapped:
        with pytest.raises(BadText):
            check_json(value, "payload")


@pytest.mark.parametrize("key", [1, None, True, 1.5, ("a",)])
def test_keys_are_text(key: object) -> None:
    with pytest.raises(BadText, match="key"):
        check_json({key: 1}, "payload")


def test_values_nest_as_deep_as_the_limit_and_no_deeper() -> None:
    check_json(nested(MAX_DEPTH), "payload")
    with pytest.raises(BadText, match=str(MAX_DEPTH)):
        check_json(nested(MAX_DEPTH + 1), "payload")


def test_a_value_that_holds_itself_is_refused_and_not_followed_forever() -> None:
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(BadText):
        check_json(circle, "payload")


def test_a_refusal_says_where() -> None:
    with pytest.raises(BadText, match=r"^metadata holds"):
        check_json({"a": "\x00"}, "metadata")


def test_content_stands_before_parts_and_parts_before_payload() -> None:
    parts = ({"type": "text", "text": "part"},)
    assert render("content", parts, {"a": 1}) == "content"
    assert render(None, parts, {"a": 1}) == "part"
    assert msgspec.json.decode(render(None, (), {"a": 1})) == {"a": 1}
    assert render(None, ()) == ""


def test_empty_content_hides_nothing_that_was_said_otherwise() -> None:
    assert render("", ({"type": "text", "text": "part"},), {"a": 1}) == "part"
    assert msgspec.json.decode(render("", (), {"a": 1})) == {"a": 1}
    assert render("", ()) == ""


def test_every_kind_of_part_is_shown() -> None:
    shown = render(None, ({"type": "text", "text": "one"}, {"type": "data", "data": {"two": 2}}, {"type": "file", "path": "three.txt"}))
    one, two, three = shown.split("\n\n")
    assert one == "one"
    assert msgspec.json.decode(two) == {"two": 2}
    assert three == "[file: three.txt]"


@given(st.text())
def test_content_read_as_parts_renders_as_itself(content: str) -> None:
    assert render(None, read_parts(content)) == content


@given(values)
def test_any_payload_that_is_accepted_can_be_shown(value: Any) -> None:
    try:
        check_json(value, "payload")
    except BadText:
        return
    shown = render(None, (), value)
    assert shown == "" if value is None else exactly(msgspec.json.decode(shown)) == exactly(value)
