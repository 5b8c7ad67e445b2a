"""Other agents' words as a model may read them: marked off, attributed, and with nothing hidden in them."""

import secrets
from collections.abc import Sequence

from msgspec import UNSET

from postoffice.core.invisible import visible
from postoffice.core.letter import Letter
from postoffice.core.text import render


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


def one_line(text: str) -> str:
    """The same, for a heading: nothing in it can begin a line of its own."""
    return visible(text).replace("\n", "\\n").replace("\t", " ")


def _said(letter: Letter) -> str:
    """All that a message says, one after the other: its content, its parts, its payload."""
    parts = letter.parts if isinstance(letter.parts, tuple) else ()
    payload = None if letter.payload is UNSET else letter.payload
    return "\n\n".join(filter(None, [letter.content, render(None, parts), render(None, (), payload)]))
