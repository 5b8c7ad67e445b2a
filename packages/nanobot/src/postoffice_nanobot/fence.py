"""Other agents' words as a model may read them: marked off, attributed, and with nothing hidden in them."""

import secrets

from postoffice_nanobot.invisible import visible


def fenced(heading: str, text: str) -> str:
    """Text within marks. The boundary is random, so nothing written before could contain it."""
    boundary = secrets.token_hex(6)
    return f"=== {boundary} {one_line(heading)} ===\n{visible(text)}\n=== {boundary} end ==="


def one_line(text: str) -> str:
    """The same, for a heading: nothing in it can begin a line of its own."""
    return visible(text).replace("\n", "\\n").replace("\t", " ")
