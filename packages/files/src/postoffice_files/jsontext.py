"""JSON that every mailbox accepts: UTF-8, finite numbers, no lone surrogates, limited nesting."""

import json
import math
import re
from typing import Any, NoReturn

MAX_DEPTH = 80
"""Room for the office's deepest value (64 levels) and the message around it."""
_LARGEST = 2**1024  # past the range of a double: other programs could not read it back
_OPENING, _CLOSING = frozenset("[{"), frozenset("]}")
# An unclosed string matches to the end of the text, or a hostile text would cost its length squared.
_BRACKETS = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)


class NotJson(ValueError):
    """The bytes or the value are not JSON that a mailbox accepts."""


class Torn(NotJson):
    """The text breaks off or has an error; its writer may not have finished."""


def decode(data: bytes) -> Any:
    """Decode bytes to a value."""
    if not data.strip():
        what = "it is empty"
        raise Torn(what)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"it is not UTF-8 (byte {error.start})"
        raise Torn(what) from None
    _check_depth(text)
    try:
        value = _DECODER.decode(text)
    except NotJson:
        raise
    except (ValueError, RecursionError) as error:
        what = f"it is not JSON: {error}"
        raise Torn(what) from None
    if "\\u" in text:  # only an escape can hold U+0000 or a lone surrogate; the decoder checks everything else
        check(value)
    return value


def encode(value: object) -> bytes:
    """Encode a value as one line of UTF-8."""
    check(value)
    return _ENCODER.encode(value).encode() + b"\n"


def check(value: object, depth: int = 0) -> None:
    """Refuse anything in a value that JSON cannot carry unchanged."""
    if depth > MAX_DEPTH:
        _refuse(f"it is nested deeper than {MAX_DEPTH}")
    match value:
        case str():
            _check_text(value)
        case dict():
            for key, item in value.items():
                if not isinstance(key, str):
                    _refuse(f"it holds a key that is not text ({key!r})")
                _check_text(key)
                check(item, depth + 1)
        case list() | tuple():
            for item in value:
                check(item, depth + 1)
        case None | bool():
            return
        case int() | float():
            _check_number(value)
        case _:
            _refuse(f"it holds a {type(value).__name__}, which is not JSON")


def _check_number(value: float) -> float:
    if (isinstance(value, float) and not math.isfinite(value)) or not -_LARGEST < value < _LARGEST:
        _refuse("it holds a number that is not finite or out of range")
    return value


def _check_text(text: str) -> None:
    if "\x00" in text:
        _refuse("it holds the character U+0000")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            _refuse("it holds a lone surrogate")


def _check_depth(text: str) -> None:
    """Check the depth before parsing, as the parser recurses as deep as the text."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    depth = 0
    for bracket in _BRACKETS.finditer(text):
        depth += (bracket[0] in _OPENING) - (bracket[0] in _CLOSING)
        if depth > MAX_DEPTH:
            _refuse(f"it is nested deeper than {MAX_DEPTH}")


def _no_constant(word: str) -> NoReturn:
    _refuse(f"it holds {word}, which is not JSON")


def _refuse(what: str) -> NoReturn:
    raise NotJson(what)


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
_DECODER = json.JSONDecoder(
    parse_int=lambda digits: _check_number(int(digits)),
    parse_float=lambda digits: _check_number(float(digits)),
    parse_constant=_no_constant,
)
