"""Text and JSON a mailbox can keep, and the one way a message is shown as text."""

import math
from collections.abc import Sequence
from typing import Any

import msgspec

from postoffice.core.errors import BadText

MAX_DEPTH = 64
_LARGEST = 2**1024  # past the range of a double: other programs could not read it back


def check_text(text: str, where: str) -> None:
    """Refuse what PostgreSQL, JSON or UTF-8 could not give back."""
    if "\x00" in text:
        raise BadText(where=where, what="the character U+0000")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise BadText(where=where, what="a lone surrogate") from None


def check_json(value: object, where: str, depth: int = 0) -> None:
    """Refuse values that JSON cannot carry there and back, however deep they sit."""
    if depth > MAX_DEPTH:
        raise BadText(where=where, what=f"values nested deeper than {MAX_DEPTH}")
    match value:
        case None | bool():
            return
        case str():
            check_text(value, where)
        case int() | float():
            _check_number(value, where)
        case dict():
            for key, item in value.items():
                if not isinstance(key, str):
                    raise BadText(where=where, what=f"a key that is not text ({key!r})")
                check_text(key, where)
                check_json(item, where, depth + 1)
        case list() | tuple():
            for item in value:
                check_json(item, where, depth + 1)
        case _:
            raise BadText(where=where, what=f"a {type(value).__name__}, which is not JSON")


def _check_number(value: float, where: str) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise BadText(where=where, what="a number that is not finite")
    if not -_LARGEST < value < _LARGEST:
        raise BadText(where=where, what="a number out of range")


def render(content: str | None, parts: Sequence[dict[str, Any]], payload: object = None) -> str:
    """A message as plain text: its content, else its parts, else its payload. Empty content says nothing."""
    if content:
        return content
    if parts:
        return "\n\n".join(_render_part(part) for part in parts)
    return "" if payload is None else _json(payload)


def read_parts(content: str) -> tuple[dict[str, Any], ...]:
    """The parts that plain content stands for."""
    return ({"type": "text", "text": content},) if content else ()


def _render_part(part: dict[str, Any]) -> str:
    match part["type"]:
        case "text":
            return str(part["text"])
        case "data":
            return _json(part["data"])
        case _:
            return f"[file: {part['path']}]"


def _json(value: object) -> str:
    return msgspec.json.format(msgspec.json.encode(value)).decode()
