"""Other agents' words as a model may read them: marked off, attributed, and with nothing hidden in them."""

import secrets
import unicodedata
from collections.abc import Sequence

from msgspec import UNSET

from postoffice.core.letter import Letter
from postoffice.core.text import render

_HIDDEN = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
_BLANK = frozenset("\u3164\uffa0")  # letters that show nothing
_TAGS = range(0xE0000, 0xE1000)  # tags, selectors, and what else may come to be ignored when shown
_HARMLESS = frozenset("\n\t\u200c\u200d")  # joiners hold scripts and emoji together


class Fence:
    """One answer's fence. Its boundary is random, so nothing written before could contain it."""

    def __init__(self) -> None:
        self._boundary = secrets.token_hex(6)

    def around(self, letters: Sequence[Letter]) -> str:
        """Messages, each within its own marks."""
        return "\n".join(map(self._letter, letters))

    def words(self, who: str, text: str) -> str:
        """Something said outside a message, such as the note of a request."""
        return f"=== {self._boundary} words of {one_line(who)} ===\n{visible(text)}\n=== {self._boundary} end ==="

    def _letter(self, letter: Letter) -> str:
        """A message. Its heading holds nothing that its sender could choose: an id may read like the rest of a heading."""
        proof = "verified" if letter.from_verified else "not verified"
        about = {
            "sender's id": letter.client_id,
            "subject": letter.subject,
            "type": letter.type,
            "session": letter.session_id,
            "correlation": letter.correlation_id,
            "task": letter.task.state if letter.task else None,
        }
        facts = [f"{name}: {one_line(value)}" for name, value in about.items() if isinstance(value, str) and value]
        head = f"=== {self._boundary} message {letter.id} from {one_line(letter.sender)} ({proof}) ==="
        return "\n".join([head, *facts, "", visible(_said(letter)), f"=== {self._boundary} end ==="])


def visible(text: str) -> str:
    """Text in which control, bidi and tag characters can be seen instead of working."""
    if text.isascii() and text.isprintable():
        return text
    return text.translate({ord(char): _escaped(char) for char in set(text) if _is_hidden(char)})


def one_line(text: str) -> str:
    """The same, for a heading: nothing in it can begin a line of its own."""
    return visible(text).replace("\n", "\\n").replace("\t", " ")


def _said(letter: Letter) -> str:
    """All that a message says, one after the other: its content, its parts, its payload."""
    parts = letter.parts if isinstance(letter.parts, tuple) else ()
    payload = None if letter.payload is UNSET else letter.payload
    return "\n\n".join(filter(None, [letter.content, render(None, parts), render(None, (), payload)]))


def _is_hidden(char: str) -> bool:
    works = unicodedata.category(char) in _HIDDEN or char in _BLANK or ord(char) in _TAGS
    return works and char not in _HARMLESS


def _escaped(char: str) -> str:
    code = ord(char)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004 - where one notation ends and the other begins
