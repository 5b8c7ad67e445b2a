"""Other agents' words as a model may read them: marked off, attributed, and with nothing hidden in them."""

import secrets
import unicodedata

_HIDDEN = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
_HARMLESS = frozenset("\n\t\u200c\u200d")  # joiners hold scripts and emoji together


def fenced(heading: str, text: str) -> str:
    """Text within marks. The boundary is random, so nothing written before could contain it."""
    boundary = secrets.token_hex(6)
    return f"=== {boundary} {one_line(heading)} ===\n{visible(text)}\n=== {boundary} end ==="


def visible(text: str) -> str:
    """Text in which control, bidi and tag characters can be seen instead of working."""
    return "".join(char if char in _HARMLESS or unicodedata.category(char) not in _HIDDEN else _escaped(char) for char in text)


def one_line(text: str) -> str:
    """The same, for a heading: nothing in it can begin a line of its own."""
    return visible(text).replace("\n", "\\n").replace("\t", " ")


def _escaped(char: str) -> str:
    code = ord(char)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004 - where one notation ends and the other begins
