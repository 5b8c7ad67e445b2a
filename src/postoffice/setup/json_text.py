"""Edits JSON as text, with or without comments: adds or removes a value and keeps every other character."""

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from postoffice.setup.path import Path

_SPACE = re.compile(r"(?:[ \t\r\n]|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|(//[^\n]*|/\*.*?\*/)|(,)(?=(?:[ \t\r\n]|//[^\n]*|/\*.*?\*/)*[}\]])', re.DOTALL)
"""Matches strings, to leave them alone, and what is not JSON: comments, and a comma before the end of a list."""
_INDENT = re.compile(r"[\[{]\r?\n([ \t]+)")
_scan: Callable[[str, int], tuple[Any, int]] = json.JSONDecoder().raw_decode


class _Part(NamedTuple):
    """A member of an object or an item of a list: where it begins, and its value."""

    key: str | int
    start: int
    value: int
    end: int


def read(text: str) -> dict[str, Any]:
    """The value of the text. ValueError, with the place, if it is not JSON (comments aside) with an object at its root."""
    plain = _TOKEN.sub(lambda token: re.sub(r"[^\n]", " ", token[0]) if token[1] or token[2] else token[0], text)
    value = json.loads(plain, parse_constant=_no_number) if plain.strip() else {}
    if not isinstance(value, dict):
        why = "there is no object, {…}, at its root"
        raise ValueError(why)  # noqa: TRY004 - callers catch one kind
    return value


def put(text: str, path: Path, value: Any) -> str:
    """The text with this value at a path, and with the objects that lead to it."""
    text = text if text.strip() else "{}\n"
    at = _skip(text, 0)
    for depth, key in enumerate(path):
        if text[at] not in "{[":  # null counts as missing
            value = _nested(path[depth:], value)
            break
        part = next((part for part in reversed(_parts(text, at)) if part.key == key), None)
        if part is None:
            return _insert(text, at, key, _nested(path[depth + 1 :], value))
        at = part.value
    return text[:at] + _render(text, value, _margin(text, at)) + text[_end(text, at) :]


def append(text: str, path: Path, item: Any) -> str:
    """The text with an item added to the list at a path."""
    at = _find(text, path)
    return put(text, path, [item]) if at is None or text[at] != "[" else _insert(text, at, len(_parts(text, at)), item)


def drop(text: str, path: Path) -> str:
    """The text without the value at a path."""
    at = _find(text, path[:-1])
    parts = [] if at is None else _parts(text, at)
    index = next((index for index, part in enumerate(parts) if part.key == path[-1]), None)
    if at is None or index is None:
        return text
    if len(parts) == 1:
        end = _skip(text, parts[0].end)
        end = end + 1 if text[end] == "," else parts[0].end
        tail = text[at + 1 : parts[0].start].rstrip()  # comments
        rest = text[end:]
        return text[: at + 1] + tail + (rest if tail else rest.lstrip())
    start, end = (parts[0].start, parts[1].start) if index == 0 else (parts[index - 1].end, parts[index].end)
    return text[:start] + text[end:]


def _nested(path: Path, value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _no_number(word: str) -> Any:
    why = f"{word} is not JSON"
    raise ValueError(why)


def _find(text: str, path: Path) -> int | None:
    """Where the value at a path begins."""
    at = _skip(text, 0)
    for key in path:
        if text[at : at + 1] not in ("{", "["):
            return None
        part = next((part for part in reversed(_parts(text, at)) if part.key == key), None)
        if part is None:
            return None
        at = part.value
    return at


def _parts(text: str, start: int) -> list[_Part]:
    """The parts of the object or list that opens here."""
    parts: list[_Part] = []
    at = _skip(text, start + 1)
    while text[at] not in "}]":
        begin, key = at, len(parts)
        if text[start] == "{":
            key, colon = _scan(text, at)
            at = _skip(text, _skip(text, colon) + 1)
        end = _end(text, at)
        parts.append(_Part(key, begin, at, end))
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return parts


def _end(text: str, at: int) -> int:
    """Where the value that begins here ends."""
    if text[at] not in "{[":
        return _scan(text, at)[1]
    parts = _parts(text, at)
    end = _skip(text, parts[-1].end if parts else at + 1)
    return (_skip(text, end + 1) if text[end] == "," else end) + 1


def _insert(text: str, start: int, key: str | int, value: Any) -> str:
    """Add something at the end of the object or list that opens here, in the style of its other parts."""
    name = "" if text[start] == "[" else f"{json.dumps(key, ensure_ascii=False)}: "
    parts = _parts(text, start)
    last = parts[-1].end if parts else start + 1
    close = _skip(text, last)
    if parts and text[close] == ",":  # a trailing comma, which JSON with comments allows
        last, close = close + 1, _skip(text, close + 1)
        return f"{text[:last]}{_newline(text)}{(inner := _margin(text, parts[-1].start))}{name}{_render(text, value, inner)},{text[last:]}"
    if parts and "\n" not in text[start:close]:
        return f"{text[:last]}, {name}{json.dumps(value, ensure_ascii=False)}{text[last:]}"
    newline, outer = _newline(text), _margin(text, start)
    inner = _margin(text, parts[-1].start) if parts else outer + _indent(text)
    piece = newline + inner + name + _render(text, value, inner)
    if parts:
        return f"{text[:last]},{piece}{text[last:]}"
    rest = text[start + 1 : close].rstrip()  # comments
    return f"{text[: start + 1]}{rest}{piece}{newline}{outer}{text[close:]}"


def _render(text: str, value: Any, margin: str) -> str:
    return json.dumps(value, indent=_indent(text), ensure_ascii=False).replace("\n", _newline(text) + margin)


def _margin(text: str, at: int) -> str:
    """The white space at the beginning of this place's line."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]


def _indent(text: str) -> str:
    indent = _INDENT.search(text)
    return indent[1] if indent else "  "


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    assert space is not None
    return space.end()
