"""JSON text is changed where it has to be and nowhere else."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postoffice.setup import json_text
from postoffice.setup.path import look

names = st.text(max_size=6)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(names, values, max_size=4)
styles = st.sampled_from([{}, {"indent": 2}, {"indent": 4}, {"indent": "\t"}, {"separators": (",", ":")}, {"ensure_ascii": False}])


@given(document=objects, style=styles, value=values)
def test_what_is_put_in_is_there_and_all_else_too(document: dict[str, Any], style: dict[str, Any], value: Any) -> None:
    document.pop("our", None)
    text = json.dumps(document, **style)
    put = json_text.put(text, ("our", "own", "place"), value)
    assert json.loads(put) == document | {"our": {"own": {"place": value}}}
    assert list(json.loads(put)) == [*document, "our"]


@given(document=objects, style=styles, value=values)
def test_what_is_taken_out_leaves_every_other_character(document: dict[str, Any], style: dict[str, Any], value: Any) -> None:
    document.pop("our", None)
    text = json.dumps(document, **style)
    assert json_text.drop(json_text.put(text, ("our",), value), ("our",)) == text


@given(items=st.lists(values, max_size=4), style=styles, item=values)
def test_a_list_grows_by_one_and_shrinks_again(items: list[Any], style: dict[str, Any], item: Any) -> None:
    text = json.dumps({"a": {"b": items}}, **style)
    grown = json_text.append(text, ("a", "b"), item)
    assert json.loads(grown) == {"a": {"b": [*items, item]}}
    assert json_text.drop(grown, ("a", "b", len(items))) == text


@given(document=objects, style=styles)
def test_every_member_can_be_taken_out(document: dict[str, Any], style: dict[str, Any]) -> None:
    text = json.dumps(document, **style)
    for name in document:
        assert json.loads(json_text.drop(text, (name,))) == {other: value for other, value in document.items() if other != name}


def test_odd_spacing_numbers_and_escapes_stay() -> None:
    text = '{\r\n\t"a" : 1.50e2,   "b":"\\u00e9",\r\n\t"list": [ 1,2 ,\r\n\t\t3 ]\r\n}\r\n'
    put = json_text.put(text, ("mcp",), {"x": [1]})
    assert put == text.replace("3 ]\r\n}", '3 ],\r\n\t"mcp": {\r\n\t\t"x": [\r\n\t\t\t1\r\n\t\t]\r\n\t}\r\n}')
    assert json_text.drop(put, ("mcp",)) == text


def test_nothing_becomes_an_object_and_null_makes_room() -> None:
    assert json.loads(json_text.put("", ("a", "b"), 1)) == {"a": {"b": 1}}
    assert json.loads(json_text.put('{"a": null, "c": 2}', ("a", "b"), 1)) == {"a": {"b": 1}, "c": 2}
    assert json.loads(json_text.append('{"a": null}', ("a",), 1)) == {"a": [1]}


def test_a_value_is_replaced_in_its_place() -> None:
    assert json_text.put('{"a": {"b": [1, 2]}, "c": 3}', ("a", "b"), "x") == '{"a": {"b": "x"}, "c": 3}'


@pytest.mark.parametrize("text", ["[1]", '{"a": 1,,}', "{a: 1}", '{"a": 1} / no', '{"a": NaN}', "{", '{"a": 1}{'])
def test_what_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        json_text.read(text)


def test_dropping_what_is_not_there_changes_nothing() -> None:
    for path in [("x",), ("a", "x"), ("a", 3), ("b", 0, "x")]:
        assert json_text.drop('{"a": {"c": 1}, "b": 2}', path) == '{"a": {"c": 1}, "b": 2}'
    assert look({"a": [1]}, ("a", 4)) is None


@pytest.mark.parametrize(
    "text",
    [
        '{\n  // mine\n  "a": {"x": "http://a//b"}, /* and */\n}\n',
        '{"a": {"x": 1,},}',
        "{\n  // nothing yet\n}\n",
        '/* first */ {"a": [1, 2, // three\n]}',
        '{"a": "/* no comment */", "b": "// neither"}',
    ],
)
def test_comments_are_kept_by_what_is_put_in_and_taken_out(text: str) -> None:
    document = json_text.read(text)
    more = json_text.put(text, ("ours", "mail"), {"command": ["x"]})
    assert json_text.read(more) == document | {"ours": {"mail": {"command": ["x"]}}}
    for comment in ("// mine", "/* and */", "// nothing yet", "/* first */", "// three", "/* no comment */", "// neither"):
        assert text.count(comment) == more.count(comment)
    assert json_text.read(json_text.drop(more, ("ours",))) == document
    assert json_text.drop(more, ("ours",)).count("//") == text.count("//")
